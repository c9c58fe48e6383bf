package plots

import (
	"fmt"
	"strings"
	"testing"
)

func payLine(fault, policy string, v ...float64) string {
	row := fmt.Sprintf("fault=%s policy=%s error_ratio=0.5 fault_s=20 rate_rps=300 unrelated_rps=100 threads=200 pool=20 |", fault, policy)
	for i, m := range payMetrics {
		row += fmt.Sprintf(" %s_mean=%v %s_ci95_lo=%v %s_ci95_hi=%v", m.metric, v[i], m.metric, v[i], m.metric, v[i])
	}
	return row
}

func TestWhoPaysChart(t *testing.T) {
	d := drawn(t, "who-pays",
		"Retries bring users from 50.0\u00a0% to 87.0\u00a0% success; the caller's threads go from 12 to 61, the callee's attempts from 300/s to 529/s, failed unrelated work from 0.0\u00a0% to 1.5\u00a0%",
		summaryOf(t, "who-pays",
			payLine("error", "none", 0.5, 12, 300, 0.15, 0, 0), payLine("error", "retry", 0.87, 61, 529, 0.63, 0, 0.015), payLine("error", "budget", 0.55, 17, 330, 0.3, 0, 0),
			payLine("stall", "none", 0.02, 150, 300, 0.5, 0, 0), payLine("stall", "retry", 0.05, 197, 320, 3.4, 0.6, 0)))
	if len(d) != 2 {
		t.Fatalf("%d drawings, want one for each fault", len(d))
	}
	if title := d[1].Figure.Title; !strings.HasSuffix(title, "requests without a thread from 0.0\u00a0% to 60.0\u00a0%") {
		t.Errorf("title %q", title)
	}
	drawn(t, "who-pays", "What each policy costs while the fault is on, and whom",
		summaryOf(t, "who-pays", payLine("error", "budget-breaker", 0.2, 7, 100, 0.2, 0, 0)))
}

// The title says of which setting it speaks and leaves out what does not change;
// a stalled dependency has no share of failures.
func TestWhoPaysChartNamesWhatMatters(t *testing.T) {
	with := func(line, more string) string { return strings.Replace(line, " |", " "+more+" |", 1) }
	none, retry := payLine("error", "none", 0.9, 12, 300, 0.14, 0, 0), payLine("error", "retry", 0.99, 17, 333, 0.26, 0, 0)
	d := drawn(t, "who-pays", "Retries (attempts 2) bring users from 90.0\u00a0% to 99.0\u00a0% success; the caller's threads go from 12 to 17, the callee's attempts from 300/s to 333/s",
		summaryOf(t, "who-pays", with(none, "attempts=2"), with(retry, "attempts=2"), with(retry, "attempts=5")))
	if rows := d[0].Figure.Panels[0].Y.Rows; strings.Contains(rows[0], "attempts") || !strings.Contains(rows[1], "attempts 2") {
		t.Errorf("rows %q", rows)
	}
	d = drawn(t, "who-pays", "Retries leave users at 0.0\u00a0% success; the caller's threads go from 12 to 145",
		summaryOf(t, "who-pays", strings.Replace(payLine("error", "none", 0, 12, 300, 0.15, 0, 0), "0.5", "1", 1), strings.Replace(payLine("error", "retry", 0, 145, 300, 0.7, 0, 0), "0.5", "1", 1),
			payLine("stall", "none", 0, 150, 300, 0.5, 0, 0), payLine("stall", "retry", 0, 197, 320, 3.4, 0.6, 0)))
	if got := d[len(d)-1].Suffix; strings.Contains(got, "error_ratio") || !strings.Contains(got, "stall") {
		t.Errorf("suffix %q of a stall", got)
	}
}
