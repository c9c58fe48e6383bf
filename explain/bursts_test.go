package explain_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// A full budget grants more at once than in the long run.
func TestBursts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		budget policies.BudgetConfig
		burst  float64
	}{
		{"tokens that were saved", policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 50}}, 50},
		{"tokens of the beginning alone", policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Cap: 50, Initial: 20}}, 20},
		{"10 s of 10/s and of 0.2 × 100/s", policies.BudgetConfig{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: 10 * time.Second, Ratio: 0.2, MinRPS: 10}}, 300},
		{"the same of Finagle", ofLibrary(presets.FinagleDefaults()), 300},
		{"at a time", presets.EnvoyMaxRetries(), 3},
		{"a quarter of 100/s × 100 ms and more", policies.BudgetConfig{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.5, Floor: 3}}, 10},
		{"nothing", policies.BudgetConfig{Kind: policies.BudgetEmpty}, 0},
		{"all that is wanted", policies.BudgetConfig{Kind: policies.BudgetUnlimited}, 0},
	} {
		e := of(t, link(100, 100*ms, retry(3, tc.budget)))
		near(t, tc.name, e.Budgets[0].Burst, tc.burst)
		near(t, tc.name+", at the node", e.Loads[1].Burst, tc.burst)
	}
	tokens := retry(3, policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 50}})
	says(t, of(t, link(100, 0, tokens)), "budget-burst", explain.Note, "50 retries", "1.1 attempts")

	c := chain(2, model.Stack{tokens}, nil)
	c.Nodes[0].Replicas = 2
	e := of(t, c)
	near(t, "at a", e.Loads[0].Burst, 50)
	near(t, "at b: 50 × 1.1 and 50 of each replica", e.Loads[1].Burst, 155)
}

// What is cut to whole numbers, and what a failing request earns.
func TestTowerBudget(t *testing.T) {
	b := presets.TowerDefaults()
	b.MinRetriesPerSec = 0
	for percent, want := range map[float32]float64{0.2: 1.2, 0.15: 1 + 1./6, 0.7: 2, 0: 1} {
		b.PercentCanRetry = percent
		near(t, "tower", bound(t, 500, 10*ms, 3, ofLibrary(b)), want)
	}
	near(t, "linkerd", bound(t, 500, 10*ms, 3, ofLibrary(presets.LinkerdDefaults())), 1+2*10./500)
}

// Where no call comes just at the end of a slot, the window of tower is little
// more than half as long as it says.
func TestTowerGrantsMore(t *testing.T) {
	c := link(90.1, 0, retry(2, ofLibrary(presets.TowerDefaults())))
	c.Horizon, c.Nodes[1].Faults = 1000*time.Second, []model.Fault{{Kind: model.FaultError}}
	b := of(t, c).Budgets[0]
	s := run(t, c)
	got := float64(s.Ledger().Node("b").Attempts) / float64(s.Ledger().Client("web").Requests)
	if got > b.Bound || got < b.Bound-0.05 {
		t.Errorf("%v attempts for a request, want little less than %v", got, b.Bound)
	}
}

// Case 13: of 100 requests that fail together 3 are repeated.
func TestRetriesThatComeTogether(t *testing.T) {
	c := link(1, 100*ms, retry(2, policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 3}))
	c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: 100, Think: model.Law{Mean: time.Hour}}
	says(t, of(t, c), "retry-cap", explain.Note, "100 clients", "only 3", "= 1.03")
	c.Clients[0].Loop.Clients = 3
	silent(t, of(t, c), "retry-cap")
}

// Case 14 at 1000/s: the share is more than the floor.
func TestRetryCapOfAShare(t *testing.T) {
	e := of(t, link(1000, 100*ms, retry(2, presets.EnvoyRetryBudget())))
	says(t, e, "retry-cap", explain.Note, "20 %", "or 3", "at most 250 a second", "max(3, 25) / (100ms")
	says(t, of(t, link(100, 100*ms, retry(2, presets.EnvoyRetryBudget()))), "retry-cap", explain.Note, "at most 30 a second")
}

// uneven reports whether what a budget grants depends on how calls and failures
// follow each other: a share of what is in progress, and one of counts.
func uneven(b policies.BudgetConfig) bool {
	_, failsafe := b.Preset.(presets.FailsafeBudgetConfig)
	return failsafe || b.Kind == policies.BudgetShare || b.Kind == policies.BudgetCounter
}

func drawBudget(t *rapid.T) policies.BudgetConfig {
	if rapid.Bool().Draw(t, "own") {
		return rapid.SampledFrom([]policies.BudgetConfig{
			{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 20, Initial: 5}},
			{Kind: policies.BudgetWindow, Window: policies.WindowBudgetConfig{Length: time.Second, Ratio: 0.1, MinRPS: 1}},
			{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.3, Floor: 2}},
			{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{Ratio: 0.2, Grace: 10, ResetAt: 40}},
			{Kind: policies.BudgetThrottle, Throttle: policies.ThrottleConfig{MaxTokens: 10, Ratio: 0.1}},
		}).Draw(t, "settings")
	}
	return rapid.SampledFrom(presets.Budgets()).Draw(t, "budget").Config
}

// No run of a total outage has more attempts than the budgets grant in the long
// run and in a burst. What is uneven has no retries around it or inside it.
func TestBudgetsHoldInRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rps := rapid.SampledFrom([]float64{2, 10, 50}).Draw(t, "rps")
		inner, outer := drawBudget(t), drawBudget(t)
		attempts := rapid.IntRange(1, 4)
		within, around := attempts.Draw(t, "inner attempts"), attempts.Draw(t, "outer attempts")
		switch {
		case uneven(inner):
			around = 1
		case uneven(outer):
			within = 1
		}
		some := func(n int, b policies.BudgetConfig) model.Stack {
			r := retry(n, b)
			r.Retry.Backoff.Kind = policies.NoBackoff
			return model.Stack{r}
		}
		c := chain(2, nil, nil)
		c.Clients[0].Arrivals.RateRPS = rps
		c.Nodes[0].Steps[0].Calls[0].Stack = some(within, inner)
		c.Clients[0].Steps[0].Calls[0].Stack = some(around, outer)
		c.Horizon = 40 * time.Second
		c.Nodes[1].Service.Mean = time.Duration(rapid.IntRange(5, 200).Draw(t, "service")) * ms
		begin := time.Duration(rapid.IntRange(0, 25).Draw(t, "outage")) * time.Second
		c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Start: begin}}
		e := explain.Explain(c)
		s := run(t, c)
		failing := math.Ceil((c.Horizon-begin).Seconds()*rps) + math.Ceil(rps*c.Nodes[1].Service.Mean.Seconds())
		good := float64(s.Ledger().Client("web").Requests) - failing
		for i, a := range e.Attempts {
			most := good + failing*a.Bounded + e.Loads[i].Burst + 2
			if got := float64(s.Ledger().Node(a.Node).Attempts); got > most*1.02 {
				t.Fatalf("%v attempts at %s, more than %v + %v × %v + %v\n%+v", got, a.Node, good, failing, a.Bounded, e.Loads[i].Burst, e.Budgets)
			}
		}
	})
}
