package plots

import (
	"math"
	"testing"

	"github.com/stormglass/stormglass/table"
)

const (
	timelineKeys   = "policy trouble rate_rps limit_rps trouble_start_s trouble_s capacity_rps timeout_s"
	timelineValues = "calls_count_mean calls_count_ci95_lo calls_count_ci95_hi calls_count_article success_ratio_mean success_ratio_article"
)

func timelineTables(trouble string, success float64) (summary, series *table.Table) {
	nan := math.NaN()
	var seconds, steps [][]any
	for _, p := range []struct {
		policy string
		calls  float64
	}{{"none", 120}, {"retry-3", 242}} {
		key := func(last ...any) []any {
			return append([]any{p.policy, trouble, "120", "58", "1", "1", "240", "0.5"}, last...)
		}
		seconds = append(seconds,
			key("0", 120.0, nan, nan, nan, 1.0, nan),
			key("1", p.calls, nan, nan, 254.0, 0.49, 0.48),
			key("3", 120.0, nan, nan, nan, success, nan))
		for _, at := range []string{"0", "1", "2", "3"} {
			steps = append(steps, key("0", at, p.calls))
		}
		success = 1
	}
	return retryTable(timelineKeys+" second", timelineValues, seconds...), retryTable(timelineKeys+" replication t_s", "calls_rps", steps...)
}

func TestTimelineChart(t *testing.T) {
	summary, series := timelineTables("limit", 1)
	f := drawOne(t, "amplification-timeline", summary, series)
	wantTitle(t, f, "In its busiest second the server gets 120 calls with no retry, 242 with unlimited 3; the worst one answers 49 % of the requests with any of them")
	spans, lines := 0, 0
	for _, m := range f.Panels[0].Marks {
		switch m := m.(type) {
		case Spans:
			spans++
			if m[0] != (Span{1, 2, "serves 58 calls/s and rejects the rest at once"}) {
				t.Errorf("span %+v", m[0])
			}
		case Line:
			lines++
			if len(m.X) != 4 {
				t.Errorf("%s has %d points, want 4", m.Label, len(m.X))
			}
		}
	}
	if spans != 1 || lines != 2 {
		t.Errorf("%d spans and %d lines, want 1 and 2", spans, lines)
	}
	for _, m := range f.Panels[1].Marks {
		if l, ok := m.(Line); ok && (len(l.X) != 7 || !math.IsNaN(l.Y[4])) {
			t.Errorf("success %v, want a gap where a second is left out", l.Y)
		}
	}
}

func TestTimelineChartOfOtherTroubles(t *testing.T) {
	for trouble, want := range map[string]string{"queue": "serves 58 instead of 240 calls/s", "error": "51.7 % of the attempts fail at random"} {
		summary, series := timelineTables(trouble, 0)
		f := drawOne(t, "amplification-timeline", summary, series)
		wantTitle(t, f, "In its busiest second the server gets 120 calls with no retry, 242 with unlimited 3; the worst one answers 0 % with no retry, 49 % with unlimited 3")
		if got := f.Panels[0].Marks[0].(Spans)[0].Label; got != want {
			t.Errorf("%s: %q, want %q", trouble, got, want)
		}
	}
}
