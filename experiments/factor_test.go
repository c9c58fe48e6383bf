package experiments

import (
	"strings"
	"testing"
)

func TestFactorParse(t *testing.T) {
	rate := number("rate_rps", "", 0, 1000, 50)
	probes := whole("probes", "", 1, 100, 10)
	trace := choice("trace", "", []string{"baseline", "glitches", "outage"}, 2)
	policy := policyFactor("count-20-20-50")
	for _, c := range []struct {
		f    Factor
		in   string
		want string // levels, or the error's text after "!"
	}{
		{rate, "5", "5"},
		{rate, "5, 20,500", "5 20 500"},
		{rate, "1:3:1", "1 2 3"},
		{rate, "0.1:0.5:0.1", "0.1 0.2 0.3 0.4 0.5"}, // exact decimals
		{rate, "0.5,1:2:0.5,7", "0.5 1 1.5 2 7"},
		{rate, "5:5:1", "5"},
		{rate, "1:2:5", "1"},
		{rate, "1e2", "100"},
		{rate, "-0", "0"},
		{rate, "", `!"", want a finite decimal number`},
		{rate, "NaN", `!"NaN", want a finite decimal number`},
		{rate, "Inf", "!finite"},
		{rate, "1e999", "!finite"},
		{rate, "0x10", "!finite"},
		{rate, "1_000", "!finite"},
		{rate, "-5", "!-5, want a number from 0 to 1000"},
		{rate, "5,5.0", "!level 5 given twice"},
		{rate, "1:2", "!want from:to:step"},
		{rate, "1:2:0", "!step 0, want more than 0"},
		{rate, "1:2:-1", "!step -1, want more than 0"},
		{rate, "2:1:1", "!from 2 is above to 1"},
		{rate, "0:1000:0.001", "!more than 10000 levels"},
		{rate, "1:x:1", `!"x", want a finite`},
		{probes, "1:3:1", "1 2 3"},
		{probes, "1.5", "!1.5, want a whole number"},
		{probes, "0", "!0, want a number from 1 to 100"},
		{trace, "outage,baseline", "outage baseline"},
		{trace, "outtage", `!did you mean "outage"? known: baseline, glitches, outage`},
		{policy, "time-10s-20-20,count-20-10-50", "time-10s-20-20 count-20-10-50"},
		{policy, "count-0-1-50", "!calls 0"},
	} {
		levels, err := c.f.parse(c.in)
		want, fails := strings.CutPrefix(c.want, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s=%s: error %v, want one with %q", c.f.Name, c.in, err, want)
		case fails && !strings.Contains(err.Error(), c.f.Name):
			t.Errorf("%s=%s: error %v does not name the factor", c.f.Name, c.in, err)
		case !fails && (err != nil || strings.Join(levels, " ") != want):
			t.Errorf("%s=%s: %v, %v, want %s", c.f.Name, c.in, levels, err, want)
		}
	}
}

// Whatever a user writes behind -set, it is either refused with the factor's
// name or gives levels that mean the same when written again.
func FuzzSet(f *testing.F) {
	for _, seed := range []string{"1", "1,2", "0.1:0.9:0.1", "count-20-20-50", "time-10s-20-20,buckets-10s/5-20-12.5",
		"count-20-10-50-slow-1s-50-inflight", "1e300:1e308:1e300", "::", ",", "-1", "0:1:1e-300", "1:1e-400:1", "é"} {
		f.Add(seed)
	}
	factors := []Factor{
		number("rate_rps", "", 0, maxRate, 50), whole("probes", "", 1, 1e6, 10),
		choice("trace", "", []string{"baseline", "glitches"}, 1), policyFactor("count-20-20-50"), windowFactor("count-10"),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, factor := range factors {
			levels, err := factor.parse(text)
			if err != nil {
				if !strings.Contains(err.Error(), factor.Name) {
					t.Errorf("%s=%q: error %v does not name the factor", factor.Name, text, err)
				}
				continue
			}
			if len(levels) == 0 {
				t.Errorf("%s=%q: no levels and no error", factor.Name, text)
			}
			again, err := factor.parse(strings.Join(levels, ","))
			if err != nil || strings.Join(again, ",") != strings.Join(levels, ",") {
				t.Errorf("%s=%q: %v became %v, %v", factor.Name, text, levels, again, err)
			}
		}
	})
}

func TestPolicySpec(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"count-20-20-50", "count 20, min 20, ≥ 50 %"},
		{"time-10s-20-12.5", "time 10 s, min 20, ≥ 12.5 %"},
		{"time-1500ms-20-7", "time 1.5 s, min 20, ≥ 7 %"},
		{"time-200ms-5-100", "time 200 ms, min 5, ≥ 100 %"},
		{"time-2m30s-5-100", "time 150 s, min 5, ≥ 100 %"},
		{"buckets-10s-20-20", "10 × 1 s buckets, min 20, ≥ 20 %"},
		{"buckets-10s/20-20-20", "20 × 500 ms buckets, min 20, ≥ 20 %"},
		{"count-20-10-50-slow-1s-50", "count 20, min 10, ≥ 50 %, slow > 1 s ≥ 50 %"},
		{"count-20-10-0-slow-1s-50-inflight", "count 20, min 10, slow > 1 s ≥ 50 %, in flight"},
	} {
		s, err := parsePolicy(c.in)
		if err != nil || s.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.in, s, err, c.want)
		}
	}
	for _, in := range []string{"", "count", "count-20-20", "count-x-20-50", "count-20-x-50", "count-20-20-x", "count-20-20-0",
		"count-20-20-101", "count-20-20-NaN", "time-10-20-50", "time--20-50", "ring-10-20-50", "buckets-10s/3-20-50", "buckets-10s/x-20-50",
		"count-20-20-50-slow-1s", "count-20-20-50-slow-x-50", "count-20-20-50-slow-1s-x", "count-20-20-50-slow-1s-50-later", "count-20-20-50-fast-1s-50",
		"count--5-20-50", "time-10s-20-50-", "count-20-20-50-slow-1s-50-inflight-x"} {
		if s, err := parsePolicy(in); err == nil {
			t.Errorf("%q is accepted as %v", in, s)
		}
	}
	if s, _ := parsePolicy("count-100-100-7"); s.rule.FailureRate != 0.07 {
		t.Errorf("7 %% is %v, want the float64 nearest to 0.07", s.rule.FailureRate)
	}
}
