package scenario

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// A Report is what became of a case.
type Report struct {
	Case     *Case
	Verdicts []Verdict
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
		if c.Replications < 1 || c.Replications > MaxReplications {
			return nil, fmt.Errorf("%s: replications %d, want 1 to %d", c.Title(), c.Replications, MaxReplications)
		}
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
					cancel(fmt.Errorf("%s: %s: %w", cases[j.at].File, cases[j.at].Title(), err))
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

// measure runs a replication and returns a value for each claim.
func (c *Case) measure(ctx context.Context, replication uint64) ([]float64, error) {
	o, err := c.start(replication)
	if err != nil {
		return nil, err
	}
	instants := make(map[time.Duration]*instant)
	for _, t := range c.instants() {
		if err := o.system.RunUntil(ctx, sim.Time(t)); err != nil {
			return nil, err
		}
		instants[t] = c.look(o, t)
	}
	o.spread()
	series := o.system.Series()
	values := make([]float64, len(c.statements))
	for i := range c.statements {
		values[i] = c.statements[i].measure(c, o, instants, series)
	}
	return values, nil
}

// An instant is what is kept of one: the ledger of an observation, and the latencies of each client
// if a claim asks for them.
type instant struct {
	ledger *model.Ledger
	took   []*model.Latencies
}

func (c *Case) look(o *observation, t time.Duration) *instant {
	at := &instant{ledger: o.ledger(t)}
	if slices.ContainsFunc(c.statements, func(s statement) bool { return s.asksLatencies(t, c.Config.Horizon) }) {
		for _, name := range c.world.clients {
			at.took = append(at.took, o.system.Latencies(name))
		}
	}
	return at
}

// asksLatencies reports whether a claim looks at the latencies up to an instant,
// and not at those of the whole run.
func (s *statement) asksLatencies(t, horizon time.Duration) bool {
	until := cmp.Or(s.until, horizon)
	return s.metric.name == latencies && t > 0 && (t == s.after || t == until) && (s.after > 0 || until < horizon)
}

// instants are those that claims ask for, in order, the horizon last.
func (c *Case) instants() []time.Duration {
	list := []time.Duration{0, c.Config.Horizon}
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

func (s *statement) measure(c *Case, o *observation, instants map[time.Duration]*instant, series []model.Interval) float64 {
	until := s.until
	if until == 0 {
		until = c.Config.Horizon
	}
	v := view{
		was: instants[s.after].ledger, now: instants[until].ledger, length: until - s.after, entity: s.entity, quantile: s.quantile,
		after: s.after, until: until, run: o, wasTook: instants[s.after].took, nowTook: instants[until].took,
	}
	if s.opening >= 0 {
		first := o.openings[s.opening]
		if first == nil || first.at >= until || first.at < s.after {
			return math.NaN()
		}
		v.now, v.length = first.ledger, first.at-s.after
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
