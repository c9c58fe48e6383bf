package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// number writes a count or a factor.
func number(x float64) string {
	if math.IsInf(x, 1) {
		return "unlimited"
	}
	return figure(x)
}

// figure writes a number to four digits, those before the point in full.
func figure(x float64) string {
	if x >= 1000 && x < 1e15 {
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// seconds writes a time.
func seconds(t float64) string {
	switch {
	case math.IsInf(t, 1):
		return "never"
	case t == 0:
		return "0s"
	case t < 1e9:
		d := time.Duration(t * 1e9)
		text := d.Round(digit(d)).String()
		if short, ok := strings.CutSuffix(text, "m0s"); ok {
			text = short + "m"
		}
		if short, ok := strings.CutSuffix(text, "h0m"); ok {
			text = short + "h"
		}
		return text
	}
	return strconv.FormatFloat(t, 'g', 4, 64) + "s"
}

// digit is the fifth digit of a time.
func digit(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100_000 {
		unit *= 10
	}
	return unit
}

// bound is seconds of something that may have no bound.
func bound(t float64) string {
	if math.IsInf(t, 1) {
		return "unbounded"
	}
	return seconds(t)
}

// perSecond writes a rate.
func perSecond(x float64) string {
	if math.IsInf(x, 1) {
		return "unlimited"
	}
	return figure(x) + "/s"
}

// share writes a ratio in percent.
func share(x float64) string { return figure(100*x) + " %" }

func attemptsText(n float64) string {
	if n >= math.MaxInt {
		return "unlimited attempts"
	}
	return fmt.Sprintf("%s attempts", number(n))
}
