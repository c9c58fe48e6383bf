package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// Bounds of factors that many experiments share.
const (
	maxRate    = 1e6 // calls per second
	maxSeconds = 7.2e9
	maxHours   = 2e6 // 7.2e18 ns: virtual time is int64 nanoseconds
)

// articleBreakers are the six breakers of the article on breaker windows.
var articleBreakers = []string{
	"count-20-20-50", "count-20-20-20", "count-100-100-20",
	"time-10s-20-50", "time-10s-20-20", "time-60s-20-20",
}

// warmUp is the least healthy time before an outage, s.
const warmUp = 20

func falseTrips() *Experiment {
	return &Experiment{
		Name: "false-trips",
		Doc: `How often does a breaker trip for nothing, and how fast does it notice a real outage?
Calls arrive for some hours, with a baseline of random failures, and in the
trace "glitches" with short partial failures in randomly chosen minutes; any
opening there is false. Both begin after a warm-up with baseline failures, in
which nothing is counted, so that windows are full. In mode "observe" the window is emptied at a trip and
observation goes on, as in the article; in mode "breaker" a whole breaker
opens, refuses, probes and closes; its openings are counted when they end a
closed state, not after probes. The trace "outage" fails every call after a
healthy time that fills the longest window, and gives the detection delay.
Source: breaker windows, second table.
With -trace FILE the question is asked of a failure trace that you bring: for
each node and breaker, which labelled incidents open it, how late, and how often
it opens outside them. Its factors are node, episode, policy, rate_rps (where
the trace gives no rates) and arrivals (poisson or fixed).`,
		Factors: slices.Concat([]Factor{
			failurePolicyFactor(articleBreakers...),
			withPanel(choice("mode", "what a trip does: observe empties the window, breaker opens a real breaker", []string{"observe", "breaker"}, 1)),
			choice("trace", "baseline, glitches, or an outage of every call", []string{"baseline", "glitches", "outage"}, 3),
		}, glitchFactors(), []Factor{
			number("open_s", "time a breaker stays open, s", 1e-9, maxSeconds, 5),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
		}),
		Metrics: []Metric{
			{Name: "false_trips_count", Doc: "openings of a closed breaker in the trace; opening again after probes is no new one"},
			{Name: "false_trips_per_h", Doc: "openings per hour"},
			{Name: "any_false_trip_ratio", Doc: "share of traces with any opening", Proportion: true},
			{Name: "good_refused_ratio", Doc: "calls that would have succeeded and were refused ÷ calls that would have succeeded"},
			{Name: "open_ratio", Doc: "share of the time in which the breaker was open"},
			{Name: "detection_delay_s", Doc: "start of the outage to the opening, s", Censored: "undetected_count"},
		},
		Reps:      30,
		Check:     checkFalseTrips,
		Measure:   measureFalseTrips,
		Exact:     tripTheory{}.exact,
		Article:   articleFalseTrips,
		Report:    reportFalseTrips,
		Trace:     falseTripsTrace,
		WithTrace: replayTrace,
	}
}

// glitchFactors describe the generated traces.
func glitchFactors() []Factor {
	return []Factor{
		positive("rate_rps", "calls per second", maxRate, 50),
		number("hours", "length of the trace, h", 1e-6, maxHours, 6),
		number("warmup_s", "time before the trace in which nothing is counted, s", 0, maxSeconds, 60),
		choice("arrivals", "how calls arrive: fixed or poisson", []string{"fixed", "poisson"}, 1),
		number("baseline_error_ratio", "failures outside glitches", 0, 1, 0.02),
		number("glitch_minute_ratio", "share of minutes with a glitch", 0, 1, 0.05),
		choice("glitch_draw", "exact: that share of the minutes; independent: each minute by chance", []string{"exact", "independent"}, 1),
		number("glitch_s", "length of a glitch, s", 0, 60, 5),
		number("glitch_error_ratio", "failures during a glitch", 0, 1, 0.3),
	}
}

func withPanel(f Factor) Factor {
	f.Panel = true
	return f
}

func checkFalseTrips(c Cell) error {
	if err := checkWarmUp(c, c.policy().rule); err != nil {
		return err
	}
	if s := outageEnd(c); s > maxSeconds {
		return fmt.Errorf("experiments: factor rate_rps: %s calls/s take %s s to fill the window and notice an outage, want at most %s",
			c.Text("rate_rps"), formatNumber(math.Ceil(s)), formatNumber(maxSeconds))
	}
	if err := checkGlitch(c); err != nil {
		return err
	}
	if err := arrivals(c).Validate(); err != nil {
		return err
	}
	return failures(c, hasGlitches(c)).Validate()
}

// checkGlitch wants a glitch to last at least a nanosecond, if any.
func checkGlitch(c Cell) error {
	if s := c.Float("glitch_s"); s > 0 && seconds(s) == 0 {
		return fmt.Errorf("experiments: factor glitch_s: %s, want 0 or at least 1e-09", formatNumber(s))
	}
	return nil
}

// checkWarmUp wants time windows to be full when counting begins. A count
// window that is not full yet has a minimum to wait for.
func checkWarmUp(c Cell, rule policies.RuleConfig) error {
	warm, window := c.Float("warmup_s"), rule.Window
	if window.Kind != policies.CountWindow && warm < window.Length.Seconds() {
		return fmt.Errorf("experiments: factor warmup_s: %s, want at least the %s s of the longest window",
			formatNumber(warm), formatNumber(window.Length.Seconds()))
	}
	if total := warm + c.Float("hours")*3600; total > maxSeconds {
		return fmt.Errorf("experiments: factors hours and warmup_s: %s s in all, want at most %s", formatNumber(total), formatNumber(maxSeconds))
	}
	return nil
}

// seconds turns a number of seconds into a duration, rounded to nanoseconds.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// failures generates the failure trace of a cell, with or without glitches.
func failures(c Cell, glitches bool) model.Generator {
	g := model.Generator{
		Horizon:  seconds(c.Float("hours") * 3600),
		Baseline: model.Condition{ErrorRatio: c.Float("baseline_error_ratio")},
	}
	if !glitches || c.Float("glitch_s") == 0 {
		return g
	}
	g.Glitches = model.Glitches{
		Length:    seconds(c.Float("glitch_s")),
		Condition: model.Condition{ErrorRatio: c.Float("glitch_error_ratio")},
	}
	if c.Text("glitch_draw") == "independent" {
		g.Glitches.PerMinute = c.Float("glitch_minute_ratio")
	} else {
		g.Glitches.Count = glitchCount(c)
	}
	return g
}

// glitchCount is the exact number of glitches in a cell's trace: the given
// share of its whole minutes, rounded.
func glitchCount(c Cell) int64 {
	return int64(math.Round(c.Float("glitch_minute_ratio") * math.Floor(c.Float("hours")*60)))
}

// hasGlitches reports whether a cell's trace is the one with glitches.
func hasGlitches(c Cell) bool { return c.Text("trace") == "glitches" }

// falseTripsTrace is the trace of replication 0 of the first cell with
// glitches, or of the first cell.
func falseTripsTrace(p *Plan) (*model.Trace, error) {
	c := p.Cells[0]
	for _, other := range p.Cells {
		if hasGlitches(other) {
			c = other
			break
		}
	}
	g := failures(c, hasGlitches(c))
	g.RateRPS = model.Known(c.Float("rate_rps"))
	return g.Trace(Job{Seed: p.Seed}.Draws("glitches"))
}

// watchTrace shows watchers the calls of a generated trace after a warm-up. All
// cells of a job see the same.
func watchTrace(ctx context.Context, j Job, g model.Generator, warm time.Duration, watchers []model.Watcher) error {
	source, err := arrivals(j.Cells[0]).Source(j.Stream("arrivals"))
	if err != nil {
		return err
	}
	segments, err := warmedUp(g, warm, j.Draws("glitches"))
	if err != nil {
		return err
	}
	feed := model.Feed{
		Arrivals: source, Segments: segments, Fate: j.Draws("fate"), Until: sim.Time(warm + g.Horizon), Watchers: watchers,
	}
	return feed.Run(ctx, sim.New())
}

func measureFalseTrips(ctx context.Context, j Job) ([][]float64, error) {
	if j.Cells[0].Text("trace") == "outage" {
		return measureOutage(ctx, j)
	}
	c := j.Cells[0]
	g := failures(c, hasGlitches(c))
	warm := seconds(c.Float("warmup_s"))
	end := sim.Time(warm + g.Horizon)
	group, err := newWatchGroup(j.Cells, sim.Time(warm), end)
	if err != nil {
		return nil, err
	}
	if err := watchTrace(ctx, j, g, warm, group.watchers); err != nil {
		return nil, err
	}
	hours := g.Horizon.Hours()
	rows := make([][]float64, len(j.Cells))
	for i := range rows {
		trips, refused, open := group.trips(i)
		anyTrip := 0.0
		if trips > 0 {
			anyTrip = 1
		}
		rows[i] = []float64{trips, trips / hours, anyTrip, refused, open, math.NaN()}
	}
	return rows, nil
}

// measureOutage fails every call after a healthy time that fills the window.
// Each cell has its own run, since its healthy time depends on its window.
func measureOutage(ctx context.Context, j Job) ([][]float64, error) {
	nan := math.NaN()
	var rows [][]float64
	for i := range j.Cells {
		delay, err := outageDelay(ctx, j, j.Cells[i:i+1])
		if err != nil {
			return nil, err
		}
		rows = append(rows, []float64{nan, nan, nan, nan, nan, delay})
	}
	return rows, nil
}

func outageDelay(ctx context.Context, j Job, cell []Cell) (float64, error) {
	healthy := outageStart(cell[0])
	end := seconds(outageEnd(cell[0]))
	group, err := newWatchGroup(cell, sim.Time(healthy), sim.Time(end))
	if err != nil {
		return 0, err
	}
	source, err := arrivals(cell[0]).Source(j.Stream("arrivals"))
	if err != nil {
		return 0, err
	}
	feed := model.Feed{Arrivals: source, Segments: outageSegments(healthy, end), Until: sim.Time(end), Watchers: group.watchers}
	if err := feed.Run(ctx, sim.New()); err != nil {
		return 0, err
	}
	return group.delay(0, sim.Time(healthy)), nil
}

// outageStart is a whole number of seconds after which a cell's window is full
// of healthy calls.
func outageStart(c Cell) time.Duration { return seconds(fillSeconds(c)) }

func fillSeconds(c Cell) float64 {
	return math.Ceil(max(fillTime(c.policy().rule.Window, c.Float("rate_rps")), warmUp))
}

// fillTime is how long calls at a rate take to fill a window, s.
func fillTime(w policies.WindowConfig, rate float64) float64 {
	if w.Kind == policies.CountWindow {
		return float64(w.Calls) / rate
	}
	return w.Length.Seconds()
}

// outageEnd is when an outage has been observed for long enough, s: twice the
// time that fills the window, and a thousand calls.
func outageEnd(c Cell) float64 { return 3*fillSeconds(c) + 1000/c.Float("rate_rps") }

// outageSegments is a trace that is healthy up to start and fails every call
// from then on.
func outageSegments(start, end time.Duration) model.SegmentSource {
	return model.List(
		model.Segment{End: start},
		model.Segment{Start: start, End: end, Condition: model.Condition{ErrorRatio: 1}},
	)
}

// A watchGroup watches one run for all cells of a job.
type watchGroup struct {
	observe  []*tripWatch    // per cell; nil in mode breaker
	breaker  []*breakerWatch // per cell; nil in mode observe
	watchers []model.Watcher
}

func newWatchGroup(cells []Cell, from, to sim.Time) (*watchGroup, error) {
	g := &watchGroup{observe: make([]*tripWatch, len(cells)), breaker: make([]*breakerWatch, len(cells))}
	for i, c := range cells {
		var err error
		var w model.Watcher
		rule := c.policy().rule
		if c.Text("mode") == "observe" {
			g.observe[i], err = newTripWatch(rule, from, to)
			w = g.observe[i]
		} else {
			g.breaker[i], err = newBreakerWatch(liveBreaker(rule, seconds(c.Float("open_s")), int(c.Float("probes"))), nil, from, to)
			w = g.breaker[i]
		}
		if err != nil {
			return nil, err
		}
		g.watchers = append(g.watchers, w)
	}
	return g, nil
}

// trips returns the openings of cell i, the share of good calls refused and
// that of the time open, NaN where nothing is ever refused.
func (g *watchGroup) trips(i int) (openings, goodRefused, open float64) {
	if w := g.breaker[i]; w != nil {
		return float64(w.openings), float64(w.goodRefused) / float64(w.good), w.openRatio()
	}
	return float64(g.observe[i].trips), math.NaN(), math.NaN()
}

func (g *watchGroup) delay(i int, start sim.Time) float64 {
	if w := g.breaker[i]; w != nil {
		return w.delay(start)
	}
	return g.observe[i].delay(start, 1e9)
}
