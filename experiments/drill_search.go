package experiments

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/stormglass/stormglass/table"
)

const (
	drillLateTries  = 3 // evaluations in the refinement of late_ratio
	drillQueueTries = 4 // and of queue_s, where each has twice the replications: the success of plain retries varies most
	drillAgain      = 4 // times as many replications when the best is measured again
)

// drillCapacities are the capacities at which the best setting is run for the
// figure, as shares of its own.
var drillCapacities = []float64{0.8, 0.9, 0.95, 0.98, 1, 1.03, 1.06, 1.1, 1.2}

// drillLineReps is the least number of replications there: at some capacities
// a run of plain retries either stands or falls.
const drillLineReps = 8

// A drillSearch is what the refinement of one result found.
type drillSearch struct {
	result *Result // that was refined; nil before
	found  []drillFound
}

// A drillFound is the refinement of the nearest cell of one delay.
type drillFound struct {
	grid  drillFit
	tried []drillFit
	best  drillFit // measured again
}

// A drillFit is a setting and how far it is from the article.
type drillFit struct {
	result *Result
	cell   int
}

// errors are those of the four figures.
func (f drillFit) errors() (e [4]float64) {
	for i, t := range drillTargets {
		e[i] = t.error(f.result.Stat(f.cell, t.metric).Mean)
	}
	return e
}

// distance is the root mean square of the errors; NaN in the stalled scene.
func (f drillFit) distance() float64 {
	sum := 0.0
	for _, e := range f.errors() {
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(drillTargets)))
}

// worst is the figure with the largest error, without its sign.
func (f drillFit) worst() (figure int, size float64) {
	for i, e := range f.errors() {
		if !(math.Abs(e) <= size) {
			figure, size = i, math.Abs(e)
		}
	}
	return figure, size
}

// nearestDrill is the cell with the least distance among those given, -1 if none has
// any.
func nearestDrill(r *Result, cells []int) int {
	best, least := -1, math.Inf(1)
	for _, i := range cells {
		if d := (drillFit{r, i}).distance(); d < least {
			best, least = i, d
		}
	}
	return best
}

// maxDrillFits is how many nearest cells are refined at most.
const maxDrillFits = 4

// detail refines the nearest cell of each delay. The tables are what was tried,
// and the best of all at other capacities.
func (s *drillSearch) detail(ctx context.Context, r *Result) ([]*table.Table, error) {
	*s = drillSearch{result: r}
	var starts []drillFit
	for _, cells := range r.Plan.cellGroups("late_ratio", "capacity_rps", "queue_s", "guard") {
		if i := nearestDrill(r, cells); i >= 0 {
			starts = append(starts, drillFit{r, i})
		}
	}
	slices.SortStableFunc(starts, func(a, b drillFit) int { return cmp.Compare(a.distance(), b.distance()) })
	for _, f := range starts[:min(len(starts), maxDrillFits)] {
		found, err := refineDrill(ctx, r, f)
		if err != nil {
			return nil, err
		}
		s.found = append(s.found, found)
	}
	slices.SortStableFunc(s.found, func(a, b drillFound) int { return cmp.Compare(a.best.distance(), b.best.distance()) })
	if len(s.found) == 0 {
		return nil, nil
	}
	best := s.found[0].best
	capacity := best.result.Plan.Cells[best.cell].Float("capacity_rps")
	var levels []float64
	for _, share := range drillCapacities {
		levels = append(levels, share*capacity)
	}
	line, err := drillLine(ctx, r, best, "capacity_rps", levels, (drillLineReps+r.Plan.Reps-1)/r.Plan.Reps, 1)
	if err != nil || line == nil {
		return []*table.Table{s.table()}, err
	}
	return []*table.Table{s.table(), drillTable("drill_capacity", line)}, nil
}

// refineDrill looks, at each capacity of the grid, for the share of late calls
// that gives the guarded success, and then for the queue that gives the other
// one; and measures the nearest of all again.
func refineDrill(ctx context.Context, r *Result, start drillFit) (drillFound, error) {
	d := drillFound{grid: start}
	nearest := start
	for _, capacity := range r.Plan.level("capacity_rps") {
		v, _ := parseNumber(capacity)
		line, err := drillLine(ctx, r, start, "capacity_rps", []float64{v}, 1, 0)
		if err != nil {
			return d, err
		}
		at := start
		if line != nil {
			at = drillFit{line, 0}
		}
		if at, err = d.refine(ctx, r, at, "late_ratio", drillTargets[3], drillLateTries, 1); err != nil {
			return d, err
		}
		if at, err = d.refine(ctx, r, at, "queue_s", drillTargets[1], drillQueueTries, 2); err != nil {
			return d, err
		}
		if at.distance() < nearest.distance() {
			nearest = at
		}
	}
	capacity := nearest.result.Plan.Cells[nearest.cell].Float("capacity_rps")
	again, err := drillLine(ctx, r, nearest, "capacity_rps", []float64{capacity}, drillAgain, 1)
	if err != nil {
		return d, err
	}
	if d.best = nearest; again != nil {
		d.best = drillFit{again, 0}
	}
	return d, nil
}

// refine looks for the level of a factor at which a success ratio, which falls
// in it, is the article's: by false position with the Illinois rule (Dowell and
// Jarratt 1971) in the logarithm of the ratio, between the half of the grid's
// least level and twice its largest. It returns the nearest of what it tried in
// that ratio.
func (d *drillFound) refine(ctx context.Context, r *Result, at drillFit, factor string, t drillTarget, tries, more int) (drillFit, error) {
	const least = 1e-5 // stands for no success at all
	miss := func(f drillFit) float64 {
		return math.Log(max(f.result.Stat(f.cell, t.metric).Mean, least) / t.article)
	}
	levels := r.Plan.level(factor)
	lo, hi := math.Inf(1), 0.0
	for _, l := range levels {
		v, _ := parseNumber(l)
		lo, hi = min(lo, v/2), max(hi, 2*v)
	}
	x := at.result.Plan.Cells[at.cell].Float(factor)
	if more > 1 {
		line, err := drillLine(ctx, r, at, factor, []float64{x}, more, 0)
		if line == nil {
			return at, err
		}
		at = drillFit{line, 0}
	}
	y := miss(at)
	if y > 0 {
		lo = x
	} else {
		hi = x
	}
	var yLo, yHi float64 // unknown at first: then the middle is tried
	if y > 0 {
		yLo = y
	} else {
		yHi = y
	}
	best, side := at, 0
	for range tries {
		next := (lo + hi) / 2
		if yLo > 0 && yHi < 0 {
			next = (lo*yHi - hi*yLo) / (yHi - yLo)
		} else if yLo > 0 {
			next = min(hi, lo*1.1)
		} else if yHi < 0 {
			next = max(lo, hi/1.1)
		}
		line, err := drillLine(ctx, r, at, factor, []float64{next}, more, 0)
		if line == nil {
			return best, err
		}
		f := drillFit{line, 0}
		d.tried = append(d.tried, f)
		y := miss(f)
		if math.Abs(y) < math.Abs(miss(best)) {
			best = f
		}
		if y > 0 {
			lo, yLo = next, y
			if side > 0 {
				yHi /= 2
			}
			side = 1
		} else {
			hi, yHi = next, y
			if side < 0 {
				yLo /= 2
			}
			side = -1
		}
	}
	return best, nil
}

// drillLine measures a setting at other levels of one factor, with more
// replications and another seed if asked. It returns nil if a level is out of
// range.
func drillLine(ctx context.Context, r *Result, at drillFit, factor string, values []float64, more int, seed uint64) (*Result, error) {
	c := at.result.Plan.Cells[at.cell]
	set := map[string]string{}
	for _, f := range r.Plan.Factors {
		set[f.Name] = c.Text(f.Name)
	}
	set[factor] = ""
	for i, v := range values {
		if i > 0 {
			set[factor] += ","
		}
		set[factor] += formatNumber(math.Round(v*1e6) / 1e6)
	}
	p, err := NewPlan(r.Plan.Experiment, Options{Seed: r.Plan.Seed + seed, Reps: r.Plan.Reps * more, Set: set})
	if err != nil {
		return nil, nil
	}
	return p.Run(ctx, runtime.GOMAXPROCS(0), nil)
}
