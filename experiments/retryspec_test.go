package experiments

import (
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

func TestRetryPoliciesAsWritten(t *testing.T) {
	for _, c := range []struct{ in, name, words string }{
		{"none", "none", "no retry"},
		{"retry-1", "none", "no retry"},
		{"retry-3", "retry-3", "unlimited 3"},
		{"budget-10", "budget-10", "budget 10 %"},
		{"budget-10.0-attempts-3-cap-10", "budget-10", "budget 10 %"},
		{"budget-7", "budget-7", "budget 7 %"},
		{"budget-0.1", "budget-0.1", "budget 0.1 %"},
		{"budget-0.0000001", "budget-0.0000001", "budget 0.0000001 %"},
		{"budget-10-float", "budget-10-float", "budget 10 %, float"},
		{"budget-20-success-full-cap-100-attempts-4", "budget-20-attempts-4-cap-100-full-success", "budget 20 % per success, cap 100, full, 4 attempts"},
		{"share-20-floor-3", "share-20-floor-3", "share 20 %, at least 3"},
		{"share-20-attempts-2-floor-3", "!no floor", ""},
		{"cap-3-attempts-2", "cap-3-attempts-2", "cap 3, 2 attempts"},
		{"counter-10", "counter-10", "counter 10 %"},

		{"", `!known: none, retry`, ""},
		{"bugdet-10", `!did you mean "budget"?`, ""},
		{"none-3", `!"3" after none`, ""},
		{"retry", `!attempts "" is no whole number`, ""},
		{"retry-0", "!attempts 0", ""},
		{"retry--1", "!attempts -1", ""},
		{"retry-3-full", `!attempts "3-full"`, ""},
		{"budget", `!percentage ""`, ""},
		{"budget-1e1", "!percentage", ""},
		{"budget-NaN", "!percentage", ""},
		{"budget-101", "!ratio 1.01", ""},
		{"budget--1", "!percentage", ""},
		{"budget-10-cap", "!no number after cap", ""},
		{"budget-10-cap-0", "!cap 0", ""},
		{"budget-10-cap-x", `!cap "x" is no whole number`, ""},
		{"budget-10-full-full", "!full given twice", ""},
		{"budget-10-floor-3", `!"floor" is no option of budget`, ""},
		{"cap-3-full", `!"full" is no option of cap`, ""},
		{"cap--1", "!retries", ""},
		{"share-20", "!no floor", ""},
		{"share-20-floor--1", "!floor", ""},
	} {
		s, err := parseRetry(c.in)
		want, fails := strings.CutPrefix(c.name, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+c.in+`"`)):
			t.Errorf("%s: error %v, want one with %q and the text", c.in, err, want)
		case !fails && (err != nil || s.name() != want || s.String() != c.words):
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.in, s.name(), s, err, want, c.words)
		}
		if again, err := parseRetry(s.name()); !fails && (err != nil || again != s) {
			t.Errorf("%s: reads back as %+v, %v", s.name(), again, err)
		}
	}
}

func TestRetryPolicyAsLayer(t *testing.T) {
	layer := func(text string) (attempts int, b policies.BudgetConfig) {
		t.Helper()
		s, err := parseRetry(text)
		if err != nil {
			t.Fatal(err)
		}
		l := s.layer()
		if l == nil {
			return 1, b
		}
		if l.Budget != nil {
			b = *l.Budget
		}
		return l.Attempts, b
	}
	if n, _ := layer("none"); n != 1 {
		t.Errorf("none makes %d attempts", n)
	}
	if n, b := layer("retry-5"); n != 5 || b.Kind != "" {
		t.Errorf("retry-5 makes %d attempts within %+v", n, b)
	}
	n, b := layer("budget-10-full-cap-7")
	if want := (policies.TokenConfig{Ratio: 0.1, Cap: 7, Initial: 7}); n != 3 || b.Kind != policies.BudgetTokens || b.Tokens != want {
		t.Errorf("%d attempts within %+v, want 3 within %+v", n, b, want)
	}
	if _, b := layer("share-20-floor-3"); b.Share.Share != 0.2 || b.Share.Floor != 3 {
		t.Errorf("share: %+v", b)
	}
	if _, b := layer("counter-10"); b.Counter != (policies.CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000}) {
		t.Errorf("counter: %+v", b)
	}
}

func TestRetryFactor(t *testing.T) {
	f := retryFactor("policy", "none", "budget-10")
	levels, err := f.parse("budget-10-cap-10, retry-3")
	if err != nil || strings.Join(levels, " ") != "budget-10 retry-3" {
		t.Errorf("%v, %v", levels, err)
	}
	if _, err := f.parse("budget-10,budget-10-attempts-3"); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("twice the same: %v", err)
	}
}
