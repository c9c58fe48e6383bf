package scenario

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/theory"
)

// A Status says what became of a claim.
type Status string

// The statuses. A claim is undecided if its interval holds both values that
// satisfy it and values that do not: more replications would tell.
const (
	Holds     Status = "holds"
	Fails     Status = "fails"
	Undecided Status = "undecided"
)

// A Verdict is a claim and what was measured.
type Verdict struct {
	Claim, Why string
	Note       string // what the claim's subject is without, such as "a-b has no breaker"
	Status     Status
	Unit       string    // "", s, or /s
	Values     []float64 // by replication; NaN where there was nothing to measure, +Inf for never
	Mean       float64
	Lo, Hi     float64 // 95 % interval of the mean (Student t), or of the share (Wilson)
	Share      float64 // of the replications in which it holds
	Asked      float64 // the share that was asked for; 0 means that the mean counts
}

// A Report is what became of a case.
type Report struct {
	Case     *Case
	Verdicts []Verdict
	Elapsed  time.Duration // unset: nothing here reads the wall clock
}

// Run runs cases on some workers and judges their claims. The result does not
// depend on the number of workers. Progress, if not nil, is told of each
// replication that is done. Beside an error there are the reports of the cases
// of which all replications were measured before it.
func Run(ctx context.Context, cases []*Case, workers int, progress func(done, total int)) ([]Report, error) {
	type job struct{ at, replication int }
	var jobs []job
	values := make([][][]float64, len(cases)) // case, replication, claim
	for i, c := range cases {
		values[i] = make([][]float64, c.Replications)
		for r := range c.Replications {
			jobs = append(jobs, job{i, r})
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var mu sync.Mutex
	next, done := 0, 0
	for range max(1, min(workers, len(jobs))) {
		group.Go(func() {
			for {
				mu.Lock()
				if next == len(jobs) || ctx.Err() != nil {
					mu.Unlock()
					return
				}
				j := jobs[next]
				next++
				mu.Unlock()
				v, err := cases[j.at].measure(ctx, uint64(j.replication))
				mu.Lock()
				values[j.at][j.replication] = v
				if done++; progress != nil && err == nil {
					progress(done, len(jobs))
				}
				mu.Unlock()
				if err != nil {
					cancel(fmt.Errorf("%s: %w", cases[j.at].Title(), err))
					return
				}
			}
		})
	}
	group.Wait()
	var reports []Report
	for i, c := range cases {
		if slices.ContainsFunc(values[i], func(v []float64) bool { return v == nil }) {
			continue
		}
		report := Report{Case: c}
		for k := range c.statements {
			var list []float64
			for _, v := range values[i] {
				list = append(list, v[k])
			}
			report.Verdicts = append(report.Verdicts, c.statements[k].judge(list))
		}
		reports = append(reports, report)
	}
	return reports, context.Cause(ctx)
}

// An observation is what is kept of a run besides the ledger.
type observation struct {
	system   *model.System
	world    *world
	openings []*opening // first of each link
	closings []int
	onChange watcher // told too, if not nil
}

// An opening is the first of a link's breakers.
type opening struct {
	at     time.Duration
	ledger *model.Ledger
}

func newObservation(w *world) *observation {
	return &observation{world: w, openings: make([]*opening, len(w.links)), closings: make([]int, len(w.links))}
}

// watch notes a change of a breaker.
func (o *observation) watch(link int, c policies.Change) {
	switch {
	case c.To == policies.Open && o.openings[link] == nil:
		o.openings[link] = &opening{at: time.Duration(sim.TimeOf(c.At)), ledger: o.system.Ledger()}
	case c.To == policies.Closed:
		o.closings[link]++
	}
	if o.onChange != nil {
		o.onChange(link, c)
	}
}

// spread gives links that share breakers what was observed of them.
func (o *observation) spread() {
	for link, source := range o.world.source {
		o.openings[link], o.closings[link] = o.openings[source], o.closings[source]
	}
}

// start makes the system of a replication.
func (c *Case) start(replication uint64) (*observation, error) {
	o := newObservation(c.world)
	var err error
	o.system, err = model.New(watched(c.Config, o.watch), c.Seed, replication)
	return o, err
}

// measure runs a replication and returns a value for each claim.
func (c *Case) measure(ctx context.Context, replication uint64) ([]float64, error) {
	o, err := c.start(replication)
	if err != nil {
		return nil, err
	}
	ledgers := map[time.Duration]*model.Ledger{0: o.system.Ledger()}
	for _, t := range c.instants() {
		if err := o.system.RunUntil(ctx, sim.Time(t)); err != nil {
			return nil, err
		}
		ledgers[t] = o.system.Ledger()
	}
	o.spread()
	series := o.system.Series()
	values := make([]float64, len(c.statements))
	for i := range c.statements {
		values[i] = c.statements[i].measure(c, o, ledgers, series)
	}
	return values, nil
}

// instants are those at which ledgers are needed, in order, the horizon last.
func (c *Case) instants() []time.Duration {
	list := []time.Duration{c.Config.Horizon}
	for i := range c.statements {
		for _, t := range []time.Duration{c.statements[i].after, c.statements[i].until} {
			if t > 0 {
				list = append(list, t)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *statement) measure(c *Case, o *observation, ledgers map[time.Duration]*model.Ledger, series []model.Interval) float64 {
	until := s.until
	if until == 0 {
		until = c.Config.Horizon
	}
	v := view{
		was: ledgers[s.after], now: ledgers[until], length: until - s.after, entity: s.entity, quantile: s.quantile,
		after: s.after, until: until, run: o,
	}
	if s.opening >= 0 {
		if first := o.openings[s.opening]; first != nil && first.at < until {
			if first.at < s.after {
				return math.NaN()
			}
			v.now, v.length = first.ledger, first.at-s.after
		}
	}
	if s.metric.series {
		for _, i := range series {
			if time.Duration(i.Start) >= s.after && time.Duration(i.End) <= until {
				v.series = append(v.series, i)
			}
		}
	}
	return s.metric.value(&v)
}

// confidence of all intervals.
const confidence = 0.95

// judge decides a claim from its values, one of each replication.
func (s *statement) judge(values []float64) Verdict {
	v := Verdict{Claim: s.text, Why: s.why, Note: s.lacks, Unit: s.metric.unit, Values: values, Asked: s.share}
	good := 0
	for _, x := range values {
		if s.holds(x) {
			good++
		}
	}
	n := len(values)
	v.Share = float64(good) / float64(n)
	v.Mean, v.Lo, v.Hi = mean(values)
	switch {
	case measured(values) == 0:
		v.Status = Fails // nothing to measure in any replication
	case s.share > 0:
		v.Lo, v.Hi = theory.WilsonInterval(good, n, confidence)
		switch {
		case good == n && (s.share == 1 || n == 1), s.share < 1 && v.Lo >= s.share:
			v.Status = Holds
		case s.share == 1, v.Hi < s.share:
			v.Status = Fails
		default:
			v.Status = Undecided
		}
	case good == n && (n == 1 || s.all(v.Lo, v.Hi)):
		v.Status = Holds
	case math.IsNaN(v.Mean):
		v.Status = Undecided // nothing to measure in some
	case s.all(v.Lo, v.Hi):
		v.Status = Holds
	case good == 0 && (n == 1 || s.none(v.Lo, v.Hi)) || s.none(v.Lo, v.Hi):
		v.Status = Fails
	default:
		v.Status = Undecided
	}
	return v
}

// measured counts the replications in which there was something to measure.
func measured(values []float64) (n int) {
	for _, x := range values {
		if !math.IsNaN(x) {
			n++
		}
	}
	return n
}

// mean returns the mean and its interval. Never as a value makes the mean
// never; a value that is missing leaves it unknown.
func mean(values []float64) (m, lo, hi float64) {
	for _, x := range values {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			m += x
		}
	}
	if m != 0 {
		return m, m, m
	}
	if slices.Min(values) == slices.Max(values) {
		return values[0], values[0], values[0]
	}
	m, sd := theory.MeanSD(values)
	lo, hi = theory.StudentInterval(len(values), m, sd, confidence)
	return m, lo, hi
}

// all reports whether every value from lo to hi satisfies the claim, none
// whether no value does.
func (s *statement) all(lo, hi float64) bool {
	switch s.op {
	case "!=":
		return s.low < lo || s.low > hi
	}
	return s.holds(lo) && s.holds(hi)
}

func (s *statement) none(lo, hi float64) bool {
	switch s.op {
	case "==":
		return s.low < lo || s.low > hi
	case "!=":
		return lo == hi && lo == s.low
	case "within":
		return hi < s.low || lo > s.high || math.IsNaN(lo)
	}
	return !s.holds(lo) && !s.holds(hi)
}
