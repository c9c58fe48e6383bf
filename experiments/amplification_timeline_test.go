package experiments

import (
	"context"
	"math"
	"strings"
	"testing"
)

// timelineOf returns a metric of a policy by second.
func timelineOf(r *Result, policy, metric string) []float64 {
	var values []float64
	for i, c := range r.Plan.Cells {
		if c.Text("policy") == policy {
			values = append(values, r.Stat(i, metric).Mean)
		}
	}
	return values
}

func TestTimelineReproducesTheArticle(t *testing.T) {
	r := mustRun(t, amplificationTimeline(), Options{Seed: 1, Reps: 2})
	misses, rows := articleMisses(r)
	if len(misses) > 0 || rows != 24 {
		t.Errorf("%d rows, want 24; out of range: %s", rows, strings.Join(misses, "; "))
	}
	for i, c := range r.Plan.Cells {
		if s := r.Stat(i, "calls_count"); s.SD != 0 {
			t.Errorf("%s: %v calls ± %v, but nothing is random", c, s.Mean, s.SD)
		} else if !math.IsNaN(s.Exact) && s.Exact != s.Mean {
			t.Errorf("%s: %v calls, closed form %v", c, s.Mean, s.Exact)
		}
	}
	// Each rejected request costs two more calls, or as many as the budget has:
	// a full bucket and a tenth of the requests made since.
	rejected := 0.0
	for _, share := range timelineOf(r, "none", "success_ratio") {
		rejected += 120 * (1 - share)
	}
	sum := func(policy, metric string) (total float64) {
		for _, v := range timelineOf(r, policy, metric) {
			total += v
		}
		return total
	}
	if got := sum("retry-3", "retries_count"); math.Abs(got-2*rejected) > 1e-9 {
		t.Errorf("%v retries without budget, want 2 for each of %v rejected", got, rejected)
	}
	if got := sum("budget-10", "retries_count"); got < 27 || got > 10+0.1*1.58*120 {
		t.Errorf("%v retries with the budget, want 10 + 0.1 × 190 requests at most", got)
	}
	if got := sum("budget-10", "retries_count") + sum("budget-10", "denied_count"); got < rejected {
		t.Errorf("%v retries granted and refused, want at least one for each of %v rejected", got, rejected)
	}
}

// Retries help against failures at random, where the server is not full.
func TestTimelineOfErrorsAtRandom(t *testing.T) {
	r := mustRun(t, amplificationTimeline(), Options{Seed: 1, Reps: 40, Set: map[string]string{"trouble": "error", "second": "2"}})
	for _, c := range []struct {
		policy string
		want   float64 // 1 - pⁿ, p = 62/120
	}{{"none", 1 - 62.0/120}, {"retry-3", 1 - math.Pow(62.0/120, 3)}} {
		s, _ := r.Lookup(map[string]string{"policy": c.policy}, "success_ratio")
		if math.Abs(s.Mean-c.want) > 4*s.SD/math.Sqrt(40) {
			t.Errorf("%s: success %v ± %v, want %v", c.policy, s.Mean, s.SD, c.want)
		}
	}
}

// A queue that timeouts make useless stays full after the trouble, for as long
// as retries triple the load; a budget lets it drain.
func TestTimelineOfAQueue(t *testing.T) {
	r := mustRun(t, amplificationTimeline(), Options{Seed: 1, Reps: 1, Set: map[string]string{"trouble": "queue", "length_s": "20", "second": "19"}})
	for _, c := range []struct {
		policy         string
		calls, success float64
	}{{"none", 120, 1}, {"retry-3", 360, 0}, {"budget-10", 120, 1}} {
		calls, success := timelineOf(r, c.policy, "calls_count")[0], timelineOf(r, c.policy, "success_ratio")[0]
		if calls != c.calls || success != c.success {
			t.Errorf("%s: %v calls, success %v in the last second, want %v and %v", c.policy, calls, success, c.calls, c.success)
		}
	}
}

func TestTimelineSeries(t *testing.T) {
	r := mustRun(t, amplificationTimeline(), Options{Seed: 1, Reps: 1, Set: map[string]string{"arrivals": "poisson"}})
	tables, err := timelineDetail(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	series := tables[0]
	for _, policy := range r.Plan.level("policy") {
		rows := series.Select(map[string]string{"policy": policy})
		if len(rows) != 80 {
			t.Fatalf("%s: %d intervals, want 80", policy, len(rows))
		}
		for second, want := range timelineOf(r, policy, "calls_count") {
			got := 0.0
			for _, row := range rows[10*second : 10*second+10] {
				got += series.Value(row, "calls_rps") / 10
			}
			if math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, second %d: %v calls in the series, %v in the table", policy, second, got, want)
			}
		}
	}
}

func TestTimelineRefuses(t *testing.T) {
	for _, c := range []struct {
		set  map[string]string
		want string
	}{
		{map[string]string{"second": "8"}, "no valid combination"},
		{map[string]string{"second": "1.5"}, "whole"},
		{map[string]string{"trouble": "error", "limit_rps": "121"}, "limit_rps 121 is above rate_rps 120"},
		{map[string]string{"trouble": "queue", "limit_rps": "241"}, "limit_rps 241 is above capacity_rps 240"},
		{map[string]string{"trouble": "crash"}, "known: limit, error, queue"},
		{map[string]string{"policy": "retry-10000000"}, "attempts"},
	} {
		_, err := NewPlan(amplificationTimeline(), Options{Set: c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.set, err, c.want)
		}
	}
	// Without trouble, and with less than a whole second, there is a run too.
	mustRun(t, amplificationTimeline(), Options{Reps: 1, Set: map[string]string{"trouble": "limit,error,queue", "trouble_s": "0", "length_s": "1.5", "rate_rps": "0.1", "limit_rps": "0.1"}})
}
