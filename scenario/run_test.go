package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func casesOf(t testing.TB, text string) []*Case {
	t.Helper()
	cases, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func reportsOf(t testing.TB, text string, workers int) []Report {
	t.Helper()
	reports, err := Run(context.Background(), casesOf(t, text), workers, nil)
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// outage is 50 evenly spaced requests a second to a node that is down from 20s
// to 30s, behind a breaker. Its window of 10s holds 500 outcomes, of which half
// must fail: it opens with the 250th failure, that of the request at 24.98s.
const outage = `
horizon: 60s
replications: 2
nodes:
  b: {service: 10ms, faults: [{error: 100%, from: 20s, to: 30s}]}
clients:
  web: {arrivals: 50/s, calls: [{to: b, stack: [{breaker: {window: 10s, minimum: 20, open: 3s, probes: 5}}]}]}
claims:
`

// What claims measure of a run of which every value is known.
func TestMeasure(t *testing.T) {
	nan, never := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		claim  string
		value  float64
		status Status
	}{
		{"requests == 3000", 3000, Holds},
		{"requests != 3000", 3000, Fails},
		{"requests == 500 until 10s", 500, Holds},
		{"requests == 2500 after 10s", 2500, Holds},
		{"requests == 100 after 10s until 12s", 100, Holds},
		{"goodput == 50/s after 1s until 20s", 50, Holds},
		{"success_ratio == 100% after 1s until 20s", 1, Holds},
		{"success_ratio == 0 after 21s until 24s", 0, Holds},
		{"first_opening within 24.98s..24.99s", 24.99, Holds},
		{"openings == 0 until 24s", 0, Holds},
		{"calls == 1250 before opening of web-b", 1250, Holds},
		{"calls == 250 after 20s before opening of web-b", 250, Holds},
		{"calls == 0 until 20s before opening of web-b", nan, Fails},
		{"calls == 0 after 30s before opening of web-b", nan, Fails},
		{"calls != 0 after 30s before opening of web-b", nan, Fails},
		{"calls_max == 50", 50, Holds},
		{"calls_max == 5 per 100ms", 5, Holds},
		{"busy_intervals == 10 after 10s until 20s", 10, Holds},
		{"busy_intervals == 100 after 10s until 20s per 100ms", 100, Holds},
		{"recovery_time == never until 28s", never, Holds},
		{"recovery_time < 1h until 28s", never, Fails},
		{"recovery_time == 0s until 20s", 0, Holds},
		{"calls == 1250 before opening of web-b in 30% of replications", 1250, Holds},
	} {
		v := reportsOf(t, outage+"  - "+tc.claim+"\n", 1)[0].Verdicts[0]
		if v.Status != tc.status || len(v.Values) != 2 {
			t.Errorf("%s: %s, measured %v, want %s of two", tc.claim, v.Status, v.Values, tc.status)
		}
		for _, got := range v.Values {
			if got != tc.value && !(math.IsNaN(got) && math.IsNaN(tc.value)) {
				t.Errorf("%s: measured %v, want %v", tc.claim, got, tc.value)
			}
		}
	}
}

// luck is a node that fails one call in ten at random, so that of each 1,000
// requests about 900 succeed, give or take 10.
const luck = `
seed: 2
horizon: 10s
replications: 12
nodes:
  b: {service: {law: exponential, mean: 1ms}, faults: [{error: 10%}]}
clients:
  web: {arrivals: poisson 100/s, calls: [b]}
claims:
`

// Chance decides some claims and leaves others open.
func TestStatusOfChance(t *testing.T) {
	for claim, want := range map[string]Status{
		"success_ratio >= 85%":                                 Holds,
		"success_ratio >= 95%":                                 Fails,
		"success_ratio >= 90%":                                 Undecided,
		"success_ratio within 88%..92%":                        Holds,
		"success_ratio within 90%..99%":                        Undecided,
		"success_ratio within 95%..99%":                        Fails,
		"success_ratio == 90%":                                 Undecided,
		"success_ratio != 95%":                                 Holds,
		"success_ratio >= 85% in all of replications":          Holds,
		"success_ratio >= 90% in all of replications":          Fails,
		"success_ratio >= 85% in 50% of replications":          Holds,
		"success_ratio >= 85% in 99% of replications":          Undecided,
		"success_ratio >= 90% in 50% of replications":          Undecided,
		"success_ratio >= 95% in 50% of replications":          Fails,
		"recovery_time != never per 5s in all of replications": Fails,
		"success_ratio >= 85% after 2s until 8s":               Holds,
		"recovery_time == never per 5s in 50% of replications": Holds,
	} {
		v := reportsOf(t, luck+"  - "+claim+"\n", 2)[0].Verdicts[0]
		if v.Status != want {
			t.Errorf("%s: %s, want %s: %s of %v", claim, v.Status, want, v.Measured(), v.Values)
		}
	}
}

const lucky = luck + `
  - success_ratio >= 90%
  - latency_p99 <= 5ms in 50% of replications
  - calls_max within 100..150
  - recovery_time <= 5s
variants:
  slow: {set: {nodes.b.workers: 1, nodes.b.service: exponential 9ms}}
`

// The verdicts do not depend on the number of workers, or on the order in which
// they take the replications, and the progress counts to its end.
func TestSameForAnyWorkers(t *testing.T) {
	run := func(workers int) string {
		last, all := 0, 0
		reports, err := Run(context.Background(), casesOf(t, lucky), workers, func(done, total int) {
			if last, all = last+1, total; done != last {
				t.Errorf("progress %d after %d", done, last-1)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if last != 24 || all != 24 {
			t.Errorf("progress ends at %d of %d, want 24", last, all)
		}
		var text strings.Builder
		for _, r := range reports {
			fmt.Fprintf(&text, "%s %v\n", r.Case.Title(), r.Verdicts)
			if v := r.Verdicts[0].Values; v[0] == v[1] {
				t.Errorf("two replications of %s are equal: %v", r.Case.Title(), v)
			}
		}
		return text.String()
	}
	one := run(1)
	for _, workers := range []int{0, 4, 100} {
		if other := run(workers); other != one {
			t.Errorf("%d workers:\n%s\n1 worker:\n%s", workers, other, one)
		}
	}
}

// Replications and seeds differ in their luck, a variant and its base do not.
func TestSeeds(t *testing.T) {
	values := func(text string) []float64 {
		return reportsOf(t, strings.Replace(luck, "seed: 2", text, 1)+"  - succeeded >= 0\n", 2)[0].Verdicts[0].Values
	}
	one, same, two := values(""), values("seed: 1"), values("seed: 2")
	if !slices.Equal(one, same) || slices.Equal(one, two) {
		t.Errorf("without seed %v, with seed 1 %v, with seed 2 %v", one, same, two)
	}
	r := reportsOf(t, luck+"  - requests > 0\nvariants: {timed: {set: {nodes.b.service: 2ms}}}\n", 2)
	if a, b := r[0].Verdicts[0].Values, r[1].Verdicts[0].Values; !slices.Equal(a, b) {
		t.Errorf("a variant has other arrivals: %v and %v", a, b)
	}
}

// A run that is called off says so, and says which case it was in.
func TestRunCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	reports, err := Run(ctx, casesOf(t, lucky), 2, func(done, _ int) {
		if done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || reports != nil {
		t.Errorf("%v and %d reports, want it called off", err, len(reports))
	}
}

// An instant that does not come is counted apart from the mean.
func TestNever(t *testing.T) {
	never := math.Inf(1)
	for claim, want := range map[string]Status{
		"first_opening{link=shop-stock} == never": Fails, "first_opening{link=shop-stock} != never": Fails,
		"first_opening{link=shop-stock} >= 1s": Holds, "first_opening{link=shop-stock} >= 3s": Undecided,
		"first_opening{link=shop-stock} <= 9s": Fails, "first_opening{link=shop-stock} within 1s..9s": Fails,
	} {
		c := Claim{Text: claim}
		s, err := c.parse(aWorld())
		if err != nil {
			t.Fatal(err)
		}
		v := s.judge([]float64{2, never, 4, never})
		if v.Status != want || v.Never != 2 || v.Mean != 3 || !strings.HasPrefix(v.Measured(), "never in 2 of 4, else 3s [") {
			t.Errorf("%s: %s, want %s; %s", claim, v.Status, want, v.Measured())
		}
	}
}

// Nothing is printed as the limit of its claim that is not, and no interval
// leaves the values that can be.
func TestMeasuredIsApartFromTheLimit(t *testing.T) {
	for _, tc := range []struct {
		claim  string
		values []float64
		want   string
	}{
		{"latency_mean <= 50ms", []float64{0.050000001}, "50.000001ms"},
		{"success_ratio >= 1", []float64{0.9999999}, "0.9999999"},
		{"success_ratio >= 0.5", []float64{1, 1, 0.9}, "0.966667 [0.823245, 1]"},
		{"requests >= 1", []float64{0, 1}, "0.5 [0, 6.8531]"},
		{"latency_mean <= 5s", []float64{0.0001, 1}, "500.05ms [0s, 6.85252s]"},
	} {
		c := Claim{Text: tc.claim}
		s, err := c.parse(aWorld())
		if err != nil {
			t.Fatal(err)
		}
		if v := s.judge(tc.values); v.Measured() != tc.want {
			t.Errorf("%s of %v: %s, want %s", tc.claim, tc.values, v.Measured(), tc.want)
		}
	}
	if got := percent(0.9996, 0.95) + percent(1) + percent(0.95, 0.9504); got != "99.96 %100 %95 %" {
		t.Error(got)
	}
}
