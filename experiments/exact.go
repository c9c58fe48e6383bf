package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/theory"
)

// detectionTheory is the exact detection of an outage that begins after a
// healthy time, for evenly spaced calls; false where no closed form is known.
func detectionTheory(rule policies.RuleConfig, rate float64, healthy time.Duration) (theory.Detection, bool) {
	if rule.FailureRate == 0 {
		return theory.Detection{}, false
	}
	var d theory.Detection
	var err error
	outage := theory.Outage{RateRPS: rate, Start: healthy}
	switch rule.Window.Kind {
	case policies.CountWindow:
		d, err = outage.CountWindow(countRule(rule))
	case policies.TimeWindow:
		d, err = outage.TimeWindow(rule.Window.Length, rule.MinCalls, rule.FailureRate)
	default:
		return theory.Detection{}, false
	}
	return d, err == nil
}

func countRule(rule policies.RuleConfig) theory.CountRule {
	return theory.CountRule{Calls: rule.Window.Calls, MinCalls: rule.MinCalls, FailureRate: rule.FailureRate}
}

// A tripTheory answers with closed forms for false-trips, and keeps the answers
// of the Markov chain: several cells and metrics ask the same.
type tripTheory map[tripKey]tripForms

type tripForms struct{ mean, anyTrip float64 }

type tripKey struct {
	rule  theory.CountRule
	trace theory.GlitchTrace
}

// exact is the detection delay of an outage; and, of a count window
// that only observes, the expected number of trips and the probability of any.
func (known tripTheory) exact(c Cell, metric string, reps int) (float64, bool) {
	rule := c.policy().rule
	if c.Text("arrivals") != "fixed" && metric == "detection_delay_s" {
		return 0, false
	}
	switch metric {
	case "detection_delay_s":
		d, ok := detectionTheory(rule, c.Float("rate_rps"), outageStart(c))
		if d.Never {
			return math.Inf(1), ok
		}
		return d.Delay.Seconds(), ok
	case "false_trips_count", "any_false_trip_ratio":
		t, ok := known.trips(c, rule, reps)
		if metric == "false_trips_count" {
			return t.mean, ok
		}
		return t.anyTrip, ok
	}
	return 0, false
}

// trips is what a count window does on the trace of a cell, by the Markov
// chain on its contents. It is left out where the chain would cost more than
// the simulation that it checks, or glitches are not a fixed number.
func (known tripTheory) trips(c Cell, rule policies.RuleConfig, reps int) (forms tripForms, ok bool) {
	if c.Text("mode") != "observe" || rule.Window.Kind != policies.CountWindow || rule.FailureRate == 0 ||
		c.Text("arrivals") != "fixed" {
		return forms, false
	}
	g := theory.GlitchTrace{
		TotalCalls: int64(math.Round(c.Float("hours") * 3600 * c.Float("rate_rps"))),
		BaselineP:  c.Float("baseline_error_ratio"),
		Warm:       c.Float("warmup_s")*c.Float("rate_rps") >= 3*float64(rule.Window.Calls),
	}
	steps := 8 * float64(rule.Window.Calls)
	if hasGlitches(c) && c.Float("glitch_s") > 0 {
		if c.Text("glitch_draw") != "exact" {
			return forms, false
		}
		g.Glitches = glitchCount(c)
		g.GlitchCalls = int64(math.Round(c.Float("glitch_s") * c.Float("rate_rps")))
		g.GlitchP = c.Float("glitch_error_ratio")
		if calls := c.Float("glitch_s") * c.Float("rate_rps"); math.Abs(calls-math.Round(calls)) > 1e-9 || !glitchesApart(c, rule) {
			return forms, false
		}
		steps += 2 * float64(g.GlitchCalls)
	}
	key := tripKey{countRule(rule), g}
	if t, ok := known[key]; ok {
		return t, true
	}
	states, err := theory.ChainStates(key.rule)
	if err != nil || states*steps > chainPerCall*float64(g.TotalCalls)*float64(reps) {
		return forms, false
	}
	chain, err := theory.NewCountChain(key.rule, theory.DefaultMaxStates)
	if err != nil {
		return forms, false
	}
	trips, err := chain.Glitches(g)
	if err != nil {
		return forms, false
	}
	anyTrip, err := chain.AnyTripInGlitches(g)
	if err != nil {
		return forms, false
	}
	known[key] = tripForms{trips.Mean, anyTrip}
	return known[key], true
}

// glitchesApart reports whether few glitches can touch: the closed form takes
// them to be some windows apart. Two follow each other in a share of the
// minutes that is about the square of theirs, and then come too close if the
// rest of a minute is shorter than 3 windows.
func glitchesApart(c Cell, rule policies.RuleConfig) bool {
	busy := c.Float("glitch_s") + 3*float64(rule.Window.Calls)/c.Float("rate_rps")
	return c.Float("glitch_minute_ratio")*busy/60 < 0.02
}

// chainPerCall is how many transitions of the chain cost as much as one
// simulated call that all policies watch.
const chainPerCall = 20

// maxBoundCalls limits the window of tripBound, whose cost grows with it.
const maxBoundCalls = 1 << 14

// tripBound is an upper bound of the expected number of trips in the baseline
// trace, by the binomial tail of one window; false for other cells and for
// buckets. At a fixed rate a time window is a count window.
func tripBound(c Cell) (float64, bool) {
	rule := c.policy().rule
	if c.Text("mode") != "observe" || c.Text("trace") != "baseline" || c.Text("arrivals") != "fixed" || rule.FailureRate == 0 {
		return 0, false
	}
	count := countRule(rule)
	switch rule.Window.Kind {
	case policies.CountWindow:
	case policies.TimeWindow:
		calls := math.Ceil(rule.Window.Length.Seconds() * c.Float("rate_rps"))
		if calls < float64(rule.MinCalls) || calls > maxBoundCalls {
			return 0, false
		}
		count.Calls = int(calls)
	default:
		return 0, false
	}
	calls := int64(math.Round(c.Float("hours") * 3600 * c.Float("rate_rps")))
	bound, err := theory.ExpectedTripsUpperBound(count, calls, c.Float("baseline_error_ratio"))
	return bound, err == nil
}
