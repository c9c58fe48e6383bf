package model

import (
	"fmt"
	"math"
	"time"
)

func pointsProblem(points []Point) string {
	if len(points) == 0 {
		return "no points, want at least one"
	}
	for i, p := range points {
		switch {
		case !(p.P >= 0 && p.P <= 1):
			return fmt.Sprintf("point %d: P %v, want from 0 to 1", i+1, p.P)
		case p.D < 0:
			return fmt.Sprintf("point %d: duration %v, want at least 0", i+1, p.D)
		case i > 0 && p.P <= points[i-1].P:
			return fmt.Sprintf("point %d: P %v, want above the previous %v", i+1, p.P, points[i-1].P)
		case i > 0 && p.D < points[i-1].D:
			return fmt.Sprintf("point %d: duration %v, want at least the previous %v", i+1, p.D, points[i-1].D)
		}
	}
	return ""
}

// pointsQuantile interpolates; Law.Points says how.
func pointsQuantile(points []Point, u float64) time.Duration {
	var low Point
	for _, high := range points {
		if u < high.P {
			share := (u - low.P) / (high.P - low.P)
			a, b := float64(low.D), float64(high.D)
			if a == 0 {
				return nanoseconds(share * b)
			}
			return min(nanoseconds(a*math.Exp(share*math.Log(b/a))), high.D)
		}
		low = high
	}
	return low.D
}

// pointsMean integrates the quantile function over [0, 1).
func pointsMean(points []Point) float64 {
	sum := 0.0
	var low Point
	for _, high := range points {
		a, b := float64(low.D), float64(high.D)
		mean := (a + b) / 2
		if a > 0 && b > a {
			mean = (b - a) / math.Log1p((b-a)/a)
		}
		sum += float64((high.P - low.P) * mean)
		low = high
	}
	return sum + float64((1-low.P)*float64(low.D))
}
