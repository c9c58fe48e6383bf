package experiments

import (
	"strings"
	"testing"
)

// Every row of the breaker-window tables has an experiment behind it.
func TestVerifyCoversTheBreakerWindows(t *testing.T) {
	covered := map[[3]string]bool{}
	for k := range closedForms() {
		covered[k] = true
	}
	for _, v := range verifyRuns {
		p := mustPlan(t, v.experiment(), v.options)
		for _, c := range p.Cells {
			for _, m := range p.Experiment.Metrics {
				table, name, metric := p.Experiment.Article(c, m.Name)
				covered[[3]string{table, name, metric}] = true
			}
		}
	}
	rows := 0
	for _, e := range ExpectedRows() {
		if strings.HasPrefix(e.Table, "T4") {
			rows++
			if !covered[e.key()] {
				t.Errorf("%s, %s, %s: nothing measures it", e.Table, e.Case, e.Metric)
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows of tables T4, want at least 50: is expected.csv whole?", rows)
	}
}

func TestWithin(t *testing.T) {
	inf := parseExpected("never")
	for _, c := range []struct {
		low, high string
		v         float64
		want      bool
	}{
		{"1.8", "1.8", 1.8, true},
		{"1.8", "1.8", 1.8 + 1e-8, false},
		{"1.8", "1.8", 1.8 + 1e-12, true},
		{"27.74", "32.06", 29.9, true},
		{"27.74", "32.06", 32.1, false},
		{"never", "never", inf, true},
		{"never", "never", 5, false},
		{"1", "2", inf, false},
	} {
		if got := within(c.v, Expected{Low: c.low, High: c.high}); got != c.want {
			t.Errorf("%v in [%s, %s]: %v, want %v", c.v, c.low, c.high, got, c.want)
		}
	}
}
