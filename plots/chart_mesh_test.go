package plots

import (
	"io"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// summaryOf makes a table of rows as text, "key=a key=b | metric=1 metric=2":
// the columns are those of the first row, and a metric is a mean unless its
// name says more.
func summaryOf(t *testing.T, name string, rows ...string) *table.Table {
	t.Helper()
	var out *table.Table
	for _, row := range rows {
		left, right, _ := strings.Cut(row, " | ")
		keys, cells := []table.Column{{Name: "experiment"}}, []string{name}
		for f := range strings.FieldsSeq(left) {
			k, v, _ := strings.Cut(f, "=")
			keys, cells = append(keys, table.Column{Name: k}), append(cells, v)
		}
		var columns []table.Column
		var values []float64
		for f := range strings.FieldsSeq(right) {
			k, v, _ := strings.Cut(f, "=")
			columns, values = append(columns, table.Column{Name: k}), append(values, number(v))
		}
		if out == nil {
			out = table.New(name+"_summary", keys, columns)
		}
		out.Append(cells, values...)
	}
	return out
}

// drawn draws a chart and checks the title of its first figure and that every
// figure can be written.
func drawn(t *testing.T, name, title string, tables ...*table.Table) []Drawing {
	t.Helper()
	drawings, err := Draw(name, tables, "note")
	if err != nil {
		t.Fatal(err)
	}
	if got := drawings[0].Figure.Title; got != title {
		t.Errorf("%s: title %q, want %q", name, got, title)
	}
	for _, d := range drawings {
		if err := d.Figure.Write(io.Discard, "svg"); err != nil {
			t.Errorf("%s%s: %v", name, d.Suffix, err)
		}
	}
	return drawings
}

func TestMeshRetriesChart(t *testing.T) {
	d := drawn(t, "mesh-retries", "Retries multiply: 2 of the application over 2 of its sidecar make 9 attempts per request when 100 % of them fail, 2 when 50 % do",
		summaryOf(t, "mesh-retries",
			"failure_ratio=0.5 app_retries=0 mesh_retries=2 | amplification_ratio_mean=1.75 success_ratio_mean=0.875 amplification_ratio_article=1.79 success_ratio_article=0.865",
			"failure_ratio=0.5 app_retries=2 mesh_retries=0 | amplification_ratio_mean=1.75 success_ratio_mean=0.875 amplification_ratio_article=1.76 success_ratio_article=0.855",
			"failure_ratio=0.5 app_retries=2 mesh_retries=2 | amplification_ratio_mean=2 success_ratio_mean=0.998 amplification_ratio_article= success_ratio_article=",
			"failure_ratio=1 app_retries=2 mesh_retries=2 | amplification_ratio_mean=9 success_ratio_mean=0 amplification_ratio_article=9 success_ratio_article=0"))
	var labels []string
	for _, m := range d[0].Figure.Panels[0].Marks {
		if l, ok := m.(Line); ok {
			labels = append(labels, l.Label)
		}
	}
	if got := strings.Join(labels, "; "); got != "0 + 2 or 2 + 0; 2 + 2" {
		t.Errorf("lines %q, want one for each product", got)
	}
	drawn(t, "mesh-retries", "Retries multiply: 1 of the application over 0 of its sidecar make 1.5 attempts per request when 50 % of them fail",
		summaryOf(t, "mesh-retries", "failure_ratio=0.5 app_retries=1 mesh_retries=0 | amplification_ratio_mean=1.5 success_ratio_mean=0.75"))
}

func TestMeshChainChart(t *testing.T) {
	summary := summaryOf(t, "mesh-chain",
		"retrying=client retries=2 services=2 requests=50 | last_calls_count_article=150",
		"retrying=applications retries=2 services=2 requests=50 | last_calls_count_article=450")
	hops := summaryOf(t, "mesh-chain",
		"retrying=client retries=2 services=2 requests=50 service=A | amplification_ratio=3",
		"retrying=client retries=2 services=2 requests=50 service=B | amplification_ratio=3",
		"retrying=applications retries=2 services=2 requests=50 service=A | amplification_ratio=3",
		"retrying=applications retries=2 services=2 requests=50 service=B | amplification_ratio=9")
	d := drawn(t, "mesh-chain", "2 retries each: applications make 9 calls of one request at the end of a dead chain, the client alone 3", summary, hops)
	var ref Reference
	for _, m := range d[0].Figure.Panels[0].Marks {
		if r, ok := m.(Reference); ok {
			ref = r
		}
	}
	if len(ref.Y) != 2 || ref.Y[0] != 3 || ref.Y[1] != 9 || ref.X[0] != 1 {
		t.Errorf("article's values %v at %v, want 3 and 9 at the last service", ref.Y, ref.X)
	}
	if _, err := Draw("mesh-chain", []*table.Table{summary}, ""); err == nil {
		t.Error("no error without the calls of each hop")
	}
}

func TestMeshRetryCapChart(t *testing.T) {
	row := func(limit, clients, metrics string) string {
		return "limit=" + limit + " failure_ms=100 clients=" + clients + " requests_per_client=25 | " + metrics
	}
	d := drawn(t, "mesh-retry-cap", "A fixed cap on concurrent retries does not grow with the traffic, a share does: 1.24 against 1.25 attempts per request with 20 clients, 1.01 against 1.22 with 500",
		summaryOf(t, "mesh-retry-cap",
			row("cap-3", "20", "amplification_ratio_mean=1.24 overflow_count_mean=440 retries_count_article=122"),
			row("cap-3", "500", "amplification_ratio_mean=1.01 overflow_count_mean=12446 retries_count_article="),
			row("share-20-floor-3", "20", "amplification_ratio_mean=1.25 overflow_count_mean=438 retries_count_article=124"),
			row("share-20-floor-3", "500", "amplification_ratio_mean=1.22 overflow_count_mean=11193 retries_count_article=")))
	p := d[0].Figure.Panels
	if len(p) != 2 || p[0].Columns[0].Cells[0] != "88 %" {
		t.Errorf("%d panels, first cell %q; want 2 and 440 of 500", len(p), p[0].Columns[0].Cells[0])
	}
	drawn(t, "mesh-retry-cap", "A limit of cap-3 on concurrent retries lets 1.24 attempts per request through",
		summaryOf(t, "mesh-retry-cap", row("cap-3", "20", "amplification_ratio_mean=1.24 overflow_count_mean=440")))
}

func TestMeshWritesChart(t *testing.T) {
	row := func(on, dedup, metrics string) string {
		return "retry_on=" + on + " dedup=" + dedup + " retries=2 failing_attempts=1 requests=100 | " + metrics
	}
	drawn(t, "mesh-writes", "A proxy that retries on 5xx does 200 writes for 100 requests, and the client sees 100 succeed",
		summaryOf(t, "mesh-writes",
			row("5xx", "off", "writes_count_mean=200 client_200_count_mean=100 writes_count_article=200"),
			row("5xx", "on", "writes_count_mean=100 client_200_count_mean=100 writes_count_article=")))
	drawn(t, "mesh-writes", "No retry repeats a write: 100 are done of 100",
		summaryOf(t, "mesh-writes", row("connect-failure", "off", "writes_count_mean=100 client_200_count_mean=0")))
}

func TestMeshTimeoutsChart(t *testing.T) {
	row := func(setting, cancel, metrics string) string {
		return "setting=" + setting + " cancel=" + cancel + " clients=4 requests=20 service_s=2 | " + metrics
	}
	off := row("client-retries", "off", "max_in_service_count_mean=8 abandoned_s_mean=120 max_in_service_count_article=8")
	on := row("client-retries", "on", "max_in_service_count_mean=4 abandoned_s_mean=60 max_in_service_count_article=")
	drawn(t, "mesh-timeouts", "A timeout does not stop the work: 4 clients keep up to 8 calls in service; cancelling saves 50 % of the work", summaryOf(t, "mesh-timeouts", off, on))
	drawn(t, "mesh-timeouts", "A timeout does not stop the work: 4 clients keep up to 8 calls in service", summaryOf(t, "mesh-timeouts", off))
	drawn(t, "mesh-timeouts", "A backend that stops with its callers serves at most 4 calls of 4 clients at a time", summaryOf(t, "mesh-timeouts", on))
}

func TestDoubleRetryChart(t *testing.T) {
	row := func(mesh, failure, a, metrics string) string {
		return "mesh=" + mesh + " failure=" + failure + " app_retries=" + a + " failure_ratio=1 service_ms=5 | " + metrics
	}
	d := drawn(t, "double-retry", "Where 100 % of the attempts fail because no connection is made, an application with 2 retries makes 3 attempts per request with none, 9 with istio",
		summaryOf(t, "double-retry",
			row("none", "connect-failure", "0", "amplification_ratio_mean=1 latency_s_mean=0.005"),
			row("none", "connect-failure", "2", "amplification_ratio_mean=3 latency_s_mean=0.015"),
			row("none", "503", "0", "amplification_ratio_mean=1 latency_s_mean=0.005"),
			row("none", "503", "2", "amplification_ratio_mean=3 latency_s_mean=0.015"),
			row("istio", "connect-failure", "0", "amplification_ratio_mean=3 latency_s_mean=0.05"),
			row("istio", "connect-failure", "2", "amplification_ratio_mean=9 latency_s_mean=0.15"),
			row("istio", "503", "0", "amplification_ratio_mean=1 latency_s_mean=0.005"),
			row("istio", "503", "2", "amplification_ratio_mean=3 latency_s_mean=0.015")))
	if len(d) != 2 || d[0].Suffix != "" || d[1].Suffix != "_failure-503" || len(d[0].Figure.Panels) != 4 {
		t.Errorf("%d figures, %d panels in the first; want 2 and 4", len(d), len(d[0].Figure.Panels))
	}
}

func TestCancellationChart(t *testing.T) {
	row := func(cancel, rate, goodput, workers string) string {
		return "cancel=" + cancel + " timeout_s=0.1 attempts=3 rate_rps=" + rate + " workers=" + workers +
			" service_s=0.1 service_law=exponential | goodput_rps_mean=" + goodput
	}
	drawn(t, "cancellation", "At 160 requests/s (timeout 0.1 s, 3 attempts), a service that works on for callers who have gone answers 2/s in time, one that stops 146/s",
		summaryOf(t, "cancellation", row("off", "40", "38", "16"), row("off", "160", "2", "16"), row("on", "40", "38", "16"), row("on", "160", "146", "16")))
	interval := func(cancel, goodput, lo, hi string) string {
		return row(cancel, "40", goodput, "16") + " goodput_rps_ci95_lo=" + lo + " goodput_rps_ci95_hi=" + hi
	}
	drawn(t, "cancellation", "At none of these loads do more requests get their answer in time from a service that stops for callers who have gone: the intervals overlap",
		summaryOf(t, "cancellation", interval("off", "38", "37", "39"), interval("on", "38.5", "37.5", "39.5")))
	drawn(t, "cancellation", "With cancel on, 38 of 40 requests per second are answered in time",
		summaryOf(t, "cancellation", row("on", "40", "38", "0")))
}
