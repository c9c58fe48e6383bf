package scenario

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

const day = 24 * time.Hour

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"200ms": 200 * time.Millisecond, "10s": 10 * time.Second, "1h30m": 90 * time.Minute, "1 h 30 m": 90 * time.Minute,
		"1.5s": 1500 * time.Millisecond, "5us": 5 * time.Microsecond, "5µs": 5 * time.Microsecond, "1ns": 1, "0s": 0, "0": 0, "-0s": 0,
		"PT10S": 10 * time.Second, "P1D": day, "P1DT2H": 26 * time.Hour, "PT1H30M": 90 * time.Minute, "PT0.1S": 100 * time.Millisecond,
		"P2W": 14 * day, "pt10s": 10 * time.Second, "1000000h": maxDuration,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"10": "has no unit", "-5": "has no unit", "1.5": "has no unit", "-1s": "is below 0", "": "is no duration", " ": "is no duration",
		"10 seconds": "is no duration", "1d": "is no duration", "s": "is no duration", "1s 2": "is no duration", "1 0s": "a space in it",
		"9999999999h": "is no duration", "1000001h": "is too long, want at most 1000000h", "P": "is no duration", "PT": "is no duration",
		"P1DT": "is no duration", "P1Y": "is no duration", "P1M": "is no duration", "PTS": "is no duration", "PT1S2M": "is no duration",
		"PT1S1S": "is no duration", "PT10": "is no duration", "P-1D": "is no duration", "PT1..5S": "is no duration",
		"P999999999D": "is no duration", "P100000D": "is too long", "1s\x00": "is no duration", "∞": "is no duration", "1e3s": "is no duration",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("%q: %v, %v, want 0s and an error with %q", text, got, err, want)
		}
	}
}

// A texted reads a unit and returns it as a number.
type texted func(text string) (float64, error)

func checkUnit(t *testing.T, read texted, good map[string]float64, bad map[string]string) {
	t.Helper()
	for text, want := range good {
		if got, err := read(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range bad {
		if got, err := read(text); err == nil || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("%q: %v, %v, want 0 and an error with %q", text, got, err, want)
		}
	}
}

func TestRatio(t *testing.T) {
	checkUnit(t, func(text string) (float64, error) { var r Ratio; err := r.ParseText(text); return float64(r), err },
		map[string]float64{"0": 0, "0.1": 0.1, "1": 1, "10%": 0.1, "7%": 0.07, "0%": 0, "100%": 1, "0.5 %": 0.005, "1e-3": 0.001, " 5% ": 0.05},
		map[string]string{
			"1.1": "from 0 to 1", "101%": "from 0 to 1", "-0.1": "from 0 to 1", "": "is no ratio", "%": "is no ratio", "NaN": "is no ratio",
			"Inf": "is no ratio", "1e999": "is no ratio", "1e1%": "is no percentage", "5%%": "is no ratio", "ten": "is no ratio", "1/2": "is no ratio",
		})
}

func TestRate(t *testing.T) {
	checkUnit(t, func(text string) (float64, error) { var r Rate; err := r.ParseText(text); return float64(r), err },
		map[string]float64{"50/s": 50, "10/min": 10.0 / 60, "3/h": 3.0 / 3600, "2/ms": 2000, "1 / s": 1, "0/s": 0, "1e3/s": 1000, "0.5/second": 0.5},
		map[string]string{
			"50": "has no unit", "/s": "is no rate", "50/": "is no rate", "50/day": "is no rate", "fast": "is no rate", "": "is no rate",
			"-1/s": "is below 0", "NaN/s": "is no rate", "Inf/s": "is no rate", "1e308/ms": "is no rate", "50/s/s": "is no rate", "50rps": "is no rate",
		})
}

func TestCount(t *testing.T) {
	checkUnit(t, func(text string) (float64, error) { var c Count; err := c.ParseText(text); return float64(c.N), err },
		map[string]float64{"10": 10, "1_000": 1000, "unlimited": 0},
		map[string]string{
			"0": "at least 1", "-1": "at least 1", "1.5": "whole number", "": "whole number", "infinite": "or unlimited", "1e3": "whole number",
			"99999999999999999999": "whole number", "Unlimited": "or unlimited",
		})
	var c Count
	if err := c.ParseText("unlimited"); err != nil || !c.Unlimited {
		t.Errorf("unlimited: %+v, %v", c, err)
	}
}

func TestFactor(t *testing.T) {
	checkUnit(t, func(text string) (float64, error) { var f Factor; err := f.ParseText(text); return float64(f), err },
		map[string]float64{"3": 3, "3x": 3, "300%": 3, "0.5": 0.5, "0": 0},
		map[string]string{"-1": "is no factor", "x": "is no factor", "": "is no factor", "3y": "is no factor", "Inf": "is no factor", "NaNx": "is no factor"})
}

func TestCode(t *testing.T) {
	checkUnit(t, func(text string) (float64, error) { var c Code; err := c.ParseText(text); return float64(c), err },
		map[string]float64{
			"503": 503, "100": 100, "599": 599, "timeout": float64(policies.ErrTimeout), "connect-failure": float64(policies.ErrConnect),
			"connect_failure": float64(policies.ErrConnect), "reset": float64(policies.ErrReset), "limit": float64(policies.ErrLimit),
		},
		map[string]string{"99": "from 100 to 599", "600": "from 100 to 599", "0": "from 100 to 599", "other": "known: breaker-open", "": "from 100", "5xx": "from 100", "-503": "from 100"})
}

func FuzzDuration(f *testing.F) {
	for _, text := range []string{"200ms", "PT10S", "P1DT2H", "1h30m", "1 h", "10", "-1s", "P1W", "50/s", "10%", "3x", "503", "poisson 5/s", "10s/10", "exponential 5ms"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if d < 0 || d > maxDuration || err != nil && d != 0 {
			t.Errorf("%q: %v, %v", text, d, err)
		}
		if err == nil {
			if again, err := ParseDuration(d.String()); err != nil || again != d {
				t.Errorf("%q is %v, which is %v, %v", text, d, again, err)
			}
		}
		var r Ratio
		if err := r.ParseText(text); !(r >= 0 && r <= 1) {
			t.Errorf("ratio %q: %v, %v", text, r, err)
		}
		var rate Rate
		if err := rate.ParseText(text); !(rate >= 0) || math.IsInf(float64(rate), 0) {
			t.Errorf("rate %q: %v, %v", text, rate, err)
		}
		var x Factor
		if err := x.ParseText(text); !(x >= 0) || math.IsInf(float64(x), 0) {
			t.Errorf("factor %q: %v, %v", text, x, err)
		}
		var n Count
		if err := n.ParseText(text); n.N < 0 {
			t.Errorf("count %q: %v, %v", text, n, err)
		}
		for _, s := range []interface{ ParseShort(string) error }{
			new(Backoff), new(Budget), new(Breaker), new(Window), new(Law), new(Arrivals), new(Limit), new(Loop), new(Queue),
			new(Scripted), new(Step), new(Layer), new(Retry), new(Trace), new(Claim),
		} {
			s.ParseShort(text)
		}
	})
}
