package experiments

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/model"
)

// Without an outage every way to lose or to repeat has its closed form.
func TestDeliveryClosedForms(t *testing.T) {
	r := mustRun(t, delivery(), Options{Seed: 11, Reps: 20, Set: map[string]string{
		"outage_s": "0", "owner_every_s": "300", "ack_loss_ratio": "0.1", "consumer_ack_loss_ratio": "0.03", "visibility_s": "9", "leaves_per_hour": "600",
	}})
	for i, c := range r.Plan.Cells {
		for _, m := range []string{"duplicate_ratio", "duplicate_publish_ratio", "duplicate_visibility_ratio", "duplicate_ack_ratio", "duplicate_rebalance_ratio",
			"lost_ratio", "effected_ratio", "dead_ratio", "compensated_ratio"} {
			s := r.Stat(i, m)
			if math.IsNaN(s.Exact) {
				if c.Text("guarantee") == model.AtLeastOnce {
					t.Errorf("%s: no closed form of %s", c, m)
				}
				continue
			}
			if s.SD == 0 && s.Mean != s.Exact || s.SD > 0 && !(math.Abs(s.Z) < 4) {
				t.Errorf("%s: %s is %v ± %v, closed form %v (z = %.1f)", c, m, s.Mean, s.SD, s.Exact, s.Z)
			}
		}
	}
}

// The visibility timeout alone: a constant time to work and no wait for a
// commit leave nothing to chance, an exponential one e^(−V/S).
func TestDeliveryVisibilityClosedForm(t *testing.T) {
	set := map[string]string{
		"guarantee": "at-least-once", "dedup": "none", "owner_every_s": "0", "outage_s": "0", "request_loss_ratio": "0", "ack_loss_ratio": "0",
		"consumer_ack_loss_ratio": "0", "leaves_per_hour": "0", "permanent_ratio": "0", "commit_every_s": "0", "visibility_s": "4", "processing_law": "exponential,constant",
	}
	r := mustRun(t, delivery(), Options{Seed: 2, Reps: 10, Set: set})
	again := math.Exp(-2)
	if s := r.Stat(0, "duplicate_ratio"); math.Abs(s.Exact-again/(1-again)) > 1e-3 || math.Abs(s.Mean-s.Exact) > 0.02*s.Exact {
		t.Errorf("exponential: %v, closed form %v, want %v", s.Mean, s.Exact, again/(1-again))
	}
	if s := r.Stat(1, "duplicate_ratio"); s.Mean != 0 || s.Exact != 0 {
		t.Errorf("constant 2 s within 4 s: %v, closed form %v, want none", s.Mean, s.Exact)
	}
}

// In an outage at most once loses, at least once repeats or leaves dead
// letters, and the business key with an owner does neither.
func TestDeliveryOutage(t *testing.T) {
	r := mustRun(t, delivery(), Options{Seed: 1, Reps: 10, Set: map[string]string{"outage_s": "120"}})
	get := func(i int, m string) float64 { return r.Stat(i, m).Mean }
	for i, c := range r.Plan.Cells {
		if c.Text("guarantee") == model.AtMostOnce {
			if s := r.Stat(i, "lost_ratio"); !(math.Abs(s.Z) < 4) || s.Mean < 0.15 || get(i, "duplicate_ratio") != 0 {
				t.Errorf("at most once: lost %v, closed form %v; %v twice", s.Mean, s.Exact, get(i, "duplicate_ratio"))
			}
			continue
		}
		owned := c.Float("owner_every_s") > 0
		if get(i, "lost_ratio") != 0 {
			t.Errorf("%s: %v lost", c, get(i, "lost_ratio"))
		}
		if s := r.Stat(i, "dead_ratio"); owned && s.Mean != 0 || !owned && !(math.Abs(s.Z) < 4 && s.Mean > 0.05) {
			t.Errorf("%s: dead %v, closed form %v", c, s.Mean, s.Exact)
		}
		twice := get(i, "duplicate_ratio")
		if key := c.Text("dedup") == model.DedupKey; key != (twice == 0) {
			t.Errorf("%s: %v twice", c, twice)
		}
		if s := r.Stat(i, "settled_s"); owned != (s.Censored == 0) {
			t.Errorf("%s: settled in %d of 10", c, s.N)
		}
	}
	if tables := r.Plan.Experiment.Report(r); len(tables) != 2 || len(tables[0].Notes) < 4 {
		t.Errorf("%d tables", len(tables))
	} else {
		notes := strings.Join(tables[0].Notes, "\n")
		for _, want := range []string{"200 of 1,000 intents come in the outage (outage_s=120, publish_s=600)", "At least once without an owner leaves 7",
			"dead letters that nobody replays", "At least once with an owner who looks every 300 s loses nothing"} {
			if !strings.Contains(notes, want) {
				t.Errorf("no %q in the notes:\n%s", want, notes)
			}
		}
		if row := strings.Join(tables[0].Rows[0], "|"); !strings.Contains(row, " ± ") || !strings.Contains(row, "(z ") {
			t.Errorf("neither intervals nor z in %s", row)
		}
	}
	letters, err := deliveryLetters(context.Background(), r)
	if err != nil || len(letters) != 1 || len(letters[0].Rows) < 100 {
		t.Fatalf("dead letters: %v, %v", letters, err)
	}
	for _, row := range letters[0].Rows {
		first, at, tries := row.Values[0], row.Values[1], row.Values[2]
		if !(first <= at) || tries < 1 || len(letters[0].Key(row, "payload")) != len("0x")+16 {
			t.Fatalf("dead letter %v", row)
		}
	}
}

// Odd settings are measured or refused, never stuck.
func TestDeliveryOddSettings(t *testing.T) {
	for _, set := range []map[string]string{
		{"visibility_s": "0", "consumer_ack_loss_ratio": "0"},
		{"visibility_s": "0.5", "publish_s": "20", "horizon_s": "100"},
		{"commit_every_s": "50", "publish_s": "20", "horizon_s": "200"},
		{"rate_rps": "0.0001"},
		{"consumers": "1", "publish_s": "20", "horizon_s": "100"},
		{"transient_ratio": "1", "unknown_ratio": "1", "publish_s": "20", "horizon_s": "400"},
		{"permanent_ratio": "1", "retry_permanent": "on", "publish_s": "20"},
		{"max_deliveries": "1", "publish_s": "20"},
		{"leaves_per_hour": "100000", "rejoin_s": "100", "publish_s": "20", "horizon_s": "100"},
		{"outage_answer": "after-work", "publish_s": "60"},
		{"request_loss_ratio": "0.9", "ack_loss_ratio": "0.9", "publish_s": "20"},
		{"outage_at_s": "100000"},
	} {
		r := mustRun(t, delivery(), Options{Seed: 1, Reps: 2, Set: set})
		for i, c := range r.Plan.Cells {
			sum := 0.0
			for _, m := range []string{"effected_ratio", "lost_ratio", "dead_ratio", "compensated_ratio", "queued_ratio"} {
				sum += r.Stat(i, m).Mean
			}
			if r.Stat(i, "effected_ratio").N > 0 && math.Abs(sum-1) > 1e-9 {
				t.Errorf("%v: %s: shares add up to %v", set, c, sum)
			}
		}
		r.Plan.Experiment.Report(r)
	}
}

func TestDeliveryRefuses(t *testing.T) {
	for _, test := range []struct{ factor, levels, want string }{
		{"guarantee", "exactly-once", "exactly-once"},
		{"publish_s", "4000", "want at most horizon_s = 3600"},
		{"rate_rps", "100000", "rate_rps × publish_s"},
		{"visibility_s", "0", "stay hidden for ever"},
		{"ack_loss_ratio", "1", "ack_loss_ratio"},
		{"leaves_per_hour", "-1", "leaves_per_hour"},
	} {
		_, err := NewPlan(delivery(), Options{Set: map[string]string{test.factor: test.levels}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q in it", test.factor, test.levels, err, test.want)
		}
	}
}
