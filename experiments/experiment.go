package experiments

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// An Experiment is one question: what is varied, what is measured, and how.
type Experiment struct {
	Name    string   // flag value and file stem: "false-trips"
	Doc     string   // first line is the question; then method and source
	Factors []Factor // swept axes with their default levels, in CSV order
	Metrics []Metric // what Measure returns, in order
	Reps    int      // default number of replications

	// RandomReps is that number if arrivals are random, where they need not be.
	RandomReps int

	// Valid reports whether a combination of levels makes sense; nil keeps all.
	Valid func(Cell) bool

	// Check refuses levels that contradict each other; nil refuses nothing.
	Check func(Cell) error

	// Measure runs one replication of a job's cells and returns one row of
	// metric values per cell. NaN means the metric does not apply there; +Inf
	// in a metric with a Censored name means it was never reached.
	Measure func(context.Context, Job) ([][]float64, error)

	// Exact returns the closed form of a metric in a cell, and false where
	// none is known. Nil means there are none. Its cost must stay below the
	// simulation's, which has reps replications.
	Exact func(c Cell, metric string, reps int) (float64, bool)

	// Article names the row of the article's table that a cell and metric
	// reproduce; "" or nil where there is none.
	Article func(c Cell, metric string) (table, caseName, articleMetric string)

	// Chart names the figure that shows the result; "" means Name.
	Chart string

	// Report renders the result for a terminal.
	Report func(*Result) []table.Text

	// Detail returns further tables, such as a time line of replication 0 or
	// the best cells; nil means there are none.
	Detail func(context.Context, *Result) ([]*table.Table, error)

	// Trace returns the failure trace that replication 0 runs on; nil if the
	// experiment makes none.
	Trace func(*Plan) (*model.Trace, error)

	// Logs reports whether a cell's job runs one model.System, every try of
	// which it tells to Job.Log: see newSystem. Nil means none does.
	Logs func(Cell) bool

	// Source says which trace the experiment runs on; "" if it makes its own.
	Source string

	// WithTrace returns the same question asked of a failure trace that the
	// user brings; nil if the experiment takes none.
	WithTrace func(name string, t *model.Trace) (*Experiment, error)
}

// A Metric is one measured number.
type Metric struct {
	Name string // with its unit: "detection_delay_s"
	Doc  string

	// Proportion marks a 0-or-1 outcome, summarised by a Wilson interval.
	Proportion bool

	// Censored names the count of replications in which the metric was never
	// reached, such as "undetected_count"; "" if that cannot happen.
	Censored string
}

// Question returns the first line of Doc.
func (e *Experiment) Question() string {
	first, _, _ := strings.Cut(e.Doc, "\n")
	return first
}

// ChartName returns the name of the figure that shows the result.
func (e *Experiment) ChartName() string { return cmp.Or(e.Chart, e.Name) }

// Factor returns the named factor, or nil.
func (e *Experiment) Factor(name string) *Factor {
	for i := range e.Factors {
		if e.Factors[i].Name == name {
			return &e.Factors[i]
		}
	}
	return nil
}

// All lists the experiments in documentation order.
func All() []*Experiment {
	return []*Experiment{
		falseTrips(),
		detectionDelay(),
		slowCalls(),
		windowGrid(),
		breakerPresets(),
		lateAnswers(),
		amplification(),
		amplificationTimeline(),
		amplificationLayers(),
		budgetInstances(),
		budgetPresets(),
		budgetBreaker(),
		backoffExperiment(),
		contention(),
		metastable(),
		meshRetries(),
		meshChain(),
		meshRetryCap(),
		meshWrites(),
		meshTimeouts(),
		doubleRetry(),
		cancellation(),
		fanOut(),
		storm(),
		jitterExperiment(),
		timeoutOrder(),
		halfOpen(),
		drill(),
		timeoutChoice(),
		whoPays(),
		guards(),
		retryOnExperiment(),
		idempotency(),
		delivery(),
		syncAsync(),
	}
}

// Names lists the names of All.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// Lookup returns the named experiment. The error of an unknown name lists the
// known ones and the nearest.
func Lookup(name string) (*Experiment, error) {
	for _, e := range All() {
		if e.Name == name {
			return e, nil
		}
	}
	return nil, fmt.Errorf("experiments: unknown experiment %q, %s", name, names.Known(name, Names()))
}

// A Cell is one combination of levels.
type Cell struct {
	factors []Factor
	levels  []string
}

// Text returns the level of the named factor. It panics if the experiment has
// no such factor.
func (c Cell) Text(name string) string {
	for i := range c.factors {
		if c.factors[i].Name == name {
			return c.levels[i]
		}
	}
	panic(fmt.Sprintf("experiments: cell has no factor %q", name))
}

// has reports whether the cell has the given levels.
func (c Cell) has(want map[string]string) bool {
	for name, level := range want {
		if c.Text(name) != level {
			return false
		}
	}
	return true
}

// Float returns the level of a numeric factor. It panics if the level is no
// number, which the factor's check rules out.
func (c Cell) Float(name string) float64 {
	v, err := parseNumber(c.Text(name))
	if err != nil {
		panic(fmt.Sprintf("experiments: factor %q: %v", name, err))
	}
	return v
}

// String lists the levels as name=level.
func (c Cell) String() string {
	var parts []string
	for i := range c.factors {
		parts = append(parts, c.factors[i].Name+"="+c.levels[i])
	}
	return strings.Join(parts, " ")
}

// A Job is one replication of the cells that share a run: they differ only in
// panel factors, such as breakers that watch the same traffic.
type Job struct {
	Cells       []Cell
	Seed        uint64
	Replication uint64

	// Log is told every try of the job's system; nil if nobody wants them.
	Log func(*model.Try)
}

// Stream returns the job's random stream of the named source. It does not
// depend on the cells.
func (j Job) Stream(source string) *sim.Rand { return sim.Stream(j.Seed, j.Replication, source) }

// Draws returns the job's counter-based draws of the named source.
func (j Job) Draws(source string) sim.Draws { return sim.NewDraws(j.Seed, j.Replication, source) }
