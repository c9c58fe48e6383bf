package plots

import (
	"math"
	"strconv"
	"strings"
)

// A tick is a labelled position on an axis.
type tick struct {
	value float64
	label string
}

// unusual rewrites what strconv makes of numbers beyond the ordinary.
var unusual = strings.NewReplacer("Inf", "∞", "e-0", "e−", "e+", "e", "-", "−")

// Number formats v with the given number of decimals, a comma between
// thousands and a true minus sign: "1,080,000", "−0.5". A negative number of
// decimals means as few as show v exactly.
func Number(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return "undefined"
	case math.IsInf(v, 0) || v != 0 && (math.Abs(v) < 1e-6 || math.Abs(v) >= 1e15):
		s := strconv.FormatFloat(v, 'g', 3, 64)
		return unusual.Replace(strings.TrimPrefix(s, "+"))
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	whole, frac, found := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		whole += "." + frac
	}
	if v < 0 && strings.Trim(s, "0.") != "" {
		whole = "−" + whole
	}
	return whole
}

// niceStep returns the smallest of 1, 2, 5, 10, 20, … times a power of ten that
// divides a span into at most n parts.
func niceStep(span float64, n int) float64 {
	n = max(n, 1)
	exp := math.Floor(math.Log10(span / float64(n)))
	for ; ; exp++ {
		for _, m := range []float64{1, 2, 5} {
			if step := m * math.Pow(10, exp); span/step <= float64(n)*(1+1e-9) {
				return step
			}
		}
	}
}

// decimals returns how many decimals the multiples of a nice step need.
func decimals(step float64) int {
	return max(0, int(-math.Floor(math.Log10(step)+1e-9)))
}

// linearTicks returns the multiples of a nice step in [lo, hi], about n.
func linearTicks(lo, hi float64, n int) []float64 {
	step := niceStep(hi-lo, n)
	first, last := math.Ceil(lo/step-1e-9)+0, math.Floor(hi/step+1e-9)
	d := decimals(step)
	var ticks []float64
	for i := first; i <= last; i++ {
		// i*step may be 0.30000000000000004; the tick is 0.3.
		v, _ := strconv.ParseFloat(strconv.FormatFloat(i*step, 'f', d, 64), 64)
		ticks = append(ticks, v)
	}
	return ticks
}

// loosen widens [lo, hi] to multiples of half the nice step of about n ticks.
func loosen(lo, hi float64, n int) (float64, float64) {
	step := niceStep(hi-lo, n) / 2
	return math.Floor(lo/step+1e-9) * step, math.Ceil(hi/step-1e-9) * step
}

// logSteps are the mantissas of logarithmic ticks, densest first.
var logSteps = [][]float64{{1, 2, 5}, {1, 3}, {1}}

// logTicks returns at most n ticks in [lo, hi], 0 < lo < hi: the densest of
// 1, 2, 5 per decade, 1 and 3, and every first, second, third … power of ten.
func logTicks(lo, hi float64, n int) []float64 {
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	for every := 1.0; ; every++ {
		for _, mantissas := range logSteps {
			if every > 1 && len(mantissas) > 1 {
				continue
			}
			var ticks []float64
			for exp := math.Ceil(first/every) * every; exp <= last; exp += every {
				for _, m := range mantissas {
					if v := pow10(m, exp); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
						ticks = append(ticks, v)
					}
				}
			}
			if len(ticks) <= max(n, 2) {
				return ticks
			}
		}
	}
}

// pow10 returns m times ten to the exp, rounded once.
func pow10(m, exp float64) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(m, 'f', -1, 64)+"e"+strconv.Itoa(int(exp)), 64)
	return v
}

// logBelow and logAbove return the nearest of 1, 2, 5 times a power of ten not
// above, or not below, v.
func logBelow(v float64) float64 {
	exp := math.Floor(math.Log10(v))
	for _, m := range []float64{10, 5, 2} {
		if c := pow10(m, exp); c <= v*(1+1e-9) {
			return c
		}
	}
	return pow10(1, exp)
}

func logAbove(v float64) float64 {
	exp := math.Floor(math.Log10(v))
	for _, m := range []float64{1, 2, 5} {
		if c := pow10(m, exp); c >= v*(1-1e-9) {
			return c
		}
	}
	return pow10(10, exp)
}

// label gives each value its label; linear axes show equal decimals.
func label(values []float64, format func(float64) string, equal bool) []tick {
	if format == nil {
		places := -1
		if equal {
			for _, v := range values {
				_, frac, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
				places = max(places, len(frac))
			}
		}
		format = func(v float64) string {
			if v == 0 {
				return "0"
			}
			return Number(v, places)
		}
	}
	ticks := make([]tick, len(values))
	for i, v := range values {
		ticks[i] = tick{v, format(v)}
	}
	return ticks
}
