package experiments

import (
	"context"
	"math"
	"testing"
)

func TestSlowCalls(t *testing.T) {
	r := mustRun(t, slowCalls(), Options{Seed: 1, Reps: 20})
	get := func(policy int, metric string) Stat { return r.Stat(policy, metric) }

	// A: the failure rate sees nothing; every thread makes 6 slow calls.
	if o := get(0, "opened_at_s"); o.N != 0 {
		t.Errorf("A opened %d times, want never", o.N)
	}
	if c, s := get(0, "calls_after_slow_count"), get(0, "thread_s"); c.Mean != 120 || c.SD != 0 || s.Mean != 240 {
		t.Errorf("A: %v calls, %v s, want 120 and 240 s", c.Mean, s.Mean)
	}
	for rep := range r.Plan.Reps {
		// B: no sooner than the first slow call is back; calls = 20 + those sent again.
		at, calls, busy := r.Values(1, "opened_at_s")[rep], r.Values(1, "calls_after_slow_count")[rep], r.Values(1, "thread_s")[rep]
		if at < 3 || at > 3.05 || calls < 20 || calls > 30 || busy != 2*calls {
			t.Errorf("B, replication %d: opened at %v s, %v calls, %v s; want 3.00 to 3.05 s, 20 to 30 calls of 2 s", rep, at, calls, busy)
		}
		// C: the threshold after the change, and no call is sent again.
		at, calls = r.Values(2, "opened_at_s")[rep], r.Values(2, "calls_after_slow_count")[rep]
		if at < 2 || at > 2.05 || calls != 20 {
			t.Errorf("C, replication %d: opened at %v s, %v calls; want 2.00 to 2.05 s and 20", rep, at, calls)
		}
	}
}

// Common random numbers: until the first opening all policies see the same.
func TestSlowCallsShareTheirLuck(t *testing.T) {
	r := mustRun(t, slowCalls(), Options{Seed: 4, Reps: 1})
	tables, err := slowCallsTimeline(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	timeline := tables[0]
	a := timeline.Select(map[string]string{"policy": "count-20-10-50"})
	b := timeline.Select(map[string]string{"policy": "count-20-10-50-slow-1s-50"})
	if len(a) != len(b) || len(a) < 300 {
		t.Fatalf("%d and %d samples", len(a), len(b))
	}
	for i := range a {
		if timeline.Value(a[i], "t_s") < 3 && timeline.Value(a[i], "calls_after_slow_count") != timeline.Value(b[i], "calls_after_slow_count") {
			t.Errorf("at %v s A and B differ before B opened", timeline.Value(a[i], "t_s"))
		}
	}
	last := a[len(a)-1]
	if got := timeline.Value(last, "calls_after_slow_count"); got != 120 {
		t.Errorf("A ends at %v calls, want 120", got)
	}
}

func TestSlowCallsWithoutSlowRuleHaveAClosedForm(t *testing.T) {
	r := mustRun(t, slowCalls(), Options{Reps: 2, Set: map[string]string{"threads": "7", "rounds": "3", "policy": "count-20-10-50-slow-3s-50"}})
	if s := r.Stat(0, "thread_s"); s.Mean != 42 || s.Exact != 42 {
		t.Errorf("%v s, closed form %v, want 7 threads × 3 rounds × 2 s", s.Mean, s.Exact)
	}
	if s := r.Stat(0, "opened_at_s"); !math.IsInf(s.Exact, 1) || s.N != 0 {
		t.Errorf("slow calls of 2 s opened a breaker that calls 3 s slow: %+v", s)
	}
}
