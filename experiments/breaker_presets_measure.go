package experiments

import (
	"context"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func measureBreakerPresets(ctx context.Context, j Job) ([][]float64, error) {
	trips, err := presetTrips(ctx, j)
	if err != nil {
		return nil, err
	}
	outages, err := presetOutages(ctx, j)
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, len(j.Cells))
	for i := range rows {
		rows[i] = append(trips[i], summedUp(outages[i])...)
	}
	return rows, nil
}

// presetWatches puts the breakers of all cells before the same calls; nil
// where a cell has none.
func presetWatches(j Job, from, to sim.Time) (all []*breakerWatch, watchers []model.Watcher, err error) {
	all = make([]*breakerWatch, len(j.Cells))
	for i, c := range j.Cells {
		maker := presetMaker(c)
		if maker == nil {
			continue
		}
		if all[i], err = newBreakerWatch(maker, j.Stream("throttle"), from, to); err != nil {
			return nil, nil, err
		}
		all[i].anew = c.Text("settings") == presetT4b
		all[i].flap = sim.Time(seconds(c.Float("flap_s")))
		watchers = append(watchers, all[i])
	}
	return all, watchers, nil
}

// presetTrips runs the trace without an outage.
func presetTrips(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	g := failures(c, true)
	warm := seconds(c.Float("warmup_s"))
	end := sim.Time(warm + g.Horizon)
	watches, watchers, err := presetWatches(j, sim.Time(warm), end)
	if err != nil {
		return nil, err
	}
	if err := watchTrace(ctx, j, g, warm, watchers); err != nil {
		return nil, err
	}
	rows := make([][]float64, len(j.Cells))
	for i, w := range watches {
		rows[i] = tripsOf(w, j.Cells[i], end)
	}
	return rows, nil
}

// tripsOf is what a breaker did in the trace, from its openings to its time
// open.
func tripsOf(w *breakerWatch, c Cell, end sim.Time) []float64 {
	nan := math.NaN()
	row := []float64{nan, nan, nan, nan, nan}
	if w == nil {
		return row
	}
	w.clock.now = end - 1
	w.breaker.Advance() // what has been due since the last call
	if !c.preset().Throttle {
		row[0], row[1] = float64(w.openings), 0
		if w.openings > 0 {
			row[1] = 1
		}
	}
	if w.anew {
		return row
	}
	row[3] = quotient(w.goodRefused, w.good)
	if !c.preset().Throttle {
		row[2], row[4] = float64(w.flaps), w.openRatio()
	}
	return row
}

// A presetResponse is what a breaker did in one outage.
type presetResponse struct {
	delay, bad, reopenings, recovery float64 // delay and recovery are +Inf for never, all NaN where they do not apply
}

// presetOutages runs the outages, and returns what each cell did by phase.
func presetOutages(ctx context.Context, j Job) ([][]presetResponse, error) {
	out := make([][]presetResponse, len(j.Cells))
	for k := range outagePhases {
		o := presetOutage(j.Cells[0], k)
		watches, watchers, err := presetWatches(j, sim.Time(o.from), sim.Time(o.to))
		if err != nil {
			return nil, err
		}
		for _, w := range watches {
			if w != nil {
				w.firstOnly = w.anew
			}
		}
		source, err := newOutageArrivals(arrivals(j.Cells[0]), j, o)
		if err != nil {
			return nil, err
		}
		feed := model.Feed{Arrivals: source, Segments: o.segments(), Until: sim.Time(o.end), Watchers: watchers}
		if err := feed.Run(ctx, sim.New()); err != nil {
			return nil, err
		}
		for i, w := range watches {
			out[i] = append(out[i], responseOf(w, j.Cells[i].preset().Throttle, o))
		}
	}
	return out, nil
}

// segments is the trace of an outage of every call.
func (o outageTimes) segments() model.SegmentSource {
	return model.List(
		model.Segment{End: o.from},
		model.Segment{Start: o.from, End: o.to, Condition: model.Condition{ErrorRatio: 1}},
		model.Segment{Start: o.to, End: o.end},
	)
}

// responseOf reads the response of a breaker off its watch.
func responseOf(w *breakerWatch, throttle bool, o outageTimes) presetResponse {
	nan := math.NaN()
	if w == nil {
		return presetResponse{nan, nan, nan, nan}
	}
	r := presetResponse{delay: w.delay(sim.Time(o.from)), bad: float64(w.badCalls), reopenings: float64(w.reopenings)}
	if throttle {
		r.delay, r.reopenings = math.Inf(1), nan
		if w.refused > 0 && w.firstRefused < sim.Time(o.to) {
			r.delay = w.firstRefused.Sub(sim.Time(o.from)).Seconds()
		}
	}
	switch {
	case w.anew:
		r.reopenings, r.recovery = nan, nan
	case w.refused > 0 && w.lastRefused == w.lastCall && w.lastCall >= sim.Time(o.to):
		r.recovery = math.Inf(1)
	case w.refused > 0:
		r.recovery = max(0, w.lastRefused.Sub(sim.Time(o.to)).Seconds())
	}
	return r
}

// summedUp are the metrics of the outages of a cell.
func summedUp(phases []presetResponse) []float64 {
	var delay, bad, reopenings, recovery float64
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range phases {
		delay, bad, reopenings, recovery = delay+p.delay, bad+p.bad, reopenings+p.reopenings, recovery+p.recovery
		if !math.IsInf(p.delay, 1) && !math.IsNaN(p.delay) {
			least, most = min(least, p.delay), max(most, p.delay)
		}
	}
	if least > most {
		least, most = math.NaN(), math.NaN()
	}
	n := float64(len(phases))
	return []float64{wholeNanos(delay / n), least, most, bad / n, reopenings / n, wholeNanos(recovery / n)}
}

// wholeNanos takes the errors of adding up from a number of seconds.
func wholeNanos(s float64) float64 { return math.Round(s*1e9) / 1e9 }

// outageArrivals makes calls in three stretches, each of which begins anew: so
// with fixed arrivals a call comes at the instant of every change.
type outageArrivals struct {
	stretches []model.Source
	starts    []time.Duration // of the stretches, and the end of the last
	at        int
}

func newOutageArrivals(law model.Arrivals, j Job, o outageTimes) (*outageArrivals, error) {
	a := &outageArrivals{starts: []time.Duration{0, o.from, o.to, o.end}}
	for _, name := range []string{"arrivals/healthy", "arrivals/outage", "arrivals/after"} {
		s, err := law.Source(j.Stream(name))
		if err != nil {
			return nil, err
		}
		a.stretches = append(a.stretches, s)
	}
	return a, nil
}

// Next implements model.Source.
func (a *outageArrivals) Next() (sim.Time, bool) {
	for ; a.at < len(a.stretches); a.at++ {
		start, end := sim.Time(a.starts[a.at]), sim.Time(a.starts[a.at+1])
		if t, ok := a.stretches[a.at].Next(); ok && t < end-start {
			return start + t, true
		}
	}
	return 0, false
}

// breakerPresetPhases is the response to each outage of replication 0.
func breakerPresetPhases(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("breaker-presets_phases", append(p.keyColumns(),
		table.Column{Name: "replication"}, table.Column{Name: "phase_ms", Doc: "start of the outage after that of a second, ms"}),
		[]table.Column{
			{Name: "detection_delay_s", Doc: "start of the outage to the opening, or to the first refused call of a throttle, s; empty: never"},
			{Name: "bad_calls_count", Doc: "failing calls made until then, as in the summary"},
			{Name: "reopenings_count", Doc: "openings of a half-open breaker during the outage"},
			{Name: "recovery_s", Doc: "end of the outage to the last refused call, s; empty: never, or not in t4b"},
		})
	for _, cells := range p.groups {
		job := p.Job(cells[0], 0)
		job.Cells = nil
		for _, i := range cells {
			job.Cells = append(job.Cells, p.Cells[i])
		}
		outages, err := presetOutages(ctx, job)
		if err != nil {
			return nil, err
		}
		for k, i := range cells {
			for phase, o := range outages[k] {
				if math.IsNaN(o.delay) {
					continue
				}
				t.Append(append(p.keyCells(i), "0", formatNumber(float64(phaseOf(phase).Milliseconds()))),
					wholeNanos(finiteOrNaN(o.delay)), o.bad, o.reopenings, wholeNanos(finiteOrNaN(o.recovery)))
			}
		}
	}
	return []*table.Table{t}, nil
}
