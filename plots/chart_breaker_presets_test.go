package plots

import "testing"

const presetKeys = "experiment breaker settings window_s window_calls minimum failure_pct open_s probes rate_rps"

func TestBreakerPresetsChart(t *testing.T) {
	keys := presetKeys + " t4b_failure_pct hours baseline_error_ratio glitch_s glitch_error_ratio outage_s observe_s"
	header := keys + " | n false_trips_count_mean false_trips_count_sd false_trips_count_ci95_lo false_trips_count_ci95_hi detection_delay_s_mean undetected_count bad_calls_count_mean good_refused_ratio_mean recovery_s_mean unrecovered_count"
	row := func(name, settings, values string) string {
		return "x " + name + " " + settings + " 10 20 20 50 5 1 50 20 6 0.02 5 0.3 60 120 " + values
	}
	summary := tableOf(t, "breaker-presets_summary", header,
		row("count-window", "defaults", "4 15 1 14 16 0.18 0 10 0.003 0.16 0"),
		row("count-window", "t4b", "4 331 9 320 340 0.06 0 4 - - -"),
		row("time-window", "defaults", "4 0 0 0 0 4.98 0 250 0 1.2 0"),
		row("time-window", "t4b", "4 0.25 0.5 0 1 1.98 0 100 - - -"),
		row("buckets", "defaults", "4 0 0 0 0 4.7 0 240 0 1.2 0"),
		row("buckets", "t4b", "4 1.5 1 0 3 1.9 0 95 - - -"),
		row("throttle", "defaults", "4 - - - - - 4 3000 0 50 0"),
		row("throttle", "t4b", "4 - - - - - - - - - -"),
	)
	phase := func(name, settings, ms, delay string) string {
		return row(name, settings, "0 "+ms+" "+delay)
	}
	phases := tableOf(t, "breaker-presets_phases", keys+" replication phase_ms | detection_delay_s",
		phase("count-window", "defaults", "0", "0.18"), phase("count-window", "defaults", "500", "0.18"),
		phase("count-window", "t4b", "0", "0.06"), phase("count-window", "t4b", "500", "0.06"),
		phase("time-window", "defaults", "0", "4.98"), phase("time-window", "defaults", "500", "4.98"),
		phase("time-window", "t4b", "0", "1.98"), phase("time-window", "t4b", "500", "1.98"),
		phase("buckets", "defaults", "0", "4.98"), phase("buckets", "defaults", "500", "4.5"),
		phase("buckets", "t4b", "0", "1.98"), phase("buckets", "t4b", "500", "1.8"),
		phase("throttle", "defaults", "0", "-"), phase("throttle", "defaults", "500", "-"),
	)
	d := mustDraw(t, "breaker-presets", "With their own defaults breakers notice an outage after 0.18 s (count-window) to 4.98 s (time-window); throttle lets some or all outages pass", 2, summary, phases)
	if got, want := d[1].Figure.Title, "A window of 10 s at 20\u00a0%: 0.25 false trips in 6 h if it is exact, 1.5 in the buckets of libraries"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	if n := len(d[1].Figure.Panels[0].Marks); n != 2 {
		t.Errorf("%d curves in t4b, want the two near the exact window", n)
	}
	if n := len(d[1].Figure.Panels[1].Y.Rows); n != 3 {
		t.Errorf("%d rows in t4b, want 3: a throttle has no such settings", n)
	}
}

func TestLateAnswersChart(t *testing.T) {
	keys := presetKeys + " scenario fast_s outage_s hang_s observe_s"
	row := func(name, scenario, rest string) string {
		return "x " + name + " common 10 20 20 50 5 1 20 " + scenario + " 0.05 60 12 120 " + rest
	}
	summary := tableOf(t, "late-answers_summary", keys+" | late_effect_ratio_mean wrong_closings_count_mean late_reopenings_count_mean recovery_s_mean unrecovered_count unnoticed_ratio_mean",
		row("a", "slow-success", "0 0 0 1 0 0"), row("b", "slow-success", "0.7 0.95 0 2 0 0"),
		row("a", "late-failure", "0 0 0 3 0 0"), row("b", "late-failure", "0 0 0 0 0 1"))
	states := tableOf(t, "late-answers_states", keys+" replication what | from_s to_s changes_count",
		row("a", "slow-success", "0 closed -130 0.5 -"), row("a", "slow-success", "0 open 0.5 61 -"), row("a", "slow-success", "0 late-success 3 3 0"),
		row("b", "slow-success", "0 open 5 64 -"), row("b", "slow-success", "0 late-success 7 7 1"),
		row("a", "late-failure", "0 closed -130 140 -"), row("b", "late-failure", "0 closed -130 140 -"))
	d := mustDraw(t, "late-answers", "Breakers that late answers mislead: 1 of 2 close in the middle of an outage (most: b, 0.95 per outage); 0 of 2 open again after it", 1, summary, states)
	if n := len(d[0].Figure.Panels); n != 2 {
		t.Errorf("%d panels, want 2", n)
	}
}
