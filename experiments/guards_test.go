package experiments

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Immediate retries of a node that is down have closed forms, at any grace,
// reset and number of attempts.
func TestGuardsClosedForms(t *testing.T) {
	sets := []map[string]string{
		{},
		{"outage_at_s": "3,18,19.99", "attempts": "2,4", "outage_s": "13,60", "horizon_s": "50"},
		{"grace": "0,1,500", "reset_at": "501,2000", "ratio": "0,0.05,1", "horizon_s": "20", "outage_at_s": "0,3"},
		{"attempts": "1", "outage_at_s": "0"},
		{"rate_rps": "37", "outage_at_s": "0,11.3", "reset_at": "200", "cap": "3", "window_s": "4"},
	}
	exact := 0
	for _, set := range sets {
		set["guard"], set["wait_s"], set["error_ratio"] = guardBudgetOnly, "0", "1"
		set["budget"] = "counter,bucket,window,none"
		r := mustRun(t, guards(), Options{Reps: 1, Set: set})
		for i, c := range r.Plan.Cells {
			for _, metric := range []string{"amplification_ratio", "success_ratio", "retries_count", "start_retries_count", "reset_retries_count"} {
				s := r.Stat(i, metric)
				if math.IsNaN(s.Exact) || !s.Applies() {
					continue
				}
				exact++
				if math.Abs(s.Mean-s.Exact) > 1e-9*s.Exact+1e-12 {
					t.Errorf("%s: %s %v, closed form %v", c, metric, s.Mean, s.Exact)
				}
			}
		}
	}
	if exact < 150 {
		t.Errorf("%d closed forms, want more", exact)
	}
}

// The figures that the article's counter is known by.
func TestGuardsCounter(t *testing.T) {
	r := mustRun(t, guards(), Options{Reps: 1, Set: map[string]string{"guard": "budget-only", "wait_s": "0", "budget": "counter"}})
	for _, test := range []struct {
		outage, metric string
		want           float64
	}{
		{"0", "start_retries_count", 200},
		{"0", "reset_retries_count", 202},
		{"0", "retries_count", 1000 + 1000 + 202}, // two cycles of 10,000 and 1,000 requests
		{"18", "start_retries_count", 200},
		{"18", "reset_retries_count", 202},
		{"18", "retries_count", 1000 + 1000 + 1000 + 2}, // the last request is a reset
	} {
		s, ok := r.Lookup(map[string]string{"outage_at_s": test.outage}, test.metric)
		if !ok || s.Mean != test.want {
			t.Errorf("outage at %s s: %s %v, want %v", test.outage, test.metric, s.Mean, test.want)
		}
	}
	// For a moment the budget bounds nothing: three attempts for each request.
	if s, _ := r.Lookup(map[string]string{"outage_at_s": "18"}, "peak_load_ratio"); s.Mean != 3 {
		t.Errorf("peak %v, want 3", s.Mean)
	}
}

// Every retry that is asked for is granted or refused for one reason, and what
// must not be made twice is not.
func TestGuardsReasons(t *testing.T) {
	r := mustRun(t, guards(), Options{Seed: 3, Reps: 2, Set: map[string]string{"horizon_s": "30", "outage_s": "20", "error_ratio": "0.3,1", "budget": "counter,bucket,window,none"}})
	for i, c := range r.Plan.Cells {
		for rep := range r.Plan.Reps {
			at := func(metric string) float64 { return r.Values(i, metric)[rep] }
			only := c.Text("guard") == guardBudgetOnly
			switch {
			case only && at("breaker_refused_count")+at("unsafe_refused_count")+at("breaker_openings_count") != 0:
				t.Errorf("%s: other guards than the budget", c)
			case only && at("unsafe_retries_count") == 0 && at("retries_count") > 50:
				t.Errorf("%s: no unsafe retries of %v", c, at("retries_count"))
			case !only && (at("unsafe_retries_count") != 0 || at("unsafe_refused_count") == 0 && c.Float("error_ratio") < 1 || at("breaker_openings_count") == 0 && c.Float("error_ratio") == 1):
				t.Errorf("%s: %v unsafe retries, %v refused, %v openings", c, at("unsafe_retries_count"), at("unsafe_refused_count"), at("breaker_openings_count"))
			}
			spent := at("breaker_refused_count") + at("unsafe_refused_count")
			if c.Text("guard") != guardBudgetFirst || c.Text("budget") == guardNone {
				spent = 0
			}
			if at("spent_unsent_count") != spent {
				t.Errorf("%s: %v spent and not sent, want %v", c, at("spent_unsent_count"), spent)
			}
		}
	}
}

// A budget that is asked first pays for retries that are not made, and so
// grants fewer of those that could be.
func TestGuardsOrder(t *testing.T) {
	r := mustRun(t, guards(), Options{Seed: 3, Reps: 3, Set: map[string]string{
		"budget": "bucket", "error_ratio": "0.3", "wait_s": "0", "unsafe_ratio": "0.5", "outage_at_s": "5",
	}})
	retries := func(guard string) float64 {
		s, _ := r.Lookup(map[string]string{"guard": guard}, "retries_count")
		return s.Mean
	}
	if note := guardOrderNote(r, []int{0, 1, 2}); !strings.HasPrefix(note, "Asked first, the bucket pays for ") {
		t.Errorf("note %q", note)
	}
	if first, last := retries(guardBudgetFirst), retries(guardBudgetLast); !(first < 0.7*last) {
		t.Errorf("budget first grants %v, last %v: want about half", first, last)
	}
}

func TestGuardsReportAndSeries(t *testing.T) {
	r := mustRun(t, guards(), Options{Reps: 1, Set: map[string]string{"horizon_s": "21", "budget": "counter,window", "error_ratio": "1"}})
	texts := reportGuards(r)
	if len(texts) != 8 || len(texts[0].Rows) != 6 || !strings.Contains(texts[0].Notes[0], "2 × 100 = 200 immediate retries, after a reset 2 × (100 + 1) = 202;") ||
		!strings.Contains(texts[0].Notes[0], "1920 requests later") {
		t.Errorf("%d tables, notes %q", len(texts), texts[0].Notes)
	}
	if notes := texts[2].Notes; len(notes) != 2 || !strings.HasPrefix(notes[0], "Counter alone: after a reset 2 × (100 + 1) = 202 immediate retries; nothing") || !strings.HasSuffix(notes[1], "10 % of those that count: the counter 900, the window 500.") {
		t.Errorf("notes of the later outage %q", notes)
	}
	tables, err := guardsDetail(context.Background(), r)
	if err != nil || len(tables) != 1 {
		t.Fatal(len(tables), err)
	}
	if rows := len(tables[0].Rows); rows != len(r.Plan.Cells)*210 {
		t.Errorf("%d rows, want 210 for each of %d cells", rows, len(r.Plan.Cells))
	}
	last := map[string]float64{}
	for _, row := range tables[0].Rows {
		key := strings.Join(row.Keys[:len(row.Keys)-1], " ")
		if row.Values[0] < last[key] {
			t.Fatalf("%s: %v retries after %v", key, row.Values[0], last[key])
		}
		last[key] = row.Values[0]
	}
	for i := range r.Plan.Cells {
		if end := tables[0].Rows[210*i+209].Values[0]; end != r.Values(i, "retries_count")[0] {
			t.Errorf("%s: %v retries in the end, want %v", r.Plan.Cells[i], end, r.Values(i, "retries_count")[0])
		}
	}
}

// Without a budget one order stands for both, whichever is asked for; nothing
// is reset, and nothing is said that does not hold.
func TestGuardsWithoutBudget(t *testing.T) {
	for _, guard := range []string{"budget-only", "budget-first", "budget-last", "budget-last,budget-first"} {
		r := mustRun(t, guards(), Options{Reps: 1, Set: map[string]string{"budget": "none,bucket", "guard": guard, "outage_at_s": "0", "wait_s": "0", "error_ratio": "1"}})
		without := 0
		for i, c := range r.Plan.Cells {
			if c.Text("budget") == guardNone {
				without++
			}
			if r.Stat(i, "reset_retries_count").Applies() {
				t.Errorf("%s: a reset without a counter", c)
			}
		}
		if without != 1 {
			t.Errorf("%s: %d cells without a budget, want 1", guard, without)
		}
		if notes := reportGuards(r)[0].Notes; len(notes) != 0 {
			t.Errorf("%s: notes %q", guard, notes)
		}
	}
	r := mustRun(t, guards(), Options{Reps: 1, Set: map[string]string{"budget": "counter", "guard": "budget-only", "outage_at_s": "0"}})
	for _, text := range reportGuards(r) {
		if holds := strings.Contains(text.Caption, ": 100 %") && strings.Contains(text.Caption, "first wait 0 s"); strings.Contains(strings.Join(text.Notes, ""), "Counter alone") != holds {
			t.Errorf("%s: notes %q", text.Caption, text.Notes)
		}
	}
}

func TestGuardsRefuse(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"budget", "tokens", "known"},
		{"guard", "none", "known"},
		{"ratio", "1.5", "ratio"},
		{"grace", "10000", "grace"},
		{"multiplier", "1.001", "multiplier"},
		{"rate_rps", "1e6", "want at most 1e+08"},
		{"horizon_s", "1e5", "horizon_s"},
		{"outage_at_s", "60", "want below horizon_s"},
		{"error_ratio", "0", "above 0"},
	} {
		_, err := NewPlan(guards(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}
