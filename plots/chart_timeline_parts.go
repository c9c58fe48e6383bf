package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// add adds a panel with faults behind the marks.
func (s *systemTimeline) add(f *Figure, height float64, title string, faults Spans, marks []Mark) {
	if !faults.labelled() { // one out of sight keeps the title off the axis
		faults = append(faults, Span{2 * s.end, 2 * s.end, title})
	}
	f.Panels = append(f.Panels, Panel{
		Title: title, Weight: height, X: Axis{Range: [2]float64{0, s.end / s.scale}},
		Marks: append([]Mark{faults}, marks...),
	})
}

// nameless is spans without names.
func nameless(spans Spans) Spans {
	spans = slices.Clone(spans)
	for i := range spans {
		spans[i].Label = ""
	}
	return spans
}

// spans are the faults of a node, or of all with their nodes' names. Those that
// overlap are one span with the names of all.
func (s *systemTimeline) spans(node string) Spans {
	var list []timelineFault
	for _, f := range s.faults {
		if node == "" {
			f.what = cutName(f.node, 24) + ": " + f.what
		}
		if node == "" || f.node == node {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b timelineFault) int { return cmp.Compare(a.from, b.from) })
	var spans Spans
	for _, f := range list {
		from, to := f.from/s.scale, f.to/s.scale
		if n := len(spans); n > 0 && from < spans[n-1].To {
			last := &spans[n-1]
			last.To = max(last.To, to)
			if !strings.Contains(last.Label, f.what) {
				last.Label += " + " + f.what
			}
			continue
		}
		spans = append(spans, Span{from, to, f.what})
	}
	for i := range spans {
		spans[i].Label = glued(cutText(spans[i].Label, 60))
	}
	return spans
}

// The looks of the states of a breaker. They cover the faults behind them, whose
// grey would make one more state of each.
var (
	closedStyle   = Style{Color: paled(Neutral.Color()), Glyph: Box, Size: 8}
	halfOpenStyle = Style{Color: BudgetBreaker.Color(), Glyph: Box, Size: 8}
	openStyle     = Style{Color: Unlimited.Color(), Glyph: Box, Size: 8}
	partStyle     = Style{Color: paled(Unlimited.Color()), Glyph: Box, Size: 8}
)

// paled is what a colour is at spreadAlpha on white.
func paled(c color.RGBA) color.RGBA {
	mix := func(v uint8) uint8 { return uint8((int(v)*spreadAlpha + 0xFF*(0xFF-spreadAlpha)) / 0xFF) }
	return color.RGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 0xFF}
}

// sparse is how many marks of openings in a row, evenly spaced, still leave the
// states between them to be seen.
const sparse = 150

// share is the mean of a ratio over intervals.
func (s *systemTimeline) share(rows []table.Row, column string) float64 {
	sum, length := 0.0, 0.0
	for _, r := range rows {
		from, to := s.of(r)
		sum, length = sum+s.table.Value(r, column)*(to-from), length+to-from
	}
	return sum / length
}

// addStates adds a panel with a row for the breakers of each name.
func (s *systemTimeline) addStates(f *Figure, breakers []timelineEntity) {
	var names []string
	var bars Bars
	openings := Events{Label: "openings", Style: Style{Glyph: Tick, Size: 8}}
	var open, part, halfOpen bool
	for _, l := range breakers {
		row, first := float64(len(names)), len(bars)
		var opened []float64
		for _, rows := range s.steps(l.rows) {
			from, _ := s.of(rows[0])
			_, to := s.of(rows[len(rows)-1])
			b := Bar{Row: row, From: from / s.scale, To: to / s.scale, Style: closedStyle}
			switch share := s.share(rows, "open_ratio"); {
			case share >= 0.5:
				b.Style, open = openStyle, true
			case share > 0:
				b.Style, part = partStyle, true
			case s.share(rows, "half_open_ratio") > 0:
				b.Style, halfOpen = halfOpenStyle, true
			}
			if s.sum(timelineEntity{rows: rows}, "openings_count") > 0 {
				opened = append(opened, b.From)
			}
			if n := len(bars); n > first && bars[n-1].Style.Color == b.Style.Color {
				bars[n-1].To = b.To
				continue
			}
			bars = append(bars, b)
		}
		name := cutName(l.name, 40) + "\n" + compact(s.sum(l, "openings_count"), 0) + " openings"
		if n := s.table.Value(l.rows[0], "breakers_count"); n > 1 {
			name += ", " + compact(n, 0) + " breakers"
		}
		names = append(names, strings.Replace(name, "\n1 openings", "\n1 opening", 1))
		near := false
		for i := 1; i < len(opened); i++ {
			near = near || (opened[i]-opened[i-1])*sparse < s.end/s.scale
		}
		if !near {
			for _, at := range opened {
				openings.At, openings.Rows = append(openings.At, at), append(openings.Rows, row)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	s.add(f, 40*float64(len(names)), "breakers", nameless(s.spans("")), []Mark{bars, openings})
	f.Panels[len(f.Panels)-1].Y.Rows = names
	f.Key = append(f.Key, KeyItem{KeyPoint, closedStyle, "breaker closed"})
	for _, k := range []struct {
		used bool
		item KeyItem
	}{
		{halfOpen, KeyItem{KeyPoint, halfOpenStyle, "half-open"}},
		{open, KeyItem{KeyPoint, openStyle, "open"}},
		{part, KeyItem{KeyPoint, partStyle, "open for less than half of the step"}},
		{len(openings.At) > 0, KeyItem{KeyPoint, openings.Style, "step with an opening"}},
	} {
		if k.used {
			f.Key = append(f.Key, k.item)
		}
	}
}

// faultList names the first faults with their times.
func (s *systemTimeline) faultList() string {
	const most = 4
	var words []string
	for i, f := range s.faults {
		if i == most && len(s.faults) > most+1 {
			words = append(words, fmt.Sprintf("and %d more", len(s.faults)-most))
			break
		}
		when := fmt.Sprintf("%s–%s %s", compact(f.from/s.scale, 2), compact(f.to/s.scale, 2), s.unit)
		if f.from == 0 && f.to == s.end {
			when = "all the time"
		}
		words = append(words, cutName(f.node, 24)+": "+cutText(f.what, 40)+", "+when)
	}
	if words == nil {
		return ""
	}
	if len(words) == 1 {
		return " · fault: " + words[0]
	}
	return " · faults: " + strings.Join(words, "; ")
}

// shortTime is a number of seconds in the unit that suits it.
func shortTime(s float64) string {
	switch {
	case s >= 3600:
		return compact(s/3600, 2) + " h"
	case s >= 120:
		return compact(s/60, 2) + " min"
	case s >= 1:
		return compact(s, 2) + " s"
	case s >= 1e-3:
		return compact(s*1e3, 3) + " ms"
	}
	return compact(s*1e6, 3) + " µs"
}
