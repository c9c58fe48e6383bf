package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// read reads a value that the metric is compared with, in its unit, and
// refuses one that the metric cannot have.
func (m *metric) read(text string) (v float64, err error) {
	switch {
	case text == "never" && m.never:
		return math.Inf(1), nil
	case m.unit == "s":
		v, err = readDuration(text)
	case m.unit == "/s":
		v, err = readRate(text)
	default:
		v, err = readNumber(text)
	}
	switch {
	case err != nil:
	case v < 0:
		err = fmt.Errorf("%q, want 0 or more: %s is never below", text, m.name)
	case m.most > 0 && v > m.most:
		err = fmt.Errorf("%q, want at most %g: %s is never above", text, m.most, m.name)
	}
	return v, err
}

// readNumber reads a number or a percentage.
func readNumber(text string) (float64, error) {
	v, err := parsePercent(text)
	switch {
	case err == nil:
		return v, nil
	case strings.Contains(text, ","):
		return 0, fmt.Errorf("%q, want a number or a percentage without commas, such as 0.5 or 12000", text)
	}
	return 0, fmt.Errorf("%q, want a number or a percentage, and then no more than after T, until T, before opening of LINK, per T, in P of replications", text)
}

// readDuration reads a duration, in seconds.
func readDuration(text string) (float64, error) {
	d, err := ParseDuration(text)
	return seconds(float64(d)), err
}

// readRate reads a rate, per second.
func readRate(text string) (float64, error) {
	if strings.Contains(text, "/") {
		var r Rate
		err := r.ParseText(text)
		return float64(r), err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q, want a rate such as 50/s", text)
	}
	return v, nil
}
