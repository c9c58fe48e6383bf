package plots

import (
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// idempotencyRow is a row of a summary: metrics of duplicates by cause, all of
// them, merged and lost, in thousandths.
func idempotencyRow(key, defences, record, query, lag, shards, metrics string) string {
	return "key=" + key + " defences=" + defences + " record=" + record + " query=" + query + " lag_s=" + lag + " shards=" + shards +
		" loss_ratio=0.01 crash_ratio=0.02 click_ratio=0.03 device_ratio=0.04 same_ratio=0.05 service_s=0.3 service_law=exponential | " + metrics
}

func idempotencyMetrics(click, device, all, merged, lost, blind string) string {
	return "click_duplicates_ratio_mean=" + click + " device_duplicates_ratio_mean=" + device + " duplicate_effects_ratio_mean=" + all +
		" duplicate_effects_ratio_ci95_lo=" + all + " duplicate_effects_ratio_ci95_hi=" + all + " duplicate_effects_ratio_exact=" + all +
		" merged_intents_ratio_mean=" + merged + " lost_intents_ratio_mean=" + lost +
		" blind_repeats_ratio_mean=" + blind + " blind_repeats_ratio_ci95_lo=" + blind + " blind_repeats_ratio_ci95_hi=" + blind + " blind_repeats_ratio_exact=" + blind
}

func idempotencySummary(t *testing.T) *table.Table {
	m := idempotencyMetrics
	return summaryOf(t, "idempotency",
		idempotencyRow("operation", "none", "after", "none", "0", "1", m("0.03", "0.04", "0.07", "0", "0", "0.01")),
		idempotencyRow("operation", "dedup", "after", "none", "0", "1", m("0.01", "0.04", "0.05", "0", "0", "0.01")),
		idempotencyRow("operation", "dedup", "before", "none", "0", "1", m("0", "0.04", "0.04", "0", "0.02", "0.01")),
		idempotencyRow("operation", "all", "after", "none", "0", "1", m("0", "0.04", "0.04", "0", "0", "0.01")),
		idempotencyRow("operation", "all", "after", "none", "0", "8", m("0.005", "0.04", "0.045", "0", "0", "0.01")),
		idempotencyRow("sdk", "all", "after", "none", "0", "1", m("0.03", "0.04", "0.07", "0", "0", "0.01")),
		idempotencyRow("gateway", "all", "after", "none", "0", "1", m("0", "0", "0", "0.05", "0", "0.01")),
		idempotencyRow("operation", "none", "after", "replica", "0", "1", m("0.03", "0.04", "0.065", "0", "0", "0.0002")),
		idempotencyRow("operation", "none", "after", "replica", "5", "1", m("0.03", "0.04", "0.07", "0", "0", "0.01")),
		idempotencyRow("operation", "none", "after", "primary", "0", "1", m("0.03", "0.04", "0.065", "0", "0", "0.0002")),
		idempotencyRow("operation", "none", "after", "accepted", "0", "1", m("0.03", "0.04", "0.06", "0", "0", "0")))
}

func TestIdempotencyChart(t *testing.T) {
	d := drawn(t, "idempotency", "Behind all three lines a key made at the client SDK lets 70 duplicate effects pass per 1,000 intents, one made at the client operation 40; a hash of the body merges 50",
		idempotencySummary(t))
	if len(d) != 2 || d[0].Suffix != "" || d[1].Suffix != "_query" {
		t.Fatalf("%d drawings, want the defences and the queries", len(d))
	}
	f := d[0].Figure
	var titles []string
	for _, p := range f.Panels {
		titles = append(titles, p.Title)
	}
	if got := strings.Join(titles, "; "); got != "No defence; Dedup table; Dedup table, recorded before; All three lines; All three lines, 8 shards" {
		t.Errorf("panels %s", got)
	}
	bars := f.Panels[2].Marks[0].(Bars)
	if len(bars) != 2 || bars[0].From != 0 || bars[0].To != 40 || bars[1].From != 40 || bars[1].To != 60 {
		t.Errorf("recorded before: bars %v, want 40 duplicates and 20 lost", bars)
	}
	if len(f.Key) != 4 {
		t.Errorf("key %v, want clicks, devices, merged and lost", f.Key)
	}
	q := d[1].Figure
	if want := "Asked on a replica, clients repeat 0.2 accepted submissions per 1,000 intents at a lag of 0 s and 10 at 5 s; 10 without asking, 0.2 on the primary, 0 if it also shows what is accepted"; q.Title != want {
		t.Errorf("title %q, want %q", q.Title, want)
	}
	if n := len(q.Panels[0].Marks); n != 5 {
		t.Errorf("%d marks, want the replica, its closed form and three to compare", n)
	}
}

func TestIdempotencyTitles(t *testing.T) {
	m := idempotencyMetrics
	drawn(t, "idempotency", "Without defence 70 effects are repeated per 1,000 intents, wherever the key is made", summaryOf(t, "idempotency",
		idempotencyRow("operation", "none", "after", "none", "0", "1", m("0.03", "0.04", "0.07", "0", "0", "0")),
		idempotencyRow("server", "none", "after", "none", "0", "1", m("0.03", "0.04", "0.07", "0", "0", "0"))))
	drawn(t, "idempotency", "Behind the unique constraint, 8 shards a hash of the body merges 20 of 1,000 intents and lets 3 duplicate effects pass", summaryOf(t, "idempotency",
		idempotencyRow("gateway", "unique", "after", "none", "0", "8", m("0.003", "0", "0.003", "0.02", "0", "0"))))
	drawn(t, "idempotency", "Behind the dedup table, state machine no effect is repeated", summaryOf(t, "idempotency",
		idempotencyRow("sdk", "dedup+state", "after", "none", "0", "1", m("0", "0", "0", "0", "0", "0"))))
}
