package experiments

import (
	"strings"

	"github.com/stormglass/stormglass/table"
)

// A cross arranges a plan's cells by two of its factors, for tables with one
// down and one across.
type cross struct {
	plan         *Plan
	down, across string   // factors
	others       []string // what sets cells of equal levels apart, as Plan.varying says it
	cells        map[[3]string]int
}

func newCross(p *Plan, down, across string) cross {
	x := cross{plan: p, down: down, across: across, cells: map[[3]string]int{}}
	seen := map[string]bool{}
	for i, c := range p.Cells {
		o := p.varying(c, down, across)
		if !seen[o] {
			seen[o] = true
			x.others = append(x.others, o)
		}
		x.cells[[3]string{o, c.Text(down), c.Text(across)}] = i
	}
	return x
}

// cell returns the index of a cell, -1 if there is none.
func (x cross) cell(others, down, across string) int {
	if i, ok := x.cells[[3]string{others, down, across}]; ok {
		return i
	}
	return -1
}

// text is a table of the cells whose other factors read as given; its headings
// are the levels in words. A row of nothing but blanks is left out.
func (x cross) text(caption, others string, rows []crossRow) table.Text {
	t := table.Text{Caption: caption + others, Header: []string{strings.ReplaceAll(x.down, "_", " ")}, Left: 1}
	across := x.plan.level(x.across)
	for _, a := range across {
		t.Header = append(t.Header, x.plan.words(x.across, a))
	}
	for _, d := range x.plan.level(x.down) {
		for _, row := range rows {
			texts := []string{row.name}
			if row.name == "" {
				texts[0] = x.plan.words(x.down, d)
			}
			blank := true
			for _, a := range across {
				text := Blank
				if i := x.cell(others, d, a); i >= 0 {
					text = row.render(i)
				}
				blank = blank && text == Blank
				texts = append(texts, text)
			}
			if !blank {
				t.Append(texts...)
			}
		}
	}
	return t
}

// A crossRow is what a cross prints of each level: its name, "" for the level
// itself, and the text of a cell.
type crossRow struct {
	name   string
	render func(cell int) string
}

// words is a level of a factor as people read it.
func (p *Plan) words(factor, level string) string {
	for i := range p.Factors {
		if p.Factors[i].Name == factor {
			return p.Factors[i].words(level)
		}
	}
	return level
}
