package experiments

import "github.com/stormglass/stormglass/table"

// table lists, for each delay, the nearest cell of the grid, what the refinement
// tried, and its end measured again.
func (s *drillSearch) table() *table.Table {
	keys := []table.Column{{Name: "step", Doc: "grid: the nearest cell of the grid; tried: by the refinement; again: its end, measured with another seed"}}
	t := table.New("drill_search", append(keys, s.result.Plan.keyColumns()...), drillColumns())
	add := func(step string, f drillFit) {
		t.Append(append([]string{step}, f.result.Plan.keyCells(f.cell)...), drillValues(f)...)
	}
	for _, d := range s.found {
		add("grid", d.grid)
		for _, f := range d.tried {
			add("tried", f)
		}
		add("again", d.best)
	}
	return t
}

// drillTable lists the cells of a line with their intervals.
func drillTable(name string, r *Result) *table.Table {
	t := table.New(name, r.Plan.keyColumns(), drillColumns())
	for i := range r.Plan.Cells {
		t.Append(r.Plan.keyCells(i), drillValues(drillFit{r, i})...)
	}
	return t
}

func drillColumns() []table.Column {
	columns := []table.Column{{Name: "n", Doc: "replications measured"}, {Name: "distance_ratio", Doc: "root mean square of the errors of the four figures"}}
	for _, t := range drillTargets {
		columns = append(columns, table.Column{Name: t.metric + "_mean"}, table.Column{Name: t.metric + "_ci95_lo"},
			table.Column{Name: t.metric + "_ci95_hi"}, table.Column{Name: t.metric + "_error_ratio", Doc: "mean ÷ article − 1; of a share, mean − article"}, table.Column{Name: t.metric + "_article"})
	}
	return append(columns, table.Column{Name: "plain_busy_ratio_mean"}, table.Column{Name: "guarded_busy_ratio_mean"})
}

func drillValues(f drillFit) []float64 {
	errors := f.errors()
	values := []float64{float64(f.result.Stat(f.cell, "plain_rps").N), f.distance()}
	for i, t := range drillTargets {
		s := f.result.Stat(f.cell, t.metric)
		values = append(values, s.Mean, s.Lo, s.Hi, errors[i], t.article)
	}
	return append(values, f.result.Stat(f.cell, "plain_busy_ratio").Mean, f.result.Stat(f.cell, "guarded_busy_ratio").Mean)
}
