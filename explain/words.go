package explain

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/table"
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

// seconds writes a time to five digits.
func seconds(t float64) string {
	switch {
	case math.IsInf(t, 1):
		return "never"
	case t < 1e9:
		return table.Duration(time.Duration(math.Round(t*1e9)), 5)
	}
	return strconv.FormatFloat(t, 'g', 4, 64) + "s"
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
