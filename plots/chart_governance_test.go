package plots

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// A tableOf builds a table from rows of texts: keys, then numbers, under a
// header whose key columns end at a bar.
func tableOf(t *testing.T, name, header string, rows ...string) *table.Table {
	t.Helper()
	k, v, _ := strings.Cut(header, "|")
	columns := func(text string) (c []table.Column) {
		for name := range strings.FieldsSeq(text) {
			c = append(c, table.Column{Name: name})
		}
		return c
	}
	out := table.New(name, columns(k), columns(v))
	for _, row := range rows {
		cells := strings.Fields(row)
		n := len(out.Keys)
		if len(cells) != n+len(out.Values) {
			t.Fatalf("row %q has %d cells, want %d", row, len(cells), n+len(out.Values))
		}
		var values []float64
		for _, c := range cells[n:] {
			values = append(values, number(c))
		}
		out.Append(cells[:n], values...)
	}
	return out
}

// mustDraw draws a chart, checks the title and that every figure can be written.
func mustDraw(t *testing.T, chart string, title string, count int, tables ...*table.Table) []Drawing {
	t.Helper()
	drawings, err := Draw(chart, tables, "a note")
	if err != nil || len(drawings) != count {
		t.Fatalf("%d drawings, error %v, want %d", len(drawings), err, count)
	}
	if f := drawings[0].Figure; f.Title != title {
		t.Errorf("title %q, want %q", f.Title, title)
	}
	for _, d := range drawings {
		if err := d.Figure.Write(&bytes.Buffer{}, "svg"); err != nil {
			t.Errorf("%s: %v", d.Suffix, err)
		}
	}
	return drawings
}

func TestFanOutChart(t *testing.T) {
	header := "experiment retrying layers fan_out failure_ratio attempts requests | amplification_ratio_mean amplification_ratio_ci95_lo amplification_ratio_ci95_hi amplification_ratio_article success_ratio_mean success_ratio_ci95_lo success_ratio_ci95_hi"
	one := tableOf(t, "fan-out_summary", header,
		"fan-out every 1 1 1 3 50 3 3 3 3 0 0 0",
		"fan-out every 3 1 1 3 50 27 27 27 27 0 0 0",
		"fan-out nearest-user 1 1 1 3 50 3 3 3 - 0 0 0",
		"fan-out nearest-user 3 1 1 3 50 3 3 3 - 0 0 0",
		"fan-out every 3 1 0.5 3 50 2 1.9 2.1 - 1 1 1")
	d := mustDraw(t, "fan-out", "3 layers of 3 attempts make 27 calls of one request; retries in the layer nearest the user alone 3", 1, one)
	if n := len(d[0].Figure.Panels); n != 4 {
		t.Errorf("%d panels, want two for each share of failures", n)
	}
	mustDraw(t, "fan-out", "One layer of 3 attempts and 2 copies make 6 calls of one request", 1,
		tableOf(t, "fan-out_summary", header, "fan-out nearest-user 1 2 1 3 50 6 6 6 - 0 0 0"))
}

func TestTimeoutOrderChart(t *testing.T) {
	header := "experiment timeouts cancel work_s queue_s | attempts_count_mean copies_count_mean held_for_nothing_s_mean"
	spans := tableOf(t, "timeout-order_spans", "experiment timeouts cancel work_s queue_s side attempt | from_s good_until_s to_s",
		"x 5/6/20x2 off 60 0 client 1 0 5 5", "x 5/6/20x2 off 60 0 server 1 0 5 6", "x 10/5/20x2-silent off 60 0 client 1 0 5 10", "x 5/6/20x2 on 60 0 client 1 0 5 5")
	d := mustDraw(t, "timeout-order", "5/6/20x2: 2 copies of the same work at once; 10/5/20x2-silent: a connection held 10 s for nothing", 2,
		tableOf(t, "timeout-order_summary", header, "x 5/6/20x2 off 60 0 2 2 0", "x 10/5/20x2-silent off 60 0 2 1 10", "x 5/6/20x2 on 60 0 2 1 0"), spans)
	if title := d[1].Figure.Title; title != "Up to 2 attempts, never two copies of the same work at once" {
		t.Errorf("title %q of a server that stops", title)
	}
	if bars := d[0].Figure.Panels[0].Marks[0].(Bars); len(bars) != 3 {
		t.Errorf("%d bars, want one for the client and two for the server", len(bars))
	}
}

func TestJitterChart(t *testing.T) {
	header := "experiment backoff spread_s attempts callers rate_rps workers service_s | peak_count_mean peak_to_mean_ratio_mean echo_ratio_mean overload_s_mean callers_success_ratio_mean"
	series := tableOf(t, "jitter_series", "experiment backoff spread_s attempts callers rate_rps workers service_s replication t_s | arrivals_count",
		"x fixed-100ms 0 10 500 500 10 0.01 0 0.1 500", "x fixed-100ms 0 10 500 500 10 0.01 0 0.11 3",
		"x full-120ms 0 10 500 500 10 0.01 0 0.1 50", "x full-120ms 0 10 500 500 10 0.01 0 0.11 30")
	d := mustDraw(t, "jitter", "Fixed-100ms: 500 arrivals in 10 ms, again and again (autocorrelation 0.9); full-120ms: 50", 1,
		tableOf(t, "jitter_summary", header, "x fixed-100ms 0 10 500 500 10 0.01 500 12 0.9 1 0.4", "x full-120ms 0 10 500 500 10 0.01 50 3 0.3 0.6 1"), series)
	f := d[0].Figure
	if len(f.Panels) != 2 || !f.ShareY {
		t.Errorf("%d panels, shared scale %v, want one for each back-off on one scale", len(f.Panels), f.ShareY)
	}
	if rule := f.Panels[0].Marks[0].(Rule); rule.At != 10 {
		t.Errorf("capacity %v in 10 ms, want 10", rule.At)
	}
}

func TestStormChart(t *testing.T) {
	keys := "experiment failure topology capacity_ratio timeout_s failure_ratio stall_s rate_rps claim_ratio"
	series := tableOf(t, "storm_series", keys+" replication t_s | growth_ratio",
		"x hang 4 1.2 3 0.003 3.6 500 10 0 0 1", "x hang 4 1.2 3 0.003 3.6 500 10 0 3 2", "x random 4 2 3 0.003 3.6 500 10 0 0 0", "x random 4 2 3 0.003 3.6 500 10 0 1 1",
		"x random 4*3 2 3 0.003 3.6 500 10 0 0 1", "x random 4*3 2 3 0.003 3.6 500 10 0 1 1.1")
	d := mustDraw(t, "storm", "Mean growth of the load where none is answered: up to 4×; 0.3\u00a0% fail at random: up to 1.003×", 1,
		tableOf(t, "storm_summary", keys+" | growth_ratio_mean mean_growth_ratio_mean", "x hang 4 1.2 3 0.003 3.6 500 10 4 4", "x random 4 2 3 0.003 3.6 500 10 1.1 1.003"), series)
	if n := len(d[0].Figure.Panels); n != 2 {
		t.Errorf("%d panels, want 2", n)
	}
}

// Panels of a failure in which nothing grows are one, which names them all.
func TestStormChartJoinsCalmPanels(t *testing.T) {
	keys := "experiment failure topology capacity_ratio timeout_s failure_ratio stall_s rate_rps claim_ratio"
	series := tableOf(t, "storm_series", keys+" replication t_s | growth_ratio",
		"x random 4 1.2 3 0.003 3.6 500 10 0 0 1", "x random 4 1.2 3 0.003 3.6 500 10 0 1 1.1", "x random 4 2 3 0.003 3.6 500 10 0 0 1", "x random 4 2 3 0.003 3.6 500 10 0 1 0.9",
		"x stall 4 1.2 3 0.003 3.6 500 10 0 0 1", "x stall 4 1.2 3 0.003 3.6 500 10 0 1 4", "x stall 4 2 3 0.003 3.6 500 10 0 0 1", "x stall 4 2 3 0.003 3.6 500 10 0 1 1.1")
	d := mustDraw(t, "storm", "Mean growth of the load where 0.3\u00a0% fail at random: up to 1.003×; all stand still for 3.6 s: up to 3.9×", 1,
		tableOf(t, "storm_summary", keys+" | mean_growth_ratio_mean", "x random 4 1.2 3 0.003 3.6 500 10 1.003", "x random 4 2 3 0.003 3.6 500 10 1.002",
			"x stall 4 1.2 3 0.003 3.6 500 10 3.9", "x stall 4 2 3 0.003 3.6 500 10 1"), series)
	var titles []string
	for _, p := range d[0].Figure.Panels {
		titles = append(titles, p.Title)
	}
	if got := strings.Join(titles, "; "); got != "Random, capacity 1.2 × load, or 2 ×; Stall, capacity 1.2 × load; Stall, capacity 2 × load" {
		t.Errorf("panels %q", got)
	}
}

func TestHalfOpenChart(t *testing.T) {
	keys := "experiment callee half_open probes open_s breaker rate_rps outage_s ramp_s length_s"
	header := keys + " | n flaps_count_mean flaps_count_ci95_lo flaps_count_ci95_hi flaps_per_hour_mean callee_failed_ratio_mean recovery_s_mean unrecovered_count"
	states := tableOf(t, "half-open_states", keys+" replication state | from_s to_s",
		"x ramp collect-all 1 1 b 100 500 40 600 0 closed 0 30", "x ramp collect-all 1 1 b 100 500 40 600 0 open 30 31", "x ramp collect-all 1 1 b 100 500 40 600 0 closed 31 600")
	d := mustDraw(t, "half-open", "One that recovers slowly: 60 flaps with 1 probe and 1 s, 6 with 10 probes and 30 s", 2,
		tableOf(t, "half-open_summary", header, "x ramp collect-all 1 1 b 100 500 40 600 5 60 50 70 - 0.1 - 5", "x ramp collect-all 10 30 b 100 500 40 600 5 6 5 7 - 0.1 4 0"), states)
	recovery := d[0].Figure.Panels[1]
	if recovery.Title != "Recovery" || recovery.Y.Never == "" {
		t.Errorf("panel %q, never %q, want the recovery with what never recovered", recovery.Title, recovery.Y.Never)
	}
	if title := d[1].Figure.Title; title != "1 probe, 1 s before a callee that ramp: the breaker closes 1 times in 600 s" {
		t.Errorf("title %q", title)
	}
}

// A table without any usable row is an error or no drawing, never a panic.
func TestGovernanceChartsWithoutDetails(t *testing.T) {
	for _, chart := range []string{"timeout-order", "jitter", "storm"} {
		if _, err := Draw(chart, []*table.Table{table.New("x", []table.Column{{Name: "experiment"}}, nil)}, ""); err == nil {
			t.Errorf("%s: no error without its details", chart)
		}
	}
}
