package experiments

import (
	"math"
	"testing"
)

func TestWhoPaysErrors(t *testing.T) {
	r := mustRun(t, whoPays(), Options{Seed: 2, Reps: 5, Set: map[string]string{"fault": "error", "error_ratio": "1"}})
	get := func(policy, metric string) Stat {
		s, ok := r.Lookup(map[string]string{"policy": policy}, metric)
		if !ok {
			t.Fatalf("no cell %s", policy)
		}
		return s
	}
	// Nobody is better off, three times the attempts arrive, and unrelated work
	// finds the pool full.
	if s := get(payRetry, "user_success_ratio"); s.Mean > 0.05 {
		t.Errorf("success %v with retries of what always fails", s.Mean)
	}
	if s := get(payRetry, "callee_load_ratio"); math.Abs(s.Mean-3) > 0.1 {
		t.Errorf("load × %v, want 3", s.Mean)
	}
	if none, retry := get(payNone, "unrelated_failed_ratio").Mean, get(payRetry, "unrelated_failed_ratio").Mean; none > 0.01 || retry < 0.2 {
		t.Errorf("unrelated work fails: %v without retries, %v with them", none, retry)
	}
	if s := get(payBudget, "callee_load_ratio"); math.Abs(s.Mean-1.1) > 0.03 {
		t.Errorf("load × %v with a budget of 10 %%", s.Mean)
	}
	if s := get(payBreaker, "callee_load_ratio"); s.Mean > 0.5 {
		t.Errorf("load × %v with a breaker", s.Mean)
	}
}

func TestWhoPaysStall(t *testing.T) {
	r := mustRun(t, whoPays(), Options{Seed: 2, Reps: 3, Set: map[string]string{"fault": "stall", "error_ratio": "0.5", "policy": "none,retry"}})
	// Little's law: rate × time of a request, threads being enough; but for the
	// first timeout, when requests still end soon.
	rate, timeout, length := 300.0, 0.5, 20.0
	want := rate * (payCaller + timeout) * (1 - timeout/2/length)
	if s := r.Stat(0, "caller_threads_count"); math.Abs(s.Mean/want-1) > 0.03 {
		t.Errorf("%v threads, want about %v", s.Mean, want)
	}
	if s := r.Stat(1, "caller_threads_count"); s.Mean < 190 || s.Mean > 200 {
		t.Errorf("%v of 200 threads with retries", s.Mean)
	}
	if s := r.Stat(1, "caller_rejected_ratio"); s.Mean < 0.5 {
		t.Errorf("%v of the requests find no thread", s.Mean)
	}
}

func TestWhoPaysHasAClosedFormWhereNothingIsScarce(t *testing.T) {
	r := mustRun(t, whoPays(), Options{Seed: 4, Reps: 20, Set: map[string]string{
		"fault": "error", "error_ratio": "0.3", "policy": "none,retry", "rate_rps": "100", "unrelated_rps": "20", "pool": "40", "threads": "1000",
	}})
	for i := range r.Plan.Cells {
		s := r.Stat(i, "user_success_ratio")
		if math.IsNaN(s.Exact) || math.Abs(s.Mean-s.Exact) > 0.004 {
			t.Errorf("%v: success %v, closed form %v", r.Plan.Cells[i], s.Mean, s.Exact)
		}
	}
}

func TestWhoPaysOddSettings(t *testing.T) {
	r := mustRun(t, whoPays(), Options{Reps: 1, Set: map[string]string{
		"rate_rps": "0.5", "unrelated_rps": "0.1", "threads": "1", "waiting": "0", "pool": "1", "pool_waiting": "0", "fault_s": "0.1", "warmup_s": "1", "backoff_s": "0", "query_s": "0.000001",
	}})
	for i := range r.Plan.Cells {
		if v := r.Stat(i, "caller_threads_count").Mean; !(v >= 0 && v <= 1) {
			t.Errorf("%v: %v threads of 1", r.Plan.Cells[i], v)
		}
	}
	whoPays().Report(r)
	if _, err := NewPlan(whoPays(), Options{Set: map[string]string{"rate_rps": "1000000", "fault_s": "100000"}}); err == nil {
		t.Error("no error for a run without end")
	}
}

// A fault without end saves nobody who waits, and the measures are those of the
// caller in it.
func TestWhoPaysCountsTheFaultAlone(t *testing.T) {
	r := mustRun(t, whoPays(), Options{Seed: 5, Reps: 2, Set: map[string]string{"error_ratio": "1"}})
	for i, c := range r.Plan.Cells {
		if s := r.Stat(i, "user_success_ratio"); s.Mean != 0 {
			t.Errorf("%v: %v of the users succeed at a dependency that never does", c, s.Mean)
		}
		openings, open := r.Stat(i, "breaker_openings_count").Mean, r.Stat(i, "breaker_open_s").Mean
		if open > openings*(c.Float("open_s")+0.05) || open > c.Float("fault_s") {
			t.Errorf("%v: %v openings of %s s, open for %v s", c, openings, c.Text("open_s"), open)
		}
		if s := r.Stat(i, "retry_ratio"); c.Text("policy") == payRetry && c.Text("fault") == payError && math.Abs(s.Mean-2./3) > 0.02 {
			t.Errorf("%v: retry ratio %v, want 2/3", c, s.Mean)
		}
		if s := r.Stat(i, "user_p50_s"); c.Text("policy") == payRetry && c.Text("fault") == payStall && s.Mean < 1 {
			t.Errorf("%v: p50 %v s, want that of requests with a thread", c, s.Mean)
		}
	}
}

func TestWhoPaysWarnsOfTheBrink(t *testing.T) {
	for ratio, want := range map[string]bool{"0.5": true, "0.7": false} {
		r := mustRun(t, whoPays(), Options{Reps: 1, Set: map[string]string{"fault": "error", "error_ratio": ratio, "policy": "none,retry,breaker", "fault_s": "1"}})
		if got := payBrink(r, []int{0, 1, 2}) != ""; got != want {
			t.Errorf("error_ratio %s: warning %v", ratio, got)
		}
	}
}
