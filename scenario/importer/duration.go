package importer

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/scenario/document"
)

// A durationForm reads durations as a family writes them. Its error says what
// would be right.
type durationForm func(text string) (time.Duration, error)

// longest bounds what is read, as the policies do.
const longest = 365 * 24 * time.Hour

// whole makes a duration of a number of units.
func whole(text string, unit float64) (time.Duration, bool) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || x < 0 || x*unit > float64(longest) {
		return 0, false
	}
	return time.Duration(math.Round(x * unit)), true
}

var simple = regexp.MustCompile(`^\+?(\d+)\s*([a-zA-Z]{0,2})$`)

// springDuration reads 200ms, 10s, PT10S, or a bare number of ms.
func springDuration(text string) (time.Duration, error) {
	units := map[string]float64{"": 1e6, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9}
	if m := simple.FindStringSubmatch(text); m != nil {
		if unit, ok := units[strings.ToLower(m[2])]; ok {
			if d, ok := whole(m[1], unit); ok {
				return d, nil
			}
		}
	} else if d, ok := isoDuration(text); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%q is no duration, want one such as 200ms, 10s, PT10S or a bare number of milliseconds", text)
}

// isoDuration reads PT10S as Java does: it knows no weeks, and no fractions but
// of seconds.
func isoDuration(text string) (time.Duration, bool) {
	d, err := document.ParseISO(text)
	if err != nil || d > longest || strings.ContainsAny(text, "Ww") || strings.ContainsAny(text, ".,") && !strings.HasSuffix(strings.ToUpper(text), "S") {
		return 0, false
	}
	return d, true
}

var seconds = regexp.MustCompile(`^(\d+\.?\d{0,9}|\.\d{1,9})s$`)

// protoDuration reads seconds with an s, the only form of protobuf's JSON.
func protoDuration(text string) (time.Duration, error) {
	if m := seconds.FindStringSubmatch(text); m != nil {
		if d, ok := whole(m[1], 1e9); ok {
			return d, nil
		}
	}
	return 0, fmt.Errorf("%q is no duration, want seconds with an s, such as 0.25s: there are no other units here", text)
}

// goDuration reads 25ms, 1s, 1m30s.
func goDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest || strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("%q is no duration, want one such as 250ms, 10s or 1m30s", text)
	}
	return d, nil
}

// milliseconds reads a bare number of ms.
func milliseconds(text string) (time.Duration, error) {
	if d, ok := whole(text, 1e6); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%q, want a bare number of milliseconds", text)
}

// bareSeconds reads a bare number of s.
func bareSeconds(text string) (time.Duration, error) {
	if d, ok := whole(text, 1e9); ok {
		return d, nil
	}
	return 0, fmt.Errorf("%q, want a bare number of seconds", text)
}

var span = regexp.MustCompile(`^(?:(\d+)\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,7})?)?$`)

// timeSpan reads 00:00:02.5 and 1.02:00:00, which is a day and two hours. A
// bare number is one of days.
func timeSpan(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no TimeSpan, want one such as 00:00:02.5 (hours, minutes, seconds)", text)
	m := span.FindStringSubmatch(text)
	if m == nil {
		if d, ok := whole(text, 86400e9); ok && strings.Trim(text, "0123456789") == "" {
			return d, nil
		}
		return 0, bad
	}
	var sum time.Duration
	for i, part := range []struct {
		unit  float64
		below time.Duration
	}{{86400e9, longest + 1}, {3600e9, 24 * time.Hour}, {60e9, time.Hour}, {1e9, time.Minute}} {
		text := m[i+1]
		if i == 3 {
			text += m[5]
		}
		if text == "" {
			continue
		}
		d, ok := whole(text, part.unit)
		if !ok || d >= part.below {
			return 0, bad
		}
		sum += d
	}
	if sum > longest {
		return 0, bad
	}
	return sum, nil
}

// inMilliseconds renders a duration as understood: 1200 ms.
func inMilliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) + " ms"
}

// inPercent renders a fraction as understood: 25 %.
func inPercent(x float64) string { return number(math.Round(x*1e12)/1e10) + " %" }

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
