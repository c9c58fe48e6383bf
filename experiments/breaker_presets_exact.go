package experiments

import (
	"math"
	"slices"

	"github.com/stormglass/stormglass/policies"
)

// A presetTheory answers with closed forms for the exact count window.
type presetTheory struct{ trips tripTheory }

func newPresetTheory() presetTheory { return presetTheory{tripTheory{}} }

// exact is the delay of an outage at evenly spaced calls, which begin anew with
// it, so that its phase is no matter; and what the window does in t4b, which is
// what false-trips observes.
func (known presetTheory) exact(c Cell, metric string, reps int) (float64, bool) {
	rule, ok := exactRule(presetMaker(c))
	if !ok || rule.Window.Kind != policies.CountWindow || c.Text("arrivals") != "fixed" {
		return 0, false
	}
	switch metric {
	case "detection_delay_s", "detection_min_s", "detection_max_s":
		o := presetOutage(c, 0)
		d, ok := detectionTheory(rule, c.Float("rate_rps"), o.from)
		switch {
		case !d.Never && d.Delay < o.to-o.from:
			return d.Delay.Seconds(), ok
		case metric == "detection_delay_s":
			return math.Inf(1), ok
		}
		return 0, false
	case "false_trips_count", "any_false_trip_ratio":
		if c.Text("settings") != presetT4b {
			return 0, false
		}
		t, ok := known.trips.trips(observed(c), rule, reps)
		if metric == "false_trips_count" {
			return t.mean, ok
		}
		return t.anyTrip, ok
	}
	return 0, false
}

// observed is the cell with the levels of false-trips for the same trace.
func observed(c Cell) Cell {
	return Cell{
		factors: append(slices.Clone(c.factors), Factor{Name: "mode"}, Factor{Name: "trace"}),
		levels:  append(slices.Clone(c.levels), "observe", "glitches"),
	}
}
