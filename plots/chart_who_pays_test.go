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
