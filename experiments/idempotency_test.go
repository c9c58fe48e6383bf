package experiments

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// idempotencyPlain switches off all that no test has asked for.
func idempotencyPlain(set map[string]string) map[string]string {
	out := map[string]string{"query": "none", "lag_s": "0", "shards": "1", "record": "after", "key": "operation", "defences": "none", "loss_ratio": "0", "crash_ratio": "0",
		"click_ratio": "0", "device_ratio": "0", "same_ratio": "0", "missing_ratio": "0", "bypass_dedup_ratio": "0", "bypass_state_ratio": "0", "intents": "500"}
	for k, v := range set {
		out[k] = v
	}
	return out
}

const allKeys = "operation,sdk,gateway,server,producer,consumer"

// Closed forms by interval, also far from the defaults; numbers without
// variance to the rounding of what is too rare to be seen.
func TestIdempotencyClosedForms(t *testing.T) {
	users := map[string]string{"click_ratio": "0.5", "device_ratio": "0.3", "missing_ratio": "0.5"}
	writers := map[string]string{"bypass_dedup_ratio": "0.2", "bypass_state_ratio": "0.3"}
	heavy := map[string]string{"loss_ratio": "0.2", "crash_ratio": "0.2", "intents": "200"}
	for _, test := range []struct {
		name  string
		known int // metrics with a closed form
		sets  []map[string]string
	}{
		{"no defence, a constraint in shards", 85, []map[string]string{heavy, users, {"key": allKeys, "defences": "none,dedup,unique", "shards": "1,3", "same_ratio": "0.2"}}},
		{"writers in shards", 44, []map[string]string{heavy, users, writers, {"key": allKeys, "defences": "unique", "shards": "4", "devices": "apart,synced"}}},
		{"recorded before", 88, []map[string]string{heavy, users, writers,
			{"key": allKeys, "record": "before", "defences": "dedup", "crash_ratio": "0,0.3", "missing_ratio": "0", "devices": "apart,synced"}}},
		{"recorded before, all lines", 17, []map[string]string{heavy, users, writers, {"key": allKeys, "record": "before", "defences": "all", "missing_ratio": "0"}}},
		{"state on the primary", 72, []map[string]string{heavy, users, {"key": allKeys, "state_lag_s": "0", "bypass_dedup_ratio": "0.2", "defences": "state,all,dedup+state"}}},
		{"asking, exponential", 96, []map[string]string{users, {"lost": "requests,answers", "loss_ratio": "0.4", "deliveries": "2", "client_attempts": "4",
			"visibility_s": "8", "query": "none,replica,primary,accepted", "lag_s": "0:4:0.5"}}},
		{"asking, constant", 28, []map[string]string{{"loss_ratio": "0.3", "service_law": "constant", "service_s": "1.29", "gateway_attempts": "1", "server_attempts": "1",
			"client_attempts": "5", "lag_s": "0,0.11,0.7,2", "visibility_s": "3", "deliveries": "4", "query": "none,replica,primary,accepted"}}},
		{"everybody clicks", 48, []map[string]string{{"key": allKeys, "defences": "none,unique", "click_ratio": "1"}}},
		{"everything is lost", 48, []map[string]string{{"key": allKeys, "defences": "none,unique", "loss_ratio": "1", "deliveries": "1"}}},
	} {
		set := idempotencyPlain(nil)
		for _, s := range test.sets {
			for k, v := range s {
				set[k] = v
			}
		}
		r := mustRun(t, idempotency(), Options{Seed: 11, Reps: 20, Set: set})
		known := 0
		for i, c := range r.Plan.Cells {
			for _, m := range r.Plan.Experiment.Metrics {
				s := r.Stat(i, m.Name)
				if math.IsNaN(s.Exact) {
					continue
				}
				known++
				if math.Abs(s.Z) > 4 || s.SD == 0 && math.Abs(s.Mean-s.Exact) > 1e-4 {
					t.Errorf("%s: %v: %s %v, closed form %v, z %v", test.name, c, m.Name, s.Mean, s.Exact, s.Z)
				}
			}
		}
		if known != test.known {
			t.Errorf("%s: %d closed forms, want %d", test.name, known, test.known)
		}
	}
}

// Without any defence every retry of an answer that was lost is a duplicate:
// geometric retries, of which all reached the queue.
func TestIdempotencyGeometricRetries(t *testing.T) {
	const a = 0.1
	r := mustRun(t, idempotency(), Options{Seed: 1, Reps: 20, Set: idempotencyPlain(map[string]string{
		"lost": "answers", "loss_ratio": "0.1", "client_attempts": "3", "gateway_attempts": "1", "server_attempts": "1", "deliveries": "1", "intents": "2000"})})
	fails := 1 - math.Pow(1-a, 3) // an answer crosses three hops
	want := fails + fails*fails
	s := r.Stat(0, "duplicate_effects_ratio")
	if math.Abs(s.Exact-want) > 1e-12 || !(math.Abs(s.Z) < 4) {
		t.Errorf("duplicates %v, closed form %v, want %v", s.Mean, s.Exact, want)
	}
	if got := r.Stat(0, "client_duplicates_ratio").Mean; math.Abs(got-s.Mean) > 1e-12 {
		t.Errorf("%v of the %v duplicates are due to the client", got, s.Mean)
	}
}

// With all three lines and a key that the client makes once for each operation
// nothing is done twice and nobody merged, whatever else happens; a key made
// further down is worth less.
func TestIdempotencyAllLinesAndTheOperationsKey(t *testing.T) {
	set := idempotencyPlain(map[string]string{"key": "operation,sdk,server", "defences": "all", "devices": "synced", "loss_ratio": "0.1,0.4", "crash_ratio": "0,0.3",
		"state_lag_s": "0,5", "click_ratio": "0.5", "device_ratio": "0.5", "same_ratio": "0.5", "bypass_dedup_ratio": "0.3", "bypass_state_ratio": "0.3",
		"keep_s": "0,1", "intents": "200"})
	r := mustRun(t, idempotency(), Options{Seed: 4, Reps: 5, Set: set})
	for i, c := range r.Plan.Cells {
		twice, merged := r.Stat(i, "duplicate_effects_ratio"), r.Stat(i, "merged_intents_ratio")
		if merged.Mean != 0 {
			t.Errorf("%v: %v merged", c, merged.Mean)
		}
		if operation := c.Text("key") == "operation"; operation != (twice.Mean == 0) {
			t.Errorf("%v: duplicates %v", c, twice.Mean)
		}
	}
}

// Every set of defences sees the same submissions, messages and losses.
func TestIdempotencyCommonRandomNumbers(t *testing.T) {
	r := mustRun(t, idempotency(), Options{Seed: 2, Reps: 3, Set: map[string]string{"defences": "none", "intents": "500", "query": "none", "lag_s": "0"}})
	for i := range r.Plan.Cells {
		for _, m := range []string{"duplicate_effects_ratio", "once_ratio", "redelivery_duplicates_ratio"} {
			if a, b := fmt.Sprint(r.Values(0, m)), fmt.Sprint(r.Values(i, m)); a != b {
				t.Errorf("%v: %s %s, with the first key %s", r.Plan.Cells[i], m, b, a)
			}
		}
	}
}

// Keys and defences are crossed, queries and lags, and not one with the other.
func TestIdempotencyDesign(t *testing.T) {
	p := mustPlan(t, idempotency(), Options{})
	count := map[string]int{}
	for _, c := range p.Cells {
		count[c.Text("defences")+" "+c.Text("record")+" "+c.Text("shards")+" "+c.Text("query")]++
	}
	for what, want := range map[string]int{
		"none after 1 none": 6, "dedup after 1 none": 6, "dedup before 1 none": 6, "state after 1 none": 6, "unique after 1 none": 6, "unique after 8 none": 6,
		"all after 1 none": 6, "all after 8 none": 6, "none after 1 replica": 11, "none after 1 primary": 1, "none after 1 accepted": 1,
	} {
		if count[what] != want {
			t.Errorf("%d cells of %s, want %d", count[what], what, want)
		}
		delete(count, what)
	}
	if len(count) > 0 {
		t.Errorf("further cells: %v", count)
	}
	p = mustPlan(t, idempotency(), Options{Set: map[string]string{"key": "sdk", "defences": "all", "record": "after,before", "query": "replica", "lag_s": "1,2", "shards": "3"}})
	if len(p.Cells) != 3 {
		t.Errorf("%d cells, want after and before at the first lag, and the second lag", len(p.Cells))
	}
}

func TestIdempotencyReport(t *testing.T) {
	r := mustRun(t, idempotency(), Options{Seed: 1, Reps: 10, Set: map[string]string{"intents": "2000"}})
	texts := reportIdempotency(r)
	if len(texts) != 4 {
		t.Fatalf("%d tables, want outcomes, lines, places and queries", len(texts))
	}
	if all := fmt.Sprint(texts[0].Rows, texts[1].Rows, texts[3].Rows); strings.Count(all, " ± ") < 100 || strings.Count(all, "(z ") < 30 {
		t.Errorf("few intervals or z in %s", all)
	}
	all := ""
	for _, text := range texts {
		all += text.Caption + "\n" + strings.Join(text.Notes, "\n") + "\n"
	}
	for _, want := range []string{
		"Past the dedup table slip ", "Past the dedup table, recorded before slip other devices", "so that the intent is lost.",
		"none of a first that the state it reads does not show yet", "Past the unique constraint slip other devices: it stops no copy with another key",
		"What the key leaves behind all three, per 1,000 intents", "Two intents look like one to gateway, hash of body:", "A client repeats 1.53 s after it sent.",
		"Beside a constraint that holds, dedup table and state machine change no outcome", "Past all three slip other devices.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in the report:\n%s", want, all)
		}
	}
	one := mustRun(t, idempotency(), Options{Seed: 1, Reps: 1, Set: idempotencyPlain(map[string]string{"defences": "unique"})})
	texts = reportIdempotency(one)
	if len(texts) != 2 || len(texts[0].Rows) != 2 || !strings.Contains(texts[1].Notes[0], "Past the unique constraint slips nothing") {
		t.Errorf("%d tables, %v", len(texts), texts)
	}
}

func TestIdempotencyRefuses(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"key", "cdn", "known: operation, sdk"}, {"defences", "", ""}, {"shards", "65", "1 to 64"}, {"client_attempts", "16", "from 1 to 15"}, {"loss_ratio", "1.5", "from 0 to 1"},
		{"same_ratio", "0.6", "from 0 to 0.5"}, {"timeout_s", "0.01", "timeout 10ms, want from 10.000001ms"}, {"intents", "0", "from 1"},
		{"visibility_s", "0", "above 0"}, {"query", "cache", "known: none, replica"},
	} {
		_, err := NewPlan(idempotency(), Options{Set: map[string]string{test.name: test.value}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: error %v, want %q", test.name, test.value, err, test.want)
		}
	}
	_, err := NewPlan(idempotency(), Options{Set: map[string]string{"loss_ratio": "0.9", "client_attempts": "15", "gateway_attempts": "15", "server_attempts": "15"}})
	if err == nil || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("error %v, want one that refuses so many attempts", err)
	}
}

// Odd levels run, and their ledgers balance.
func TestIdempotencyAtTheLimits(t *testing.T) {
	for _, set := range []map[string]string{
		{"loss_ratio": "1", "deliveries": "1", "intents": "3"},
		{"crash_ratio": "1", "intents": "1"},
		{"leg_s": "0", "backoff_s": "0", "visibility_s": "0.01", "deliveries": "15", "intents": "5"},
		{"lag_s": "100000", "state_lag_s": "100000", "keep_s": "0.000001", "shards": "64", "intents": "50"},
		{"service_law": "constant", "service_s": "10000", "intents": "20"},
		{"click_ratio": "1", "device_ratio": "1", "same_ratio": "0.5", "missing_ratio": "1", "bypass_dedup_ratio": "0.5", "bypass_state_ratio": "0.5", "intents": "21"},
	} {
		r := mustRun(t, idempotency(), Options{Seed: 3, Reps: 2, Set: set})
		if len(reportIdempotency(r)) == 0 {
			t.Errorf("%v: no report", set)
		}
	}
}
