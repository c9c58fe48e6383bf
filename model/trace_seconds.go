package model

import (
	"strconv"
	"strings"
	"time"
)

// setSeconds reads a decimal number of seconds into whole nanoseconds without
// going through a float64, which holds them only up to 104 days. Digits beyond
// the ninth decimal are rounded to the nearest, halves up.
func setSeconds(d *time.Duration, cell string) string {
	mantissa, exponent := cell, 0
	if i := strings.IndexAny(cell, "eE"); i >= 0 {
		e, err := strconv.Atoi(cell[i+1:])
		if err != nil || e < -1000 || e > 1000 {
			return secondsRule
		}
		mantissa, exponent = cell[:i], e
	}
	negative := strings.HasPrefix(mantissa, "-")
	if negative || strings.HasPrefix(mantissa, "+") {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return secondsRule
	}
	point := len(whole) + exponent + 9 // digits before it are whole nanoseconds
	zeros := len(digits) - len(strings.TrimLeft(digits, "0"))
	digits, point = digits[zeros:], point-zeros
	if digits == "" {
		*d = 0
		return ""
	}
	if negative || point > 19 {
		return secondsRule
	}
	var ns uint64 // at most 19 digits
	for i := range point {
		ns *= 10
		if i < len(digits) {
			ns += uint64(digits[i] - '0')
		}
	}
	if point >= 0 && point < len(digits) && digits[point] >= '5' {
		ns++
	}
	if int64(ns) < 0 {
		return secondsRule
	}
	*d = time.Duration(ns)
	return ""
}

// formatSeconds is exact and has no trailing zeros.
func formatSeconds(d time.Duration) string {
	s := strconv.FormatInt(int64(d), 10)
	sign := ""
	if d < 0 {
		sign, s = "-", s[1:]
	}
	if n := 10 - len(s); n > 0 {
		s = strings.Repeat("0", n) + s
	}
	whole, fraction := s[:len(s)-9], strings.TrimRight(s[len(s)-9:], "0")
	if fraction != "" {
		fraction = "." + fraction
	}
	return sign + whole + fraction
}
