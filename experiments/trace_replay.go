package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// Episodes of a trace that are no incident of the node itself.
const (
	elsewhere = "elsewhere" // while an incident is on at another node
	quiet     = "quiet"     // while none is on anywhere
)

// replayBreakers are the article's six, made for high rates, and three for a few
// calls per second, of which the last takes its thresholds from the trace.
var replayBreakers = append(slices.Clone(articleBreakers),
	"time-300s-20-10", "count-20-20-50-slow-300ms-50", "time-300s-20-3-slow-400ms-3")

// A replay is a trace with the times and places in which openings are judged.
type replay struct {
	trace     *model.Trace
	incidents []model.Incident            // in order of time
	byNode    map[string][]model.Incident // the same, of each node
	byName    map[[2]string]model.Incident
	union     []model.Incident // of all nodes, overlaps merged
}

func newReplay(t *model.Trace) replay {
	rp := replay{trace: t, incidents: t.Incidents(), byNode: map[string][]model.Incident{}, byName: map[[2]string]model.Incident{}}
	for _, i := range rp.incidents {
		rp.byNode[i.Node] = append(rp.byNode[i.Node], i)
		rp.byName[[2]string{i.Node, episodeName(i)}] = i
		if n := len(rp.union); n > 0 && i.Start <= rp.union[n-1].End {
			rp.union[n-1].End = max(rp.union[n-1].End, i.End)
		} else {
			rp.union = append(rp.union, i)
		}
	}
	return rp
}

// at finds the incident that holds an instant, of some that are in order and do
// not overlap.
func at(incidents []model.Incident, t time.Duration) (model.Incident, bool) {
	k := sort.Search(len(incidents), func(k int) bool { return incidents[k].End > t })
	if k < len(incidents) && incidents[k].Start <= t {
		return incidents[k], true
	}
	return model.Incident{}, false
}

// replayTrace asks the question of false-trips of a real failure trace.
func replayTrace(name string, t *model.Trace) (*Experiment, error) {
	rp := newReplay(t)
	nodes := t.Nodes()
	for _, n := range nodes {
		if strings.ContainsAny(n, ",") {
			return nil, fmt.Errorf("experiments: node %q has a comma in its name, want none", n)
		}
	}
	return &Experiment{
		Name:  "false-trips-" + name,
		Chart: "trace-replay",
		Doc: `Which incidents of a real trace does each breaker notice, how late, and how often does it open outside them?
Calls are made at each node at the rates of the trace and fail, and take time,
with the trace's ratios and latencies. The window is emptied at a trip and
observation goes on; it is emptied too after a gap, in which nothing was
observed. An incident is noticed if a breaker at the node it was injected into
opens while it is on; its delay runs from the injection. A slow call counts
when it has returned, and not at all if nothing is observed by then. The capacity factor has no effect: calls do not queue. "elsewhere" counts
openings while an incident is on at another node only, "quiet" those while
none is on: the false trips.`,
		Factors: []Factor{
			choice("node", "node of the trace", nodes, len(nodes)),
			withPanel(choice("episode", "an incident as KIND@START, elsewhere or quiet", rp.episodes(), len(rp.episodes()))),
			replayPolicyFactor(),
			number("rate_rps", "calls per second where the trace does not say", 0, maxRate, 0),
			choice("arrivals", "how calls arrive: poisson, or fixed: evenly within each record", []string{"poisson", "fixed"}, 1),
		},
		Metrics: []Metric{
			{Name: "opened_ratio", Doc: "share of replications with an opening in the episode", Proportion: true},
			{Name: "detection_delay_s", Doc: "start of the incident to the first opening, s", Censored: "undetected_count"},
			{Name: "first_opening_s", Doc: "first opening in the episode, s since the trace began", Censored: "unopened_count"},
			{Name: "openings_count", Doc: "openings in the episode; a lasting fault trips an emptied window again and again"},
			{Name: "openings_per_h", Doc: "openings per observed hour of the episode"},
		},
		Reps:    30,
		Valid:   rp.valid,
		Check:   rp.check,
		Measure: rp.measure,
		Report:  rp.report,
		Detail:  rp.detail,
	}, nil
}

// replayPolicyFactor declares trip rules, which only observe: none that counts
// calls in flight.
func replayPolicyFactor() Factor {
	f := policyFactor(replayBreakers...)
	any := f.check
	f.check = func(text string) (string, error) {
		if s, err := parsePolicy(text); err == nil && s.inFlight {
			return "", fmt.Errorf("breaker %q: inflight, want none: a rule that observes a trace knows a call when it has ended", text)
		}
		return any(text)
	}
	return f
}

// segments are a node's, with the rate that stands in where the trace states
// none.
func (rp replay) segments(node string, rate float64) []model.Segment {
	all := slices.Clone(rp.trace.Segments(node))
	for i := range all {
		if !all[i].RateRPS.Known && rate > 0 {
			all[i].RateRPS = model.Known(rate)
		}
	}
	return all
}

// check wants a rate for every record, and none on top.
func (rp replay) check(c Cell) error {
	if c.Float("rate_rps") > 0 && !slices.ContainsFunc(rp.trace.Nodes(), rp.lacksRates) {
		return fmt.Errorf("experiments: factor rate_rps: %s, want none: the trace states every rate", c.Text("rate_rps"))
	}
	if _, err := model.TraceArrivals(rp.segments(c.Text("node"), c.Float("rate_rps")), nil); err != nil {
		return fmt.Errorf("%w: add the column, or give -rate", err)
	}
	return nil
}

// lacksRates reports whether a record of the node states no rate.
func (rp replay) lacksRates(node string) bool {
	return slices.ContainsFunc(rp.trace.Segments(node), func(s model.Segment) bool { return !s.RateRPS.Known })
}

func episodeName(i model.Incident) string {
	return fmt.Sprintf("%s@%s", i.Kind, formatNumber(i.Start.Seconds()))
}

func (rp replay) episodes() []string {
	var names []string
	seen := map[string]bool{}
	for _, i := range rp.incidents {
		if n := episodeName(i); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return append(names, elsewhere, quiet)
}

// incident returns the incident of a cell, or nil for elsewhere and quiet.
func (rp replay) incident(c Cell) *model.Incident {
	if i, ok := rp.byName[[2]string{c.Text("node"), c.Text("episode")}]; ok {
		return &i
	}
	return nil
}

func (rp replay) valid(c Cell) bool {
	return rp.incident(c) != nil || c.Text("episode") == elsewhere || c.Text("episode") == quiet
}

// episodeAt names the episode of a node that an instant belongs to.
func (rp replay) episodeAt(node string, t time.Duration) string {
	if i, ok := at(rp.byNode[node], t); ok {
		return episodeName(i)
	}
	if _, ok := at(rp.union, t); ok {
		return elsewhere
	}
	return quiet
}

// observed is the time in which a node was observed in each episode.
func (rp replay) observed(node string) map[string]time.Duration {
	total := map[string]time.Duration{}
	for _, s := range rp.trace.Segments(node) {
		// Cut the segment wherever an incident begins or ends.
		cuts := []time.Duration{s.Start, s.End}
		for _, list := range [][]model.Incident{rp.byNode[node], rp.union} {
			first := sort.Search(len(list), func(k int) bool { return list[k].End > s.Start })
			for _, i := range list[first:] {
				if i.Start >= s.End {
					break
				}
				for _, t := range []time.Duration{i.Start, i.End} {
					if t > s.Start && t < s.End {
						cuts = append(cuts, t)
					}
				}
			}
		}
		slices.Sort(cuts)
		for k := 1; k < len(cuts); k++ {
			total[rp.episodeAt(node, cuts[k-1])] += cuts[k] - cuts[k-1]
		}
	}
	return total
}

// run lets every policy watch one node's calls and returns the openings of
// each, in order of time.
func (rp replay) run(ctx context.Context, j Job, c Cell, policies []string) (map[string][]sim.Time, error) {
	node := c.Text("node")
	segments := rp.segments(node, c.Float("rate_rps"))
	random := j.Stream("arrivals/" + node)
	if c.Text("arrivals") == "fixed" {
		random = nil
	}
	source, err := model.TraceArrivals(segments, random)
	if err != nil {
		return nil, err
	}
	openings := map[string][]sim.Time{}
	var watches []*tripWatch
	feed := model.Feed{
		Arrivals:  source,
		Segments:  model.List(segments...),
		Fate:      j.Draws("fate/" + node),
		Latencies: true,
		Until:     sim.Time(rp.trace.End()),
		OnGap: func() {
			for _, w := range watches {
				w.rule.Reset()
			}
		},
	}
	for _, text := range policies {
		spec, err := parsePolicy(text)
		if err != nil {
			return nil, err
		}
		w, err := newTripWatch(spec.rule, 0, feed.Until)
		if err != nil {
			return nil, err
		}
		w.onTrip = func(at sim.Time) { openings[text] = append(openings[text], at) }
		watches = append(watches, w)
		feed.Watchers = append(feed.Watchers, w)
	}
	return openings, feed.Run(ctx, sim.New())
}

func (rp replay) measure(ctx context.Context, j Job) ([][]float64, error) {
	node := j.Cells[0].Text("node")
	var policies []string
	for _, c := range j.Cells {
		if p := c.Text("policy"); !slices.Contains(policies, p) {
			policies = append(policies, p)
		}
	}
	openings, err := rp.run(ctx, j, j.Cells[0], policies)
	if err != nil {
		return nil, err
	}
	observed := rp.observed(node)
	rows := make([][]float64, len(j.Cells))
	for k, c := range j.Cells {
		rows[k] = rp.judge(c, openings[c.Text("policy")], observed[c.Text("episode")])
	}
	return rows, nil
}

// judge counts the openings of one policy that fall into a cell's episode.
func (rp replay) judge(c Cell, openings []sim.Time, observed time.Duration) []float64 {
	count, first := 0, sim.Time(0)
	for _, at := range openings {
		if rp.episodeAt(c.Text("node"), time.Duration(at)) != c.Text("episode") {
			continue
		}
		if count == 0 {
			first = at
		}
		count++
	}
	opened, delay, firstAt := math.Min(1, float64(count)), math.NaN(), math.Inf(1)
	if count > 0 {
		firstAt = first.Seconds()
	}
	if i := rp.incident(c); i != nil {
		delay = math.Inf(1)
		if count > 0 {
			delay = first.Sub(sim.Time(i.Start)).Seconds()
		}
	}
	perHour := math.NaN()
	if observed > 0 {
		perHour = float64(count) / observed.Hours()
	}
	return []float64{opened, delay, firstAt, float64(count), perHour}
}

// detail returns the trace as given and the openings of replication 0, to be
// drawn.
func (rp replay) detail(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	records := table.New(p.Experiment.Name+"_trace",
		[]table.Column{{Name: "node"}, {Name: "injected"}},
		[]table.Column{{Name: "start_s"}, {Name: "end_s"}, {Name: "rate_rps"}, {Name: "error_ratio"}, {Name: "latency_p90_s"}})
	openings := table.New(p.Experiment.Name+"_openings",
		[]table.Column{{Name: "node"}, p.column("policy"), p.column("rate_rps"), p.column("arrivals"), {Name: "episode"}, {Name: "replication"}},
		[]table.Column{{Name: "t_s", Doc: "instant of the opening, s"}})
	for _, node := range p.level("node") {
		if r.Find(map[string]string{"node": node}) < 0 {
			continue
		}
		for _, s := range rp.trace.Segments(node) {
			p90 := math.NaN()
			if s.LatencyP90.Known {
				p90 = s.LatencyP90.Value.Seconds()
			}
			records.Append([]string{node, s.Injected}, s.Start.Seconds(), s.End.Seconds(), s.RateRPS.Or(math.NaN()), s.ErrorRatio, p90)
		}
		for _, g := range p.groups {
			c := p.Cells[g[0]]
			if c.Text("node") != node {
				continue
			}
			found, err := rp.run(ctx, Job{Seed: p.Seed}, c, p.level("policy"))
			if err != nil {
				return nil, err
			}
			for _, policy := range p.level("policy") {
				for _, at := range found[policy] {
					openings.Append([]string{node, policy, c.Text("rate_rps"), c.Text("arrivals"), rp.episodeAt(node, time.Duration(at)), "0"}, at.Seconds())
				}
			}
		}
	}
	return []*table.Table{records, openings}, nil
}
