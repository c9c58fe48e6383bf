package model

import "math"

// logTable holds 1/c and ln c for the middle c of each of 256 slices of [1, 2).
var logTable [256]struct{ inverse, log float64 }

func init() {
	for i := range logTable {
		c := 1 + (float64(i)+0.5)/256
		logTable[i].inverse = 1 / c
		logTable[i].log = math.Log(c)
	}
}

// logUniform is the natural logarithm of a number in (0, 1], good to 1e-15 of
// the larger of itself and 1, at a third of the cost of math.Log. With
// x = 2^e·m and c near m, ln x = e·ln 2 + ln c + ln(1+r) with r = m/c − 1,
// |r| < 2^-9, and the series of ln(1+r) is cut after r^5 (Tang, "Table-driven
// implementation of the logarithm function", ACM TOMS 16, 1990).
func logUniform(x float64) float64 {
	bits := math.Float64bits(x)
	e := float64(int(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	t := &logTable[bits>>44&255]
	r := m*t.inverse - 1
	series := r * (1 + r*(-1.0/2+r*(1.0/3+r*(-1.0/4+r*(1.0/5)))))
	return e*math.Ln2 + (t.log + series)
}
