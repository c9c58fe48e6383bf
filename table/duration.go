package table

import (
	"strings"
	"time"
)

// Duration is a duration in words, rounded to a number of significant digits,
// halves away from zero, or exact if digits is below 1. Parts that are zero at
// the end are left out: "1m4.73s", "-250ms", "1m" and not "1m0s".
// [time.ParseDuration] reads it.
func Duration(d time.Duration, digits int) string {
	if digits > 0 {
		d = d.Round(lastDigit(d, digits))
	}
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// lastDigit is what the last of so many digits counts.
func lastDigit(d time.Duration, digits int) time.Duration {
	unit := time.Duration(1)
	for rest := d; rest != 0; rest /= 10 {
		if digits--; digits < 0 {
			unit *= 10
		}
	}
	return unit
}
