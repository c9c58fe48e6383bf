package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/stormglass/stormglass/sim"
)

// A Result holds the measured values of a plan.
type Result struct {
	Plan *Plan

	values [][][]float64 // [cell][replication][metric]; nil if not measured
	done   int           // jobs measured

	summary [][]Stat // [cell][metric], once computed
}

// Run measures all jobs on the given number of workers and returns what was
// measured, also with an error: of a job, or of a context that has ended. The
// result does not depend on the number of workers. Progress, if not nil, is
// called after each job; calls do not overlap.
func (p *Plan) Run(ctx context.Context, workers int, progress func(done, total int)) (*Result, error) {
	r := &Result{Plan: p, values: make([][][]float64, len(p.Cells))}
	for i := range r.values {
		r.values[i] = make([][]float64, p.Reps)
	}
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		next     atomic.Int64
		mu       sync.Mutex
		wg       sync.WaitGroup
		firstErr error
		failedAt = math.MaxInt
	)
	for range max(1, min(workers, p.Jobs())) {
		wg.Go(func() {
			for runCtx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= p.Jobs() {
					return
				}
				rows, err := p.measure(runCtx, i)
				mu.Lock()
				switch {
				case err == nil:
					r.store(i, rows)
					if progress != nil {
						progress(r.done, p.Jobs())
					}
				case !errors.Is(err, context.Canceled) && ctx.Err() == nil && i < failedAt:
					firstErr, failedAt = err, i
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if firstErr == nil {
		firstErr = ctx.Err()
	}
	return r, firstErr
}

// measure runs job i. A panic in it becomes an error that says how to run the
// job again.
func (p *Plan) measure(ctx context.Context, i int) (rows [][]float64, err error) {
	job, _ := p.job(i)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("experiments: %s: internal error in %s, replication %d, seed %d: %v\n%s",
				p.Experiment.Name, job.Cells[0], job.Replication, job.Seed, v, debug.Stack())
		}
	}()
	rows, err = p.Experiment.Measure(ctx, job)
	if err != nil {
		return nil, fmt.Errorf("experiments: %s: %s, replication %d: %w", p.Experiment.Name, job.Cells[0], job.Replication, err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // the job may have been cut short
	}
	if len(rows) != len(job.Cells) {
		panic(fmt.Sprintf("%d rows for %d cells", len(rows), len(job.Cells)))
	}
	return rows, nil
}

func (r *Result) store(i int, rows [][]float64) {
	job, cells := r.Plan.job(i)
	for k, c := range cells {
		r.values[c][job.Replication] = rows[k]
	}
	r.done++
}

// Done is the number of jobs measured, of the plan's Jobs.
func (r *Result) Done() int { return r.done }

// Values returns a metric of one cell in order of replications, of those that
// were measured. NaN means not applicable, +Inf never reached.
func (r *Result) Values(cell int, metric string) []float64 {
	m := r.metric(metric)
	var out []float64
	for _, row := range r.values[cell] {
		if row != nil {
			out = append(out, row[m])
		}
	}
	return out
}

func (r *Result) metric(name string) int {
	for i, m := range r.Plan.Experiment.Metrics {
		if m.Name == name {
			return i
		}
	}
	panic(fmt.Sprintf("experiments: %s has no metric %q", r.Plan.Experiment.Name, name))
}

// runUntil is e.RunUntil with a look at the context now and then.
func runUntil(ctx context.Context, e *sim.Engine, end sim.Time) error {
	for n := 1; ; n++ {
		if t, ok := e.Next(); !ok || t >= end {
			e.RunUntil(end)
			return ctx.Err()
		}
		e.Step()
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
