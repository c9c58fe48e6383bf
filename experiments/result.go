package experiments

import (
	"math"
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// Runs returns the tidy table: one row per cell and replication.
func (r *Result) Runs() *table.Table {
	p := r.Plan
	keys := append(p.keyColumns(), table.Column{Name: "replication", Doc: "replication number, from 0"},
		table.Column{Name: "seed", Doc: "root seed of all random streams"})
	var values []table.Column
	for _, m := range p.Experiment.Metrics {
		values = append(values, table.Column{Name: m.Name, Doc: m.Doc})
		if m.Censored != "" {
			values = append(values, table.Column{Name: m.Censored, Doc: m.Name + " was never reached (1) or was (0)"})
		}
	}
	t := table.New(p.Experiment.Name, keys, values)
	for c := range p.Cells {
		for rep, row := range r.values[c] {
			if row == nil {
				continue
			}
			var cells []float64
			for i, m := range p.Experiment.Metrics {
				cells = append(cells, finiteOrNaN(row[i]))
				if m.Censored != "" {
					cells = append(cells, indicator(row[i]))
				}
			}
			t.Append(append(p.keyCells(c), strconv.Itoa(rep), strconv.FormatUint(p.Seed, 10)), cells...)
		}
	}
	return t
}

// indicator is 1 for never reached, 0 for reached, NaN for not applicable.
func indicator(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return v
	case math.IsInf(v, 1):
		return 1
	}
	return 0
}

func finiteOrNaN(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

func (p *Plan) keyColumns() []table.Column {
	keys := []table.Column{{Name: "experiment", Doc: p.Experiment.Question()}}
	for _, f := range p.Factors {
		keys = append(keys, p.column(f.Name))
	}
	return keys
}

// column is the key column of a factor, with its levels in words.
func (p *Plan) column(factor string) table.Column {
	i := slices.IndexFunc(p.Factors, func(f Factor) bool { return f.Name == factor })
	f := p.Factors[i]
	c := table.Column{Name: f.Name, Doc: f.Doc}
	if f.label != nil {
		c.Labels = map[string]string{}
		for _, level := range f.Levels {
			c.Labels[level] = f.label(level)
		}
	}
	return c
}

func (p *Plan) keyCells(cell int) []string {
	return append([]string{p.Experiment.Name}, p.Cells[cell].levels...)
}

// minForZ is the least number of replications for a z-score.
const minForZ = 10

// A Stat summarises one metric of one cell over the replications.
type Stat struct {
	N        int     // replications in which the metric was reached
	Censored int     // replications in which it never was
	Mean, SD float64 // of the N; NaN if N is 0, SD NaN if N is 1
	Lo, Hi   float64 // 95 % interval of the mean: Student t, or Wilson for a proportion

	Exact   float64 // closed form; NaN if none is known
	Z       float64 // (Mean − Exact) ÷ standard error; NaN if undefined
	Article float64 // as printed; NaN if not in the article, +Inf for "never"
}

// Applies reports whether the metric has any value in the cell.
func (s Stat) Applies() bool { return s.N+s.Censored > 0 }

// Stat returns the summary of a metric of one cell.
func (r *Result) Stat(cell int, metric string) Stat { return r.stats()[cell][r.metric(metric)] }

func (r *Result) summarise(cell int, m Metric) Stat {
	s := Stat{Exact: math.NaN(), Z: math.NaN(), Article: math.NaN()}
	var reached []float64
	for _, v := range r.Values(cell, m.Name) {
		switch {
		case math.IsInf(v, 1):
			s.Censored++
		case !math.IsNaN(v):
			reached = append(reached, v)
		}
	}
	s.N = len(reached)
	s.Mean, s.SD = theory.MeanSD(reached)
	if m.Proportion {
		successes := 0
		for _, v := range reached {
			successes += int(v)
		}
		s.Lo, s.Hi = theory.WilsonInterval(successes, s.N, 0.95)
	} else {
		s.Lo, s.Hi = theory.StudentInterval(s.N, s.Mean, s.SD, 0.95)
		if s.N > 0 && slices.Min(reached) >= 0 {
			s.Lo = max(s.Lo, 0) // of what is never negative the mean is not either
		}
	}
	if !s.Applies() {
		return s
	}
	c, e := r.Plan.Cells[cell], r.Plan.Experiment
	if e.Exact != nil {
		if v, ok := e.Exact(c, m.Name, r.Plan.Reps); ok {
			s.Exact = v
			// A standard error from few replications is too rough to judge by,
			// and there is none if they are all alike.
			if s.SD > 0 && s.N >= minForZ {
				s.Z = theory.ZScore(s.N, s.Mean, s.SD, v)
			}
		}
	}
	if e.Article != nil {
		if t, cn, am := e.Article(c, m.Name); t != "" {
			s.Article = articleValue(t, cn, am) / articleFactor(am)
		}
	}
	return s
}

// stats summarises all metrics of all cells, once.
func (r *Result) stats() [][]Stat {
	if r.summary == nil {
		r.summary = make([][]Stat, len(r.Plan.Cells))
		for c := range r.summary {
			for _, m := range r.Plan.Experiment.Metrics {
				r.summary[c] = append(r.summary[c], r.summarise(c, m))
			}
		}
	}
	return r.summary
}

// Find returns the index of the first cell with the given levels, or -1.
func (r *Result) Find(want map[string]string) int {
	return slices.IndexFunc(r.Plan.Cells, func(c Cell) bool { return c.has(want) })
}

// Lookup returns the summary of a metric in the first cell with the given
// levels; ok is false if there is no such cell.
func (r *Result) Lookup(want map[string]string, metric string) (s Stat, ok bool) {
	c := r.Find(want)
	if c < 0 {
		return Stat{}, false
	}
	return r.Stat(c, metric), true
}

// Summary returns one row per cell: the number of replications and, for each
// metric, mean, standard deviation, 95 % interval, and where they exist the
// count of censored replications, the closed form with its z-score, and the
// article's value.
func (r *Result) Summary() *table.Table {
	p, stats := r.Plan, r.stats()
	values := []table.Column{{Name: "n", Doc: "replications measured"}}
	type part struct {
		metric int
		get    func(Stat) float64
	}
	parts := []part{}
	add := func(metric int, name, doc string, get func(Stat) float64) {
		values = append(values, table.Column{Name: name, Doc: doc})
		parts = append(parts, part{metric, get})
	}
	for i, m := range p.Experiment.Metrics {
		add(i, m.Name+"_mean", m.Doc+"; mean", func(s Stat) float64 { return s.Mean })
		add(i, m.Name+"_sd", "standard deviation of one replication", func(s Stat) float64 { return s.SD })
		add(i, m.Name+"_ci95_lo", "95 % interval of the mean, lower end", func(s Stat) float64 { return s.Lo })
		add(i, m.Name+"_ci95_hi", "95 % interval of the mean, upper end", func(s Stat) float64 { return s.Hi })
		if m.Censored != "" {
			add(i, m.Censored, "replications in which "+m.Name+" was never reached", func(s Stat) float64 {
				if !s.Applies() {
					return math.NaN()
				}
				return float64(s.Censored)
			})
		}
		has := func(get func(Stat) float64) bool {
			return slices.ContainsFunc(stats, func(row []Stat) bool { return !math.IsNaN(get(row[i])) })
		}
		if exact := func(s Stat) float64 { return s.Exact }; has(exact) {
			add(i, m.Name+"_exact", "closed form, to 12 digits", func(s Stat) float64 { return digits(finiteOrNaN(s.Exact)) })
			add(i, m.Name+"_z", "(mean − closed form) ÷ standard error", func(s Stat) float64 { return finiteOrNaN(s.Z) })
		}
		if article := func(s Stat) float64 { return s.Article }; has(article) {
			add(i, m.Name+"_article", "value printed in the article", func(s Stat) float64 { return finiteOrNaN(s.Article) })
		}
	}
	t := table.New(p.Experiment.Name+"_summary", p.keyColumns(), values)
	for c := range p.Cells {
		row := []float64{float64(r.measured(c))}
		for _, part := range parts {
			row = append(row, part.get(stats[c][part.metric]))
		}
		t.Append(p.keyCells(c), row...)
	}
	return t
}

// Measured is the number of replications that hold all cells.
func (r *Result) Measured() int {
	n := r.Plan.Reps
	for c := range r.values {
		n = min(n, r.measured(c))
	}
	return n
}

func (r *Result) measured(cell int) int {
	n := 0
	for _, row := range r.values[cell] {
		if row != nil {
			n++
		}
	}
	return n
}

// digits rounds to 12 significant digits, so that 0.005 is not printed as
// 0.0049999999999999.
func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) {
		return v
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}
