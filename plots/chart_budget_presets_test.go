package plots

import (
	"fmt"
	"testing"
)

func TestBudgetPresetsChart(t *testing.T) {
	const keys = "experiment load budget rate_rps attempts error_ratio burst_error_ratio burst_factor burst_s every_s outage_at_s outage_s"
	const summaryHeader = keys + " | denied_ratio_mean late_retry_ratio_mean first_second_retries_count_mean first_second_retries_count_ci95_lo first_second_retries_count_ci95_hi " +
		"success_ratio_mean success_ratio_ci95_lo success_ratio_ci95_hi trouble_success_ratio_mean trouble_success_ratio_ci95_lo trouble_success_ratio_ci95_hi"
	const seriesHeader = keys + " replication t_s | requests_count retries_count denied_count"
	const rest = " 100 4 0.05 0.3 10 2 20 60 60 "
	summary := tableOf(t, "budget-presets_summary", summaryHeader,
		"budget-presets steady unlimited"+rest+"0 - - - - 1 1 1 - - -",
		"budget-presets steady none"+rest+"1 - - - - 0.95 0.95 0.95 - - -",
		"budget-presets steady aws"+rest+"0 - - - - 1 1 1 - - -",
		"budget-presets steady tower"+rest+"0.02 - - - - 0.999 0.998 1 - - -",
		"budget-presets bursty unlimited"+rest+"0 - 350 340 360 0.997 0.99 1 0.99 0.98 1",
		"budget-presets bursty aws"+rest+"0.3 - 210 200 220 0.9 0.9 0.9 0.8 0.8 0.8",
		"budget-presets bursty tower"+rest+"0.3 - 210 200 220 0.9 0.9 0.9 0.92 0.92 0.92",
		"budget-presets outage unlimited"+rest+"0 3 209 - - 0.6 - - 0 - -",
		"budget-presets outage none"+rest+"1 0 0 - - 0.6 - - 0 - -",
		"budget-presets outage aws"+rest+"1 0 35 - - 0.6 - - 0 - -",
		"budget-presets outage tower"+rest+"1 0.36 189 - - 0.6 - - 0 - -")
	series := tableOf(t, "budget-presets_series", seriesHeader,
		"budget-presets outage unlimited"+rest+"0 59 100 2 0", "budget-presets outage unlimited"+rest+"0 60 100 209 0", "budget-presets outage unlimited"+rest+"0 61 100 300 0",
		"budget-presets outage aws"+rest+"0 59 100 2 0", "budget-presets outage aws"+rest+"0 60 100 35 60", "budget-presets outage aws"+rest+"0 61 100 0 100",
		"budget-presets outage tower"+rest+"0 59 100 2 0", "budget-presets outage tower"+rest+"0 60 100 189 20", "budget-presets outage tower"+rest+"0 61 100 30 100")
	d := mustDraw(t, "budget-presets", "1 of 2 budgets still retry in the second half of an outage: 0.36 (tower) retries per request; silent: aws", 2, summary, series)
	if n := len(d[0].Figure.Panels); n != 2 || d[0].Figure.Panels[1].Title != "tower: 189 → 36/s" {
		t.Errorf("%d panels, the last %q", n, d[0].Figure.Panels[n-1].Title)
	}
	const want = "Under steady errors 1 of 2 budgets refuse 0.1\u00a0% of the retries or more, tower most, 2\u00a0%; in bursts from 8\u00a0% (tower) to 20\u00a0% (aws) of the requests fail"
	if f := d[1].Figure; f.Title != want || len(f.Panels) != 3 {
		t.Errorf("title %q, %d panels, want %q and 3", f.Title, len(f.Panels), want)
	}

	one := tableOf(t, "budget-presets_summary", summaryHeader, "budget-presets steady none"+rest+"1 - - - - 0.95 0.95 0.95 - - -")
	mustDraw(t, "budget-presets", "What fails without a budget and without retries", 1, one, tableOf(t, "budget-presets_series", seriesHeader))
}

func TestPowersTo(t *testing.T) {
	for _, test := range []struct {
		most float64
		want string
	}{{0, "[]"}, {1, "[0 1]"}, {9, "[0 1]"}, {300, "[0 1 10 100]"}, {1000, "[0 1 10 100 1000]"}, {3e5, "[0 10 1000 100000]"}} {
		if got := fmt.Sprint(powersTo(test.most)); got != test.want {
			t.Errorf("up to %v: %s, want %s", test.most, got, test.want)
		}
	}
}
