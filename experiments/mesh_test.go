package experiments

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Every row of the article's tables is met inside its range.
func TestMeshArticleRows(t *testing.T) {
	ours := map[[3]string]float64{}
	for _, v := range verifyRuns {
		if e := v.experiment(); strings.HasPrefix(e.Name, "mesh-") {
			o := v.options
			o.Seed = 3
			mustRun(t, e, o).collect(ours)
		}
	}
	rows := 0
	for _, e := range ExpectedRows() {
		if !strings.HasPrefix(e.Table, "T1") {
			continue
		}
		rows++
		v, ok := ours[e.key()]
		if !ok || !within(v, e) {
			t.Errorf("%s, %s, %s: %v (measured: %v), want %s to %s", e.Table, e.Case, e.Metric, v, ok, e.Low, e.High)
		}
	}
	if rows != 48 {
		t.Errorf("%d rows, want 48", rows)
	}
}

// mustBeExact checks all closed forms of a result: equal where nothing varies,
// otherwise within a number of standard errors.
func mustBeExact(t *testing.T, r *Result, least int) {
	t.Helper()
	checked := 0
	for i, c := range r.Plan.Cells {
		for _, m := range r.Plan.Experiment.Metrics {
			s := r.Stat(i, m.Name)
			if math.IsNaN(s.Exact) {
				continue
			}
			checked++
			switch {
			case !math.IsNaN(s.Z):
				if math.Abs(s.Z) > 5.5 {
					t.Errorf("%s: %s %v, closed form %v: %v standard errors apart", c, m.Name, s.Mean, s.Exact, s.Z)
				}
			case s.SD > 0: // too few replications to judge
			case math.Abs(s.Mean-s.Exact) > 1e-9*math.Abs(s.Exact) && !rare(s):
				t.Errorf("%s: %s %v, closed form %v", c, m.Name, s.Mean, s.Exact)
			}
		}
	}
	if checked < least {
		t.Errorf("%d closed forms, want at least %d", checked, least)
	}
}

// rare reports a probability too near 0 or 1 to be seen in a short run.
func rare(s Stat) bool { return math.Abs(s.Mean-s.Exact) < 2e-4 }

func TestMeshRetriesClosedForm(t *testing.T) {
	mustBeExact(t, mustRun(t, meshRetries(), Options{Seed: 5, Reps: 60, Set: map[string]string{
		"failure_ratio": "0,0.3,0.5,0.8,1", "app_retries": "0,1,3", "mesh_retries": "0,2,4"}}), 90)
}

func TestMeshRetriesMostAttempts(t *testing.T) {
	r := mustRun(t, meshRetries(), Options{Reps: 1, Set: map[string]string{"failure_ratio": "1", "app_retries": "3", "mesh_retries": "4"}})
	if s := r.Stat(0, "amplification_ratio"); s.Mean != 20 {
		t.Errorf("%v attempts per request, want (1+3)(1+4)", s.Mean)
	}
}

func TestMeshChainClosedForm(t *testing.T) {
	mustBeExact(t, mustRun(t, meshChain(), Options{Set: map[string]string{"retries": "0,1,3", "services": "1,2,4", "requests": "7"}}), 100)
}

func TestMeshChainHops(t *testing.T) {
	r := mustRun(t, meshChain(), Options{})
	tables, err := meshChainHops(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tables[0].Rows {
		got, want := tables[0].Value(row, "amplification_ratio"), tables[0].Value(row, "amplification_ratio_exact")
		if got != want {
			t.Errorf("%v: %v calls per request, want %v", row.Keys, got, want)
		}
	}
	if n := len(tables[0].Rows); n != 15 {
		t.Errorf("%d rows, want 5 settings × 3 services", n)
	}
}

func TestMeshWritesClosedForm(t *testing.T) {
	mustBeExact(t, mustRun(t, meshWrites(), Options{Set: map[string]string{
		"retries": "0,2,5", "failing_attempts": "0,1,3,9", "requests": "1,10"}}), 300)
}

func TestMeshTimeoutsClosedForm(t *testing.T) {
	mustBeExact(t, mustRun(t, meshTimeouts(), Options{Reps: 2, Set: map[string]string{
		"service_s": "1.2,2,2.7,9", "clients": "1,4", "requests": "4,20"}}), 500)
	mustBeExact(t, mustRun(t, meshTimeouts(), Options{Reps: 30, Set: map[string]string{"backoff_ms": "25,80"}}), 50)
}

// Envoy's own waits let a third attempt live on beside four later ones.
func TestMeshTimeoutsUnderEnvoysBackoff(t *testing.T) {
	r := mustRun(t, meshTimeouts(), Options{Reps: 20, Set: map[string]string{"backoff_ms": "25", "cancel": "off", "setting": meshTries}})
	if s := r.Stat(0, "max_in_service_count"); s.Mean <= 16 || s.Mean > 20 {
		t.Errorf("%v calls in service at most, want above 16 and up to 20", s.Mean)
	}
	if s := r.Stat(0, "attempts_count"); s.Mean != 60 || s.SD != 0 {
		t.Errorf("%v attempts, want 60", s.Mean)
	}
}

func TestMeshTimeoutsWhenTheBackendIsFast(t *testing.T) {
	r := mustRun(t, meshTimeouts(), Options{Reps: 1, Set: map[string]string{"service_s": "0.2"}})
	for i, c := range r.Plan.Cells {
		if ok, work := r.Stat(i, "succeeded_count").Mean, r.Stat(i, "abandoned_s").Mean; ok != 20 || work != 0 {
			t.Errorf("%s: %v succeed, %v s abandoned, want 20 and 0", c, ok, work)
		}
	}
}

func TestDoubleRetryClosedForm(t *testing.T) {
	mustBeExact(t, mustRun(t, doubleRetry(), Options{Seed: 2, Reps: 20, Set: map[string]string{
		"mesh": "none,istio,istio-503", "failure_ratio": "0,0.25,0.5,1", "app_retries": "0,3", "app_backoff_ms": "0,10"}}), 280)
}

// Istio adds nothing to a status 503 unless it is told to.
func TestDoubleRetryOn503(t *testing.T) {
	r := mustRun(t, doubleRetry(), Options{Reps: 1, Set: map[string]string{
		"mesh": "none,istio,istio-503", "failure": "503", "failure_ratio": "1", "app_retries": "2"}})
	for i, want := range []float64{3, 3, 9} {
		if got := r.Stat(i, "amplification_ratio").Mean; got != want {
			t.Errorf("%s: %v attempts per request, want %v", r.Plan.Cells[i], got, want)
		}
	}
}

func TestCancellationClosedForms(t *testing.T) {
	// Without limit no call meets another; a constant service is known to the end.
	mustBeExact(t, mustRun(t, cancellation(), Options{Seed: 4, Reps: 20, Set: map[string]string{
		"workers": "0", "rate_rps": "50", "service_law": "exponential"}}), 20)
	r := mustRun(t, cancellation(), Options{Reps: 5, Set: map[string]string{
		"workers": "0", "rate_rps": "50", "service_law": "constant", "timeout_s": "0.04", "attempts": "3", "measure_s": "200"}})
	for i, c := range r.Plan.Cells {
		for metric, slack := range map[string]float64{"abandoned_s": 2e-3, "amplification_ratio": 1e-2, "success_ratio": 0} {
			if s := r.Stat(i, metric); math.Abs(s.Mean-s.Exact) > slack*math.Max(s.Exact, 1) {
				t.Errorf("%s: %s %v, want %v", c, metric, s.Mean, s.Exact)
			}
		}
	}
	// M/M/c: the sojourn time is within the timeout.
	mustBeExact(t, mustRun(t, cancellation(), Options{Seed: 4, Reps: 20, Set: map[string]string{
		"cancel": "off", "attempts": "1", "rate_rps": "40,120", "timeout_s": "0.05,0.2,0.5", "workers": "16", "measure_s": "120"}}), 6)
	mustBeExact(t, mustRun(t, cancellation(), Options{Seed: 4, Reps: 20, Set: map[string]string{
		"cancel": "off", "attempts": "1", "rate_rps": "4", "timeout_s": "0.1,0.3", "workers": "1", "measure_s": "2000"}}), 2)
}

// Past capacity a service that works on answers nobody, one that stops stays
// busy with those who wait.
func TestCancellationPastCapacity(t *testing.T) {
	r := mustRun(t, cancellation(), Options{Reps: 2, Set: map[string]string{"rate_rps": "240", "timeout_s": "0.5", "attempts": "3"}})
	off, on := r.Stat(0, "goodput_rps").Mean, r.Stat(1, "goodput_rps").Mean
	if off > 1 || on < 155 || on > 165 {
		t.Errorf("goodput %v and with cancel %v, want 0 and the capacity of 160", off, on)
	}
}

// A request counts where it starts, so no more succeed than there are; and no
// gain is named where there is none.
func TestCancellationCountsByStart(t *testing.T) {
	r := mustRun(t, cancellation(), Options{Reps: 5, Set: map[string]string{
		"rate_rps": "20", "timeout_s": "2", "attempts": "1", "service_s": "1", "workers": "40", "measure_s": "2", "warmup_s": "10"}})
	for i, c := range r.Plan.Cells {
		for rep, v := range r.Values(i, "success_ratio") {
			if v > 1 {
				t.Errorf("%s, replication %d: success ratio %v, want at most 1", c, rep, v)
			}
		}
	}
	if text := cancelGain(r); !strings.Contains(text, "gains nothing") {
		t.Errorf("%q, want no gain", text)
	}
}

func TestMeshErrors(t *testing.T) {
	for _, c := range []struct {
		e           *Experiment
		name, value string
		want        string
	}{
		{meshRetries(), "failure_ratio", "1.5", "from 0 to 1"},
		{meshRetries(), "app_retries", "2.5", "whole number"},
		{meshRetries(), "app_retries", "50", ""},
		{meshRetries(), "requests", "1000000", ""},
		{meshChain(), "retries", "9", ""},
		{meshChain(), "retrying", "somebody", "nobody"},
		{meshChain(), "services", "0", "from 1"},
		{meshWrites(), "dedup", "maybe", "off"},
		{meshTimeouts(), "service_s", "0", "from"},
		{meshTimeouts(), "requests", "0", "from 1"},
		{doubleRetry(), "mesh", "linkerd", "istio"},
		{doubleRetry(), "requests", "1000000", "want at most"},
		{cancellation(), "timeout_s", "NaN", "finite"},
		{cancellation(), "measure_s", "1000000", "want at most"},
	} {
		_, err := NewPlan(c.e, Options{Set: map[string]string{c.name: c.value}})
		switch {
		case c.want == "" && err != nil && !strings.Contains(err.Error(), "want at most"):
			t.Errorf("%s, %s = %s: %v", c.e.Name, c.name, c.value, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s, %s = %s: error %v, want one with %q", c.e.Name, c.name, c.value, err, c.want)
		}
	}
}
