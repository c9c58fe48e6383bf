package experiments

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// Each budget does in an outage what its rule says: see policy-semantics.
func TestBudgetPresetsInAnOutage(t *testing.T) {
	r := mustRun(t, budgetPresets(), Options{Seed: 3, Reps: 3, Set: map[string]string{"load": "outage"}})
	get := func(i int, metric string) float64 { return r.Stat(i, metric).Mean }
	for i, c := range r.Plan.Cells {
		if s := r.Stat(i, "late_retry_ratio"); s.Exact > 0 && math.Abs(s.Mean/s.Exact-1) > 0.05 || s.Exact == 0 && s.Mean != 0 {
			t.Errorf("%s: %v late retries per request, closed form %v", c.Text("budget"), s.Mean, s.Exact)
		}
		first, late := get(i, "first_second_retries_count"), get(i, "late_retry_ratio")
		rule, windowed := ruleOf(c.budget().Config)
		switch b := c.budget().Config.Preset.(type) {
		case presets.AWSQuotaConfig:
			if holds := float64(b.Tokens / b.RetryCost); math.Abs(first-holds) > 2 {
				t.Errorf("%s: %v retries in the first second, want the %v that the bucket holds", c.Text("budget"), first, holds)
			}
		case presets.GRPCThrottleConfig:
			if first > b.MaxTokens/2+1 { // one more may wait when the outage begins
				t.Errorf("%s: %v retries in the first second, want fewer than half of the tokens", c.Text("budget"), first)
			}
		case presets.FinagleConfig:
			if want := rule.retries(c); math.Abs(late/want-1) > 0.1 {
				t.Errorf("%s: %v late retries per request, want about %v", c.Text("budget"), late, want)
			}
		case presets.TowerConfig:
			// The reserve comes back with every sixth slot, not every tenth.
			if want := rule.share + rule.perSecond/c.Float("rate_rps")*10/6; math.Abs(late/want-1) > 0.1 {
				t.Errorf("%s: %v late retries per request, want about %v", c.Text("budget"), late, want)
			}
		case presets.FailsafeBudgetConfig:
			if envoy, _ := r.Lookup(map[string]string{"budget": "envoy-max-retries"}, "late_retry_ratio"); late < 3*envoy.Mean {
				t.Errorf("%s: %v late retries per request, Envoy's cap %v, want far more: waits do not count", c.Text("budget"), late, envoy.Mean)
			}
		}
		for _, metric := range []string{"shut_off_s", "come_back_s"} {
			values, at := r.Values(i, metric), presetWords{r, nil}.mostly(i, metric)
			if n := len(slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v < at })); 4*n < 3*len(values) {
				t.Errorf("%s: %s is %v or more in %d of %v", c.Text("budget"), metric, at, n, values)
			}
		}
		if shut := r.Stat(i, "shut_off_s"); windowed && shut.N > 0 {
			t.Errorf("%s: shut off after %v s, want never", c.Text("budget"), shut.Mean)
		}
	}
	if s, _ := r.Lookup(map[string]string{"budget": budgetNone}, "come_back_s"); s.N != 0 || s.Censored != 3 {
		t.Errorf("no retry: back in %d of 3", s.N)
	}
}

// Where there are closed forms of steady errors, they hold; and nobody retries
// more than without a budget, or loses more than without a retry.
func TestBudgetPresetsUnderSteadyErrors(t *testing.T) {
	r := mustRun(t, budgetPresets(), Options{Seed: 2, Reps: 3, Set: map[string]string{"load": "steady,bursty", "length_s": "100"}})
	for _, cells := range r.Plan.cellGroups("budget") {
		w := presetWords{r, cells}
		most, _ := w.bound(budgetUnlimited)
		least, _ := w.bound(budgetNone)
		for _, i := range cells {
			for _, metric := range []string{"amplification_ratio", "success_ratio"} {
				lo, v, hi := w.mean(least, metric), w.mean(i, metric), w.mean(most, metric)
				if v < lo-1e-9 || v > hi+1e-9 {
					t.Errorf("%s: %s %v, want %v to %v", r.Plan.Cells[i], metric, v, lo, hi)
				}
				if s := r.Stat(i, metric); math.Abs(s.Mean-s.Exact) > 0.005 { // 4 standard errors
					t.Errorf("%s: %s %v, closed form %v", r.Plan.Cells[i], metric, s.Mean, s.Exact)
				}
			}
			if s := r.Stat(i, "denied_ratio"); math.Abs(s.Mean-s.Exact) > 0.01 {
				t.Errorf("%s: %v refused, closed form %v", r.Plan.Cells[i], s.Mean, s.Exact)
			}
		}
	}
}

// All budgets see the same requests.
func TestBudgetPresetsSeries(t *testing.T) {
	r := mustRun(t, budgetPresets(), Options{Seed: 1, Reps: 1, Set: map[string]string{"load": "outage,bursty", "outage_at_s": "10.3", "outage_s": "10", "length_s": "30", "every_s": "10"}})
	tables, err := budgetPresetsSeries(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	series := tables[0]
	for _, load := range []string{loadOutage, loadBursty} {
		want := series.Select(map[string]string{"load": load, "budget": budgetUnlimited})
		if len(want) < 29 {
			t.Fatalf("%s: %d seconds", load, len(want))
		}
		for _, name := range r.Plan.level("budget") {
			for k, row := range series.Select(map[string]string{"load": load, "budget": name}) {
				if a, b := series.Value(row, "requests_count"), series.Value(want[k], "requests_count"); a != b {
					t.Fatalf("%s, %s: %v requests at %s s, without a budget %v", load, name, a, series.Key(row, "t_s"), b)
				}
			}
		}
	}
}

// Words say of a median only what most replications bear.
func TestPresetWordsQuantiles(t *testing.T) {
	r := mustRun(t, budgetPresets(), Options{Seed: 1, Reps: 10, Set: map[string]string{"load": "outage", "budget": "grpc-throttle,istio", "outage_at_s": "3", "outage_s": "4", "length_s": "10"}})
	m := r.metric("come_back_s")
	for k, v := range []float64{0.6, 4.7, 0.1, 0.4, 0.2, 0.2, 0.6, 0.8, 0.8, 0.2} {
		r.values[0][k][m] = v
	}
	for k := range r.values[1] {
		r.values[1][k][m] = math.Inf(1)
	}
	r.values[1][0][m], r.values[1][1][m] = math.NaN(), 0.5
	w := presetWords{r, []int{0, 1}}
	if got := w.quartiles(0, "come_back_s"); got != "0.4 [0.2, 0.8]" {
		t.Errorf("quartiles %q", got)
	}
	if got := w.quartiles(1, "come_back_s"); got != "never" {
		t.Errorf("quartiles %q, want never: in all but one", got)
	}
	all := strings.Join(w.notes(), " ")
	if want := "Back more than half a second after the outage, in three of four replications or more: istio never."; !strings.Contains(all, want) {
		t.Errorf("%s\nwant %s", all, want)
	}
}

func TestFlowDefinitions(t *testing.T) {
	f := make(flow, 100) // an outage from 2 s to 6 s
	for i := range f {
		f[i].requests = 10
	}
	w := window{20, 60}
	if got := f.shutOff(w, 0.5); got != 0 {
		t.Errorf("shut off after %v s without a retry, want 0 s", got)
	}
	f[25].retries = 60 // more than half of the hundred requests of any second around
	if got := f.shutOff(w, 0.5); got != 0.6 {
		t.Errorf("shut off after %v s, want 0.6 s: the second after 2.6 s has none left", got)
	}
	f[45].retries = 50 // half is not more than half
	if got := f.shutOff(w, 0.5); got != 0.6 {
		t.Errorf("shut off after %v s, want 0.6 s", got)
	}
	f[45].retries, f[58].retries = 0, 60
	if got := f.shutOff(w, 0.5); !math.IsInf(got, 1) {
		t.Errorf("shut off after %v s, want never", got)
	}
	if got := f.lateRetries(w); got != 60.0/200 {
		t.Errorf("%v late retries per request, want 0.3", got)
	}
	if got := f.comeBack(60); !math.IsNaN(got) {
		t.Errorf("back after %v s, though nobody asks", got)
	}
	f[63].denied, f[70].retries, f[71].denied, f[80].retries, f[90].denied = 3, 9, 1, 10, 1
	if got := f.comeBack(60); got != 1.2 {
		t.Errorf("back after %v s, want 1.2 s: then ten in a row are sent", got)
	}
	f[80].retries = 9
	if got := f.comeBack(60); !math.IsInf(got, 1) {
		t.Errorf("back after %v s, want never", got)
	}
}

func TestBudgetPresetsWithOddParameters(t *testing.T) {
	short := map[string]string{"outage_at_s": "3", "outage_s": "4", "length_s": "10", "every_s": "4"}
	for _, more := range []map[string]string{
		{},
		{"attempts": "1"},
		{"attempts": "100", "base_s": "0", "service_s": "0", "rate_rps": "5"},
		{"attempts": "60", "base_s": "1000"},
		{"rate_rps": "0.01"},
		{"arrivals": "fixed", "error_ratio": "1", "burst_error_ratio": "0", "calm_error_ratio": "1"},
		{"error_ratio": "0", "calm_error_ratio": "0", "shut_ratio": "0"},
		{"budget": "finagle,istio"},
		{"budget": "none", "load": "outage,steady"},
		{"outage_at_s": "0", "outage_s": "10"},
		{"every_s": "2", "burst_s": "1.9"},
	} {
		set := map[string]string{}
		for k, v := range short {
			set[k] = v
		}
		for k, v := range more {
			set[k] = v
		}
		r := mustRun(t, budgetPresets(), Options{Seed: 1, Reps: 1, Set: set})
		for _, text := range r.Plan.Experiment.Report(r) {
			if all := strings.Join(text.Notes, " "); strings.Contains(all, "NaN") || strings.Contains(all, "Inf") || strings.Contains(all, " -0") || strings.Contains(all, "()") {
				t.Errorf("%v: %s", more, all)
			}
		}
		if _, err := budgetPresetsSeries(context.Background(), r); err != nil {
			t.Errorf("%v: %v", more, err)
		}
	}
}

func TestBudgetPresetsRefuses(t *testing.T) {
	mustRefuse(t, budgetPresets(), map[string]string{"budget": "finagel"}, "finagle")
	mustRefuse(t, budgetPresets(), map[string]string{"outage_s": "130"}, "at most length_s")
	mustRefuse(t, budgetPresets(), map[string]string{"burst_s": "20"}, "burst below every_s")
	mustRefuse(t, budgetPresets(), map[string]string{"outage_at_s": "1.25"}, "tenths")
	mustRefuse(t, budgetPresets(), map[string]string{"rate_rps": "100000", "length_s": "10000"}, "at most")
}

// The loss system is that of Erlang: one place and hardly any wait.
func TestLossSystem(t *testing.T) {
	p, err := NewPlan(budgetPresets(), Options{Set: map[string]string{"load": "outage", "attempts": "2", "base_s": "0", "service_s": "0.03"}})
	if err != nil {
		t.Fatal(err)
	}
	blocked, each, ok := lossSystem(p.Cells[0], 1, 1)
	if !ok || math.Abs(blocked-0.75) > 1e-12 || each != 1 { // 3 erlangs at 1 place
		t.Errorf("blocked %v, %v retries each, %v; want 0.75, 1, true", blocked, each, ok)
	}
	if _, ok := capOnRetries(p.Cells[0], policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 1 << 30}); ok {
		t.Error("a cap that nobody reaches has a closed form that takes for ever")
	}
}
