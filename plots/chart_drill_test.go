package plots

import (
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

func drillDetail(t *testing.T, name string, rows ...string) *table.Table {
	const keys = " delay=uniform late_ratio=0.184 queue_s=0.9378 guard=budget-10-success rate_rps=500 timeout_s=0.8 delay_s=2 | "
	for i, r := range rows {
		left, right, _ := strings.Cut(r, " | ")
		rows[i] = left + keys + right
	}
	out := summaryOf(t, "drill", rows...)
	out.Name = name
	return out
}

// drillFigures are the columns of a setting with plain retries and the guard.
func drillFigures(plain, plainGood, guarded, good string) string {
	text := ""
	for _, f := range [][3]string{{"plain_rps", plain, "1500"}, {"plain_success_ratio", plainGood, "0.002"}, {"guarded_rps", guarded, "545"}, {"guarded_success_ratio", good, "0.885"}} {
		text += " " + f[0] + "_mean=" + f[1] + " " + f[0] + "_ci95_lo=" + f[1] + " " + f[0] + "_ci95_hi=" + f[1] + " " + f[0] + "_article=" + f[2]
	}
	return text
}

func TestDrillChart(t *testing.T) {
	summary := summaryOf(t, "drill", "scene=stalled gateway_retries=0 retries=2 | calls_at_b_per_request_count_mean=3 calls_at_b_per_request_count_ci95_lo=3 calls_at_b_per_request_count_ci95_hi=3 calls_at_b_per_request_count_article=NaN",
		"scene=stalled gateway_retries=2 retries=2 | calls_at_b_per_request_count_mean=9 calls_at_b_per_request_count_ci95_lo=9 calls_at_b_per_request_count_ci95_hi=9 calls_at_b_per_request_count_article=9")
	drawn(t, "drill", "Retries of gateway and A multiply: 9 calls at a stalled B for each request", summary)

	search := drillDetail(t, "drill_search",
		"step=grid capacity_rps=560 | distance_ratio=0.01"+drillFigures("1500", "0.002", "545", "0.885"),
		"step=again capacity_rps=580 | distance_ratio=0.1"+drillFigures("1501", "0.0016", "545.2", "0.884"),
		"step=again capacity_rps=590 | distance_ratio=2"+drillFigures("900", "0.4", "545.2", "0.884"))
	line := drillDetail(t, "drill_capacity",
		"capacity_rps=500 | distance_ratio=1"+drillFigures("1500", "0", "540", "0.2"),
		"capacity_rps=700 | distance_ratio=1"+drillFigures("610", "0.99", "546", "0.886"))
	d := drawn(t, "drill", "One system: plain retries bring B 1,501 calls/s and 0.16\u00a0% success, the guard 545 calls/s and 88.4\u00a0%", summary, search, line)
	if len(d) != 1 || len(d[0].Figure.Panels) != 2 {
		t.Fatalf("%d drawings", len(d))
	}
}
