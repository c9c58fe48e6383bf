package experiments

import (
	"strings"
	"testing"
)

// A request gets both retries or none as long as places do not shrink.
func TestRetryCapStructure(t *testing.T) {
	for _, seed := range []uint64{1, 2, 99} {
		r := mustRun(t, meshRetryCap(), Options{Seed: seed, Reps: 8, Set: map[string]string{"clients": "20"}})
		for i, c := range r.Plan.Cells {
			retries, over, split := r.Values(i, "retries_count"), r.Values(i, "overflow_count"), r.Values(i, "split_count")
			for rep := range retries {
				if int(retries[rep])%2 != 0 || retries[rep]/2+over[rep] != 500 || split[rep] != 0 {
					t.Errorf("seed %d, %s, replication %d: %v retries, %v overflow, %v split; want pairs that add up to 500",
						seed, c, rep, retries[rep], over[rep], split[rep])
				}
			}
		}
	}
}

// Envoy counts the attempt that has failed among the active ones: twenty
// clients in flight have a fourth place, which does not last.
func TestEnvoyShareSplitsRequests(t *testing.T) {
	r := mustRun(t, meshRetryCap(), Options{Reps: 5, Set: map[string]string{
		"clients": "20", "failure_ms": "100", "limit": "share-20-floor-3,share-20-floor-3-others"}})
	if split := r.Stat(0, "split_count").Mean; split <= 0 {
		t.Errorf("%v requests split under Envoy's count, want some", split)
	}
	for rep, v := range r.Values(0, "split_count") {
		retries, over := r.Values(0, "retries_count")[rep], r.Values(0, "overflow_count")[rep]
		if retries/2+over != 500+v/2 {
			t.Errorf("replication %d: %v retries, %v overflow, %v split do not add up", rep, retries, over, v)
		}
	}
	if split := r.Stat(1, "split_count"); split.Mean != 0 {
		t.Errorf("%v requests split, want none if the request that asks does not count", split.Mean)
	}
}

// With 500 clients a share gives about a hundred places, a cap of 3 still three.
func TestRetryCapGrowsWithTheTraffic(t *testing.T) {
	r := mustRun(t, meshRetryCap(), Options{Reps: 2, Set: map[string]string{"clients": "500", "failure_ms": "100"}})
	get := func(limit, metric string) float64 {
		s, ok := r.Lookup(map[string]string{"limit": limit}, metric)
		if !ok {
			t.Fatal(limit)
		}
		return s.Mean
	}
	capped, share := get("cap-3", "retries_count"), get("share-20-floor-3-others", "retries_count")
	if share < 20*capped {
		t.Errorf("%v retries under a share, %v under a cap of 3, want at least 20 times as many", share, capped)
	}
	// At most 20 % of the attempts under way are retries, and all take as long.
	if a := get("share-20-floor-3-others", "amplification_ratio"); a < 1.15 || a > 1.25 {
		t.Errorf("a share of 20 %% makes %v attempts per request, want at most 1 ÷ (1 - 0.2)", a)
	}
	if all := get("cap-1024", "amplification_ratio"); all != 3 {
		t.Errorf("a cap that no one reaches makes %v attempts, want 3", all)
	}
}

func TestRetryCapWithOtherAttempts(t *testing.T) {
	r := mustRun(t, meshRetryCap(), Options{Reps: 3, Set: map[string]string{
		"clients": "20", "failure_ms": "0", "limit": "cap-20-attempts-5,cap-0,share-50-floor-2-attempts-2-others", "overhead_ms": "0", "think_ms": "0", "backoff_ms": "0"}})
	if s := r.Stat(0, "retries_count"); s.Mean != 2000 || s.Exact != 2000 {
		t.Errorf("%v retries, closed form %v, want 4 for each of 500", s.Mean, s.Exact)
	}
	if s := r.Stat(1, "overflow_count"); s.Mean != 500 {
		t.Errorf("a cap of 0 refuses %v, want all 500", s.Mean)
	}
}

// A share of the others may be any: with all in flight failing at once, 30 % of
// the others are never more than 30 % of all.
func TestLimitOfAnyShare(t *testing.T) {
	r := mustRun(t, meshRetryCap(), Options{Reps: 3, Set: map[string]string{
		"clients": "500", "failure_ms": "100", "limit": "share-30-floor-3,share-30-floor-3-others"}})
	all, others := r.Stat(0, "retries_count").Mean, r.Stat(1, "retries_count").Mean
	if !(others > 0.9*all && others <= all*1.01) {
		t.Errorf("30 %% of the others grant %v retries, of all %v: want nearly as many", others, all)
	}
}

func TestLimitErrors(t *testing.T) {
	for text, want := range map[string]string{
		"retry-3":                         "no bound on the retries in progress",
		"none":                            "no bound",
		"cap-3-others":                    "a cap with -others",
		"share-20":                        "no floor",
		"cap-x":                           "no whole number",
		"":                                "retry policy",
		"cap-3-attempts-1":                "want 2 to",
		"share-20-floor-3-others-others":  "",
		"share-120-floor-3":               "",
		"cap-99999999999999999999999999":  "",
		"cap-3-attempts-99999":            "want 2 to",
		"share-20-floor-3,share-20-floor": "",
	} {
		_, err := NewPlan(meshRetryCap(), Options{Set: map[string]string{"limit": text}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}
