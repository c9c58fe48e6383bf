package plots

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

// A Drawing is a figure and what its file name adds to the experiment's, such
// as "_rate-50" where an experiment has several; "" for the first.
type Drawing struct {
	Suffix string
	Figure *Figure
}

// charts says which function draws which experiment. Each takes the summary
// and the further tables of the experiment.
var charts = map[string]func(summary *table.Table, details []*table.Table) ([]Drawing, error){}

// Draw draws the figures of an experiment from its tables: the summary first,
// then the details. The note is put under each figure.
func Draw(chart string, tables []*table.Table, note string) ([]Drawing, error) {
	draw, ok := charts[chart]
	if !ok {
		return nil, fmt.Errorf("plots: no chart %q", chart)
	}
	drawings, err := draw(tables[0], tables[1:])
	if err != nil {
		return nil, fmt.Errorf("plots: %s: %w", chart, err)
	}
	for _, d := range drawings {
		d.Figure.Note = note + d.Figure.Note
	}
	return drawings, nil
}
