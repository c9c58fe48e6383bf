package experiments

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func windowGrid() *Experiment {
	return &Experiment{
		Name: "window-grid",
		Doc: `Which window, threshold and minimum should I choose at my rate?
Every combination watches the same traffic: hours with baseline failures and
glitches, which give the false trips per day, and an outage at a random instant
within a second, which gives the detection delay. Both begin after a warm-up
with baseline failures, in which nothing is counted. A setting is on the front if no other is both faster and
quieter. After a trip the window is emptied and observation goes on.`,
		Factors: slices.Concat([]Factor{
			windowFactor("count-10", "count-20", "count-50", "count-100", "count-200",
				"time-5s", "time-10s", "time-30s", "time-60s", "buckets-10s", "buckets-30s", "buckets-60s"),
			withPanel(number("threshold_ratio", "failure rate that trips", 0, 1, 0.1, 0.2, 0.3, 0.5)),
			withPanel(whole("min_calls", "calls in the window below which nothing trips", 1, 1e6, 10, 20)),
		}, glitchFactors(), []Factor{
			number("outage_error_ratio", "failures during the outage", 0, 1, 1),
			number("outage_s", "time observed after its start, s", 1e-9, 1e9, 120),
		}),
		Metrics: []Metric{
			{Name: "false_trips_per_day", Doc: "openings per day of the trace with glitches"},
			{Name: "detection_delay_s", Doc: "start of the outage to the opening, s", Censored: "undetected_count"},
		},
		Reps:    20,
		Valid:   validGrid,
		Check:   checkGrid,
		Measure: measureGrid,
		Report:  reportGrid,
		Detail:  gridFront,
	}
}

// windowFactor declares windows as KIND-SIZE.
func windowFactor(levels ...string) Factor {
	return Factor{
		Name:   "window",
		Doc:    "window: count-CALLS, time-DURATION or buckets-DURATION/NUMBER (10 buckets if no number)",
		Levels: levels,
		Panel:  true,
		check: func(text string) (string, error) {
			if _, err := parsePolicy(text + "-1-100"); err != nil {
				return "", fmt.Errorf("window %q: %w", text, err)
			}
			return text, nil
		},
	}
}

// gridRule is the trip rule of a cell.
func gridRule(c Cell) policies.RuleConfig {
	s, err := parsePolicy(c.Text("window") + "-" + c.Text("min_calls") + "-100")
	if err != nil {
		panic(err) // windowFactor has checked it
	}
	s.rule.FailureRate = c.Float("threshold_ratio")
	return s.rule
}

// validGrid leaves out minima above a count window, which would be capped to
// it and so repeat another cell.
func validGrid(c Cell) bool {
	r := gridRule(c)
	return r.Window.Kind != policies.CountWindow || r.MinCalls <= r.Window.Calls
}

func checkGrid(c Cell) error {
	r := gridRule(c)
	if err := r.Validate(); err != nil {
		return err
	}
	if err := arrivals(c).Validate(); err != nil {
		return err
	}
	if err := failures(c, true).Validate(); err != nil {
		return err
	}
	if err := checkGlitch(c); err != nil {
		return err
	}
	return checkWarmUp(c, r)
}

func measureGrid(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	g := failures(c, true)
	warm := seconds(c.Float("warmup_s"))
	segments, err := warmedUp(g, warm, j.Draws("glitches"))
	if err != nil {
		return nil, err
	}
	trips, err := watchGrid(ctx, j, "", segments, sim.Time(warm), sim.Time(warm+g.Horizon))
	if err != nil {
		return nil, err
	}
	phase := time.Duration(j.Draws("phase").Float64(0, 0) * float64(time.Second))
	start := warm + phase
	end := start + seconds(c.Float("outage_s"))
	outage := model.List(
		model.Segment{End: start, Condition: model.Condition{ErrorRatio: c.Float("baseline_error_ratio")}},
		model.Segment{Start: start, End: end, Condition: model.Condition{ErrorRatio: c.Float("outage_error_ratio")}},
	)
	delays, err := watchGrid(ctx, j, "outage ", outage, sim.Time(start), sim.Time(end))
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, len(j.Cells))
	for i := range rows {
		rows[i] = []float64{float64(trips[i].trips) * 24 / g.Horizon.Hours(), delays[i].delay(sim.Time(start), 1e9)}
	}
	return rows, nil
}

// watchGrid lets every rule of the job watch one trace; trips count in
// [from, to). The prefix keeps the random streams of several traces apart.
func watchGrid(ctx context.Context, j Job, prefix string, segments model.SegmentSource, from, to sim.Time) ([]*tripWatch, error) {
	source, err := arrivals(j.Cells[0]).Source(j.Stream(prefix + "arrivals"))
	if err != nil {
		return nil, err
	}
	feed := model.Feed{Arrivals: source, Segments: segments, Fate: j.Draws(prefix + "fate"), Until: to}
	watches := make([]*tripWatch, len(j.Cells))
	for i, c := range j.Cells {
		if watches[i], err = newTripWatch(gridRule(c), from, to); err != nil {
			return nil, err
		}
		feed.Watchers = append(feed.Watchers, watches[i])
	}
	return watches, feed.Run(ctx, sim.New())
}

// A gridPoint is a cell of window-grid with its two measures.
type gridPoint struct {
	cell         int
	delay, trips Stat
}

// front returns the points that no other point dominates: none is both at
// least as fast and as quiet, and better in one. Settings that missed the
// outage in any replication are left out. Sorted by delay.
func front(points []gridPoint) []gridPoint {
	var detected []gridPoint
	for _, p := range points {
		if p.delay.N > 0 && p.delay.Censored == 0 && p.trips.N > 0 {
			detected = append(detected, p)
		}
	}
	slices.SortStableFunc(detected, func(a, b gridPoint) int {
		return cmp.Or(cmp.Compare(a.delay.Mean, b.delay.Mean), cmp.Compare(a.trips.Mean, b.trips.Mean))
	})
	var out []gridPoint
	quietest := math.Inf(1)
	for _, p := range detected {
		if p.trips.Mean < quietest {
			out = append(out, p)
			quietest = p.trips.Mean
		}
	}
	return out
}

// gridGroups returns the points of each combination of the factors that are
// not part of the setting.
func gridGroups(r *Result) (titles []string, groups [][]gridPoint) {
	for i, c := range r.Plan.Cells {
		title := r.Plan.varying(c, "window", "threshold_ratio", "min_calls")
		k := slices.Index(titles, title)
		if k < 0 {
			k = len(titles)
			titles, groups = append(titles, title), append(groups, nil)
		}
		groups[k] = append(groups[k], gridPoint{i, r.Stat(i, "detection_delay_s"), r.Stat(i, "false_trips_per_day")})
	}
	return titles, groups
}

// gridFront lists the settings on the front.
func gridFront(_ context.Context, r *Result) ([]*table.Table, error) {
	t := table.New("window-grid_front", r.Plan.keyColumns(), []table.Column{
		{Name: "n", Doc: "replications measured"},
		{Name: "detection_delay_s_mean"}, {Name: "detection_delay_s_ci95_lo"}, {Name: "detection_delay_s_ci95_hi"},
		{Name: "false_trips_per_day_mean"}, {Name: "false_trips_per_day_ci95_lo"}, {Name: "false_trips_per_day_ci95_hi"},
	})
	_, groups := gridGroups(r)
	for _, points := range groups {
		for _, p := range front(points) {
			t.Append(r.Plan.keyCells(p.cell), float64(p.delay.N),
				p.delay.Mean, p.delay.Lo, p.delay.Hi, p.trips.Mean, p.trips.Lo, p.trips.Hi)
		}
	}
	return []*table.Table{t}, nil
}

func reportGrid(r *Result) []table.Text {
	var texts []table.Text
	titles, groups := gridGroups(r)
	for k, points := range groups {
		t := table.Text{
			Caption: fmt.Sprintf("Settings that no other beats in both: %d of %d%s, %s", len(front(points)), len(points), titles[k], r.replications()),
			Header:  []string{"window", "threshold", "min", "delay s [95 %]", "false trips per day [95 %]"},
			Left:    1,
		}
		for _, p := range front(points) {
			c := r.Plan.Cells[p.cell]
			t.Append(strings.Replace(c.Text("window"), "-", " ", 1), formatPercent(c.Float("threshold_ratio")), c.Text("min_calls"),
				meanCI(p.delay, 3), meanCI(p.trips, 1))
		}
		runs, hours := float64(points[0].trips.N), r.Plan.Cells[points[0].cell].Float("hours")
		missed, silent := 0, false
		for _, p := range points {
			if p.delay.Censored > 0 {
				missed++
			}
			silent = silent || p.trips.N > 0 && p.trips.Mean == 0
		}
		if silent {
			t.Notes = append(t.Notes, fmt.Sprintf("0 trips in %s × %s h mean fewer than %s per day with 95 %% confidence (−ln 0.05 ÷ time).",
				short(runs, 0), formatNumber(hours), short(-math.Log(0.05)/(runs*hours/24), 2)))
		}
		if missed > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%d of them missed the outage in some replication and are left out; see undetected_count in the summary.", missed))
		}
		texts = append(texts, t)
	}
	return texts
}
