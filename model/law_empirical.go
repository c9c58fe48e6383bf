package model

import (
	"fmt"
	"math/bits"
	"time"
)

const maxSamples = 1_000_000

func samplesProblem(samples []time.Duration) string {
	if n := len(samples); n == 0 || n > maxSamples {
		return fmt.Sprintf("%d samples, want from 1 to %d", n, maxSamples)
	}
	if samples[0] < 0 {
		return fmt.Sprintf("sample 1: %v, want at least 0s", samples[0])
	}
	for i, d := range samples[1:] {
		if d < samples[i] {
			return fmt.Sprintf("sample %d: %v, want at least the previous %v", i+2, d, samples[i])
		}
	}
	return ""
}

// samplesQuantile is sample ⌊u·n⌋, counted from 0.
func samplesQuantile(samples []time.Duration, u float64) time.Duration {
	n := len(samples)
	return samples[min(int(u*float64(n)), n-1)]
}

// samplesMean rounds the exact mean to the nearest nanosecond, halves up.
func samplesMean(samples []time.Duration) time.Duration {
	n := uint64(len(samples))
	hi, lo := uint64(0), n/2
	for _, d := range samples {
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(d), 0)
		hi += carry
	}
	mean, _ := bits.Div64(hi, lo, n)
	return time.Duration(mean)
}
