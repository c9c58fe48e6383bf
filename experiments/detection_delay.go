package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// floatTicks is the resolution of fixed-float arrivals: 2⁻⁴⁸ s keeps the last
// bits of float64 sums of seconds from 16 s to 32 s, where the article's
// outage begins, so that every comparison falls as it does in float64.
const floatTicks = 1 << 48

// floatWindow is the longest window in seconds, with fixed-float arrivals: a
// window has at most a year of nanoseconds, which are so many ticks.
const floatWindow = 365 * 24 * 3600 * 1_000_000_000 / floatTicks

func detectionDelay() *Experiment {
	return &Experiment{
		Name: "detection-delay",
		Doc: `How long does a breaker take to notice that every call fails, at a given rate?
Calls arrive at a fixed rate from t = 0, succeed until the outage begins, and
all fail at once from then on. The delay runs from the start of the outage to
the call that opens the breaker; bad calls are the failing ones up to and
including it. Source: breaker windows, first table. Arrivals "fixed-float" add
up 1/rate in float64, as the article's program does.`,
		Factors: []Factor{
			failurePolicyFactor("count-20-10-50", "time-10s-10-50"),
			positive("rate_rps", "calls per second", maxRate, 0.5, 1, 2, 5, 20, 100, 500),
			choice("arrivals", "how calls arrive: fixed, fixed-float or poisson", []string{"fixed", "fixed-float", "poisson"}, 1),
			number("healthy_s", "healthy time before the outage, s", 0, maxSeconds, 20),
			number("outage_s", "time observed after its start, s", 1e-9, maxSeconds, 3000),
		},
		Metrics: []Metric{
			{Name: "detection_delay_s", Doc: "start of the outage to the opening, s", Censored: "undetected_count"},
			{Name: "bad_calls_count", Doc: "failing calls up to and including the opening one, or in the whole outage"},
		},
		Reps:       1,
		RandomReps: 30,
		Check:      checkDetection,
		Measure:    measureDetection,
		Exact:      exactDetection,
		Article:    articleDetection,
		Report:     reportDetection,
	}
}

func checkDetection(c Cell) error {
	total := c.Float("healthy_s") + c.Float("outage_s")
	limit := float64(maxSeconds)
	if c.Text("arrivals") == "fixed-float" {
		limit = math.MaxInt64 / floatTicks
	}
	if total > limit {
		return fmt.Errorf("experiments: detection-delay: healthy_s + outage_s = %s s, want at most %s with arrivals %s",
			formatNumber(total), formatNumber(limit), c.Text("arrivals"))
	}
	w := c.policy().rule.Window
	if c.Text("arrivals") == "fixed-float" && w.Length.Seconds() > floatWindow {
		return fmt.Errorf("experiments: detection-delay: policy %s: window %v, want at most %d s with arrivals fixed-float",
			c.Text("policy"), w.Length, floatWindow)
	}
	return arrivals(c).Validate()
}

// arrivals returns the arrival law of a cell with factors arrivals and
// rate_rps.
func arrivals(c Cell) model.Arrivals {
	a := model.Arrivals{Kind: c.Text("arrivals"), RateRPS: c.Float("rate_rps")}
	if a.Kind == "fixed-float" {
		a.TicksPerSecond = floatTicks
	}
	return a
}

// inTicks scales a window from nanoseconds to other ticks; a bucket stays a
// whole number of ticks long.
func inTicks(w policies.WindowConfig, perSecond float64) policies.WindowConfig {
	n := time.Duration(max(w.Buckets, 1))
	w.Length = time.Duration(math.Round((w.Length/n).Seconds()*perSecond)) * n
	return w
}

// measureDetection runs one outage. With fixed-float arrivals the whole
// scenario, windows included, runs in ticks of 2⁻⁴⁸ s.
func measureDetection(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	law := arrivals(c)
	ticks := 1e9
	if law.TicksPerSecond != 0 {
		ticks = float64(law.TicksPerSecond)
	}
	source, err := law.Source(j.Stream("arrivals"))
	if err != nil {
		return nil, err
	}
	outage := sim.Time(math.Round(c.Float("healthy_s") * ticks))
	until := outage + sim.Time(math.Round(c.Float("outage_s")*ticks))
	feed := model.Feed{
		Arrivals: source,
		Segments: outageSegments(time.Duration(outage), time.Duration(until)),
		Until:    until,
	}
	watches := make([]*tripWatch, len(j.Cells))
	for i, cell := range j.Cells {
		rule := cell.policy().rule
		rule.Window = inTicks(rule.Window, ticks)
		if watches[i], err = newTripWatch(rule, outage, until); err != nil {
			return nil, err
		}
		feed.Watchers = append(feed.Watchers, watches[i])
	}
	if err := feed.Run(ctx, sim.New()); err != nil {
		return nil, err
	}
	rows := make([][]float64, len(watches))
	for i, w := range watches {
		rows[i] = []float64{w.delay(outage, ticks), float64(w.badCalls)}
	}
	return rows, nil
}

// exactDetection is the delay in exact time, where nothing is random.
func exactDetection(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("arrivals") != "fixed" {
		return 0, false
	}
	healthy, outage := seconds(c.Float("healthy_s")), seconds(c.Float("outage_s"))
	d, ok := detectionTheory(c.policy().rule, c.Float("rate_rps"), healthy)
	if !ok {
		return 0, false
	}
	missed := d.Never || d.Delay >= outage // it would be noticed too late to be seen
	switch {
	case metric == "detection_delay_s" && missed:
		return math.Inf(1), true
	case metric == "detection_delay_s":
		return d.Delay.Seconds(), true
	case missed:
		calls, err := theory.CallsIn(c.Float("rate_rps"), healthy, healthy+outage)
		return float64(calls), err == nil
	}
	return float64(d.FailedCalls), true
}

func detectionCase(c Cell) (table, name string) {
	switch c.Text("policy") {
	case "count-20-10-50":
		return "T4a-count-" + c.Text("rate_rps"), fmt.Sprintf("count 20, rate %s/s", c.Text("rate_rps"))
	case "time-10s-10-50":
		return "T4a-time-" + c.Text("rate_rps"), fmt.Sprintf("time 10 s, rate %s/s", c.Text("rate_rps"))
	}
	return "", ""
}

func articleDetection(c Cell, metric string) (string, string, string) {
	if c.Text("arrivals") == "poisson" || !likeArticle(detectionDelay(), c, "arrivals", "policy", "rate_rps") {
		return "", "", ""
	}
	t, name := detectionCase(c)
	if metric == "detection_delay_s" {
		metric = "delay_s"
	} else {
		metric = "bad_calls"
	}
	return t, name, metric
}

func reportDetection(r *Result) []table.Text {
	t := table.Text{
		Caption: "Detection delay of an outage of every call: " + r.replications(),
		Header:  []string{"policy", "arrivals", "rate /s", "delay s", "closed form", "article", "bad calls", "closed form", "article"},
		Left:    2,
	}
	differs := false
	for i, c := range r.Plan.Cells {
		delay, bad := r.Stat(i, "detection_delay_s"), r.Stat(i, "bad_calls_count")
		t.Append(c.policy().String()+r.Plan.varying(c, "policy", "arrivals", "rate_rps"), c.Text("arrivals"), c.Text("rate_rps"),
			reached(delay, 3), exact(delay, 3), article(delay, 2), meanCI(bad, 1), exact(bad, 0), article(bad, 0))
		differs = differs || c.Text("arrivals") == "fixed" && math.Abs(delay.Mean-delay.Article) > 0.005
	}
	if differs {
		t.Notes = append(t.Notes, "Where the article is later, it adds up 1/rate in float64: the call due at the start of the outage",
			"comes a hair early and counts as healthy. -arrivals fixed-float does the same and gives its cells.")
	}
	t.Notes = append(t.Notes, notFullNotes(r.Plan)...)
	return []table.Text{t}
}

// notFullNotes names the policies whose window is not full of healthy calls
// when the outage begins, which makes them faster than they are in service.
func notFullNotes(p *Plan) (notes []string) {
	longest := map[string]float64{}
	for _, c := range p.Cells {
		fill := fillTime(c.policy().rule.Window, c.Float("rate_rps"))
		if c.Text("arrivals") != "poisson" && fill > c.Float("healthy_s") {
			longest[c.Text("policy")] = max(longest[c.Text("policy")], fill)
		}
	}
	for _, policy := range p.level("policy") {
		if fill := longest[policy]; fill > 0 {
			notes = append(notes, fmt.Sprintf("%s is not full when the outage begins, at some rate; -set healthy_s=%s fills it at every rate.",
				policy, formatNumber(math.Ceil(fill))))
		}
	}
	return notes
}
