package plots

import (
	"fmt"
	"testing"
)

func timeoutRow(law, cv, timeout string, held, needless float64) string {
	return fmt.Sprintf("law=%s cv=%s timeout=%s attempts=3 error_ratio=0.01 | stalled_held_s_mean=%v needless_ratio_mean=%v needless_ratio_ci95_lo=%v needless_ratio_ci95_hi=%v",
		law, cv, timeout, held, needless, needless, needless)
}

func TestTimeoutChoiceChart(t *testing.T) {
	d := drawn(t, "timeout-choice", "Against three times the mean, P99 and a margin make needless retries 8 to 10 times rarer, and hold 2 to 4 times the threads when nothing answers",
		summaryOf(t, "timeout-choice",
			timeoutRow("lognormal", "1", "mean-3", 0.9, 0.04), timeoutRow("lognormal", "1", "p99-plus-20", 1.8, 0.005),
			timeoutRow("lognormal", "4", "mean-3", 0.9, 0.07), timeoutRow("lognormal", "4", "p99-plus-20", 3.6, 0.007),
			timeoutRow("quantiles", "1", "p99.9", 3, 0)))
	if len(d) != 1 || len(d[0].Figure.Panels) != 2 {
		t.Fatalf("%d drawings, want one of 2 panels: nothing is needless in the third", len(d))
	}
	drawn(t, "timeout-choice", "A longer timeout gives up less needlessly and holds threads longer when nothing answers",
		summaryOf(t, "timeout-choice", timeoutRow("exponential", "1", "p90", 0.7, 0.1)))
}
