package scenario

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/scenario/document"
)

// A Duration is written as 200ms, 10s, 1h30m or PT10S.
type Duration time.Duration

// ParseText implements the reader of documents.
func (d *Duration) ParseText(text string) error {
	v, err := ParseDuration(text)
	if err == nil {
		*d = Duration(v)
	}
	return err
}

// D returns it as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// maxDuration is the longest that is read: the sum of two has room on the clock.
const maxDuration = 1_000_000 * time.Hour

// digitsApart is a number with a space in it.
var digitsApart = regexp.MustCompile(`[0-9.]\s+[0-9.]`)

// ParseDuration reads a duration from 0s to 1,000,000 h.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
	if strings.HasPrefix(strings.ToUpper(text), "P") {
		d, err = document.ParseISO(text)
	}
	if digitsApart.MatchString(text) {
		return 0, fmt.Errorf("%q has a number with a space in it, want a duration such as 200ms, 10s, 1h30m or PT10S", text)
	}
	if err != nil {
		if _, number := strconv.ParseFloat(text, 64); number == nil {
			return 0, fmt.Errorf("%q has no unit, want a duration such as 200ms, 10s, 1h30m or PT10S", text)
		}
		return 0, fmt.Errorf("%q is no duration, want one such as 200ms, 10s, 1h30m or PT10S", text)
	}
	if d < 0 {
		return 0, fmt.Errorf("%q is below 0, want a duration of 0s or more", text)
	}
	if d > maxDuration {
		return 0, fmt.Errorf("%q is too long, want at most %.0fh", text, maxDuration.Hours())
	}
	return d, nil
}

// A Ratio is written as 0.1 or 10%, from 0 to 1.
type Ratio float64

// ParseText implements the reader of documents.
func (r *Ratio) ParseText(text string) error {
	v, err := parsePercent(text)
	if err != nil {
		return err
	}
	if v < 0 || v > 1 {
		return fmt.Errorf("%q, want a ratio from 0 to 1, or a percentage from 0%% to 100%%", text)
	}
	*r = Ratio(v)
	return nil
}

// parsePercent reads a number or a percentage. The decimal point is moved in
// the text, so that 7% is the same float64 as 0.07.
func parsePercent(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	number = strings.TrimSpace(number)
	if percent {
		if strings.ContainsAny(number, "eE") {
			return 0, fmt.Errorf("%q is no percentage, want one such as 10%%", text)
		}
		number += "e-2"
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no ratio, want one such as 0.1 or 10%%", text)
	}
	return v, nil
}

// A Rate is written as 50/s, 10/min or 3/h, and held as calls per second.
type Rate float64

// ParseText implements the reader of documents.
func (r *Rate) ParseText(text string) error {
	number, unit, ok := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	per, known := map[string]float64{
		"s": 1, "sec": 1, "second": 1, "min": 60, "m": 60, "minute": 60, "h": 3600, "hour": 3600, "ms": 1e-3,
	}[strings.TrimSpace(unit)]
	switch {
	case !ok && err == nil:
		return fmt.Errorf("%q has no unit, want a rate such as 50/s or 10/min", text)
	case err != nil || !known || math.IsNaN(v) || math.IsInf(v/per, 0):
		return fmt.Errorf("%q is no rate, want one such as 50/s or 10/min", text)
	case v < 0:
		return fmt.Errorf("%q is below 0, want a rate of 0/s or more", text)
	}
	*r = Rate(v / per)
	return nil
}

// A Label is a name in one line, of at most 200 bytes.
type Label string

// ParseText implements the reader of documents.
func (l *Label) ParseText(text string) error {
	if text == "" || len(text) > 200 || strings.ContainsAny(text, "\n\t") {
		return fmt.Errorf("%.60q, want a name in one line of at most 200 bytes", text)
	}
	*l = Label(text)
	return nil
}

// A Count is a whole number of at least 1, or unlimited.
type Count struct {
	N         int
	Unlimited bool
}

// ParseText implements the reader of documents.
func (c *Count) ParseText(text string) error {
	if text == "unlimited" {
		*c = Count{Unlimited: true}
		return nil
	}
	return c.atLeast(1, text)
}

func (c *Count) atLeast(least int, text string) error {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil || n < least {
		return fmt.Errorf("%q, want a whole number of at least %d, or unlimited", text, least)
	}
	*c = Count{N: n}
	return nil
}

// A Room is a number of places, 0 or more, or unlimited.
type Room struct{ Count }

// ParseText implements the reader of documents.
func (r *Room) ParseText(text string) error {
	if text == "unlimited" {
		return r.Count.ParseText(text)
	}
	return r.atLeast(0, text)
}

// A Factor is written as 3, 3x or 300%.
type Factor float64

// ParseText implements the reader of documents.
func (f *Factor) ParseText(text string) error {
	v, err := parsePercent(strings.TrimSuffix(text, "x"))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no factor, want one such as 3, 0.5 or 50%%", text)
	}
	*f = Factor(v)
	return nil
}

// A Code is the number or the name of an error: 503, timeout, connect-failure,
// connect-timeout, reset, breaker-open or limit.
type Code policies.ErrorCode

var codeNames = map[string]policies.ErrorCode{
	"timeout": policies.ErrTimeout, "connect-failure": policies.ErrConnect,
	"connect-timeout": policies.ErrConnectTimeout, "reset": policies.ErrReset,
	"breaker-open": policies.ErrBreakerOpen, "limit": policies.ErrLimit,
}

// ParseText implements the reader of documents.
func (c *Code) ParseText(text string) error {
	if code, ok := codeNames[strings.ReplaceAll(text, "_", "-")]; ok {
		*c = Code(code)
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100 || n > 599 {
		known := slices.Sorted(maps.Keys(codeNames))
		return fmt.Errorf("%q, want a status from 100 to 599 or a name; %s", text, names.Known(text, known))
	}
	*c = Code(n)
	return nil
}
