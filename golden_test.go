package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Short tables of every experiment, checked by eye when they change.
func TestGoldenSummaries(t *testing.T) {
	for name, args := range map[string][]string{
		"false-trips":     {"-hours", "0.5", "-reps", "3", "-set", "mode=observe,breaker"},
		"detection-delay": nil,
		"slow-calls":      {"-reps", "3"},
		"window-grid":     {"-hours", "0.2", "-reps", "2", "-set", "window=count-20,time-10s,buckets-10s"},

		"breaker-presets": {"-reps", "2", "-hours", "0.5", "-set", "healthy_s=20", "-set", "warmup_s=20", "-set", "observe_s=20"},
		"late-answers":    {"-reps", "2", "-set", "observe_s=20"},
		"budget-presets":  {"-reps", "1", "-set", "outage_at_s=10", "-set", "outage_s=20", "-set", "length_s=40", "-set", "every_s=10"},

		"amplification":          {"-reps", "2", "-set", "failure_ratio=0.2,1", "-set", "policy=none,budget-10,budget-10-float,retry-3"},
		"amplification-timeline": {"-reps", "1", "-set", "trouble=limit,queue"},
		"amplification-layers":   {"-set", "layers=3", "-set", "policy=retry-3,budget-10,budget-10-float"},
		"budget-instances":       {"-reps", "1", "-set", "instances=1,1000"},
		"mesh-retries":           {"-reps", "2", "-set", "failure_ratio=0.5,1"},
		"mesh-chain":             nil,
		"mesh-retry-cap":         {"-reps", "2", "-set", "clients=20"},
		"mesh-writes":            nil,
		"mesh-timeouts":          {"-reps", "1"},
		"double-retry":           {"-reps", "1", "-set", "failure_ratio=0.5"},
		"cancellation":           {"-reps", "1", "-set", "rate_rps=80", "-set", "measure_s=20"},
		"contention":             {"-reps", "2", "-set", "clients=10"},
		"backoff":                {"-reps", "1", "-set", "base_s=1"},
		"budget-breaker":         {"-reps", "1", "-set", "error_ratio=0.5", "-set", "horizon_s=10"},
		"fan-out":                {"-reps", "2", "-set", "requests=20"},
		"timeout-order":          nil,
		"jitter":                 {"-reps", "2", "-set", "spread_s=0", "-set", "horizon_s=3"},
		"storm":                  {"-reps", "1", "-set", "topology=4,4-3", "-set", "rate_rps=50", "-set", "length_s=20", "-set", "capacity_ratio=1.2"},
		"half-open":              {"-reps", "1", "-set", "probes=1,10", "-set", "open_s=5", "-set", "length_s=240"},
		"drill":                  {"-reps", "1", "-set", "delay=uniform", "-set", "late_ratio=0.19", "-set", "capacity_rps=580", "-set", "queue_s=0.9", "-set", "warmup_s=5", "-set", "measure_s=5"},
		"timeout-choice":         {"-reps", "2", "-set", "requests=500", "-set", "cv=2"},
		"who-pays":               {"-reps", "2", "-set", "warmup_s=2", "-set", "fault_s=4"},
		"guards":                 {"-reps", "2", "-set", "budget=counter,window", "-set", "guard=budget-only,budget-first", "-set", "wait_s=0.2", "-set", "outage_at_s=0", "-set", "outage_s=5", "-set", "horizon_s=10"},
		"retry-on":               {"-reps", "2", "-set", "permanent_ratio=0.2", "-set", "transient=503", "-set", "horizon_s=10"},
		"idempotency":            {"-reps", "3", "-set", "intents=300", "-set", "key=operation,gateway", "-set", "lag_s=0,1.5"},
		"delivery":               {"-reps", "2", "-set", "publish_s=60", "-set", "horizon_s=900", "-set", "outage_at_s=20", "-set", "outage_s=0,60"},
		"sync-async":             {"-reps", "2", "-set", "outage_s=5", "-set", "rest_s=40"},
		"metastable":             {"-reps", "1", "-set", "rate_rps=130,275", "-set", "trigger_s=2", "-set", "horizon_s=60"},
	} {
		dir := t.TempDir()
		args = append([]string{"-exp", name, "-out", dir, "-charts", "none", "-quiet"}, args...)
		if _, err := stormglass(t, args...); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, name+"_summary.csv"))
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+"_summary.golden")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			os.WriteFile(golden+".got", got, 0o644)
			t.Errorf("%s: summary differs from %s in %s; see the .got file, rewrite with -update", name, golden, firstDifference(got, want))
		}
	}
}

// firstDifference names line and column where two CSV files part.
func firstDifference(got, want []byte) string {
	a, _ := csv.NewReader(bytes.NewReader(got)).ReadAll()
	b, _ := csv.NewReader(bytes.NewReader(want)).ReadAll()
	for i := range min(len(a), len(b)) {
		for k := range min(len(a[i]), len(b[i])) {
			if a[i][k] != b[i][k] {
				return fmt.Sprintf("line %d, column %s", i+1, a[0][k]) + ": " + a[i][k] + ", want " + b[i][k]
			}
		}
	}
	return "the number of rows or columns"
}
