package plots

import (
	"cmp"
	"fmt"
	"math"
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
		Title: cutText(title, 100), Weight: height, X: Axis{Range: [2]float64{0, s.end / s.scale}},
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
			f.what = f.node + ": " + f.what
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

// The looks of the states of a breaker.
var (
	closedStyle   = Neutral.Member(0) // pale
	halfOpenStyle = Style{Color: BudgetBreaker.Color(), Glyph: Box, Size: 8}
	openStyle     = Style{Color: Unlimited.Color(), Glyph: Box, Size: 8}
)

// mostOpenings is how many steps with an opening are marked in a row.
const mostOpenings = 60

// share is the mean of a ratio over intervals.
func (s *systemTimeline) share(rows []table.Row, column string) float64 {
	sum, length := 0.0, 0.0
	for _, r := range rows {
		from, to := s.of(r)
		sum, length = sum+s.table.Value(r, column)*(to-from), length+to-from
	}
	return sum / length
}

// addStates adds a panel with a row for each link that has breakers.
func (s *systemTimeline) addStates(f *Figure, links []timelineEntity) {
	var names []string
	var bars Bars
	openings := Events{Label: "openings", Style: Style{Glyph: Tick, Size: 8}}
	var open, part, halfOpen bool
	for _, l := range links {
		if !s.any(l, "breakers_count") {
			continue
		}
		row, first := float64(len(names)), len(bars)
		var opened []float64
		for rows := range slices.Chunk(l.rows, s.together) {
			from, _ := s.of(rows[0])
			_, to := s.of(rows[len(rows)-1])
			b := Bar{Row: row, From: from / s.scale, To: to / s.scale, Style: closedStyle, Pale: true}
			switch share := s.share(rows, "open_ratio"); {
			case share >= 0.5:
				b.Style, b.Pale, open = openStyle, false, true
			case share > 0:
				b.Style, part = openStyle, true
			case s.share(rows, "half_open_ratio") > 0:
				b.Style, b.Pale, halfOpen = halfOpenStyle, false, true
			}
			if s.sum(timelineEntity{rows: rows}, "openings_count") > 0 {
				opened = append(opened, b.From)
			}
			if n := len(bars); n > first && bars[n-1].Style.Color == b.Style.Color && bars[n-1].Pale == b.Pale {
				bars[n-1].To = b.To
				continue
			}
			bars = append(bars, b)
		}
		name := cutText(l.name, 44) + "\n" + compact(s.sum(l, "openings_count"), 0) + " openings"
		if n := s.table.Value(l.rows[0], "breakers_count"); n > 1 {
			name += ", " + compact(n, 0) + " breakers"
		}
		names = append(names, strings.Replace(name, "\n1 openings", "\n1 opening", 1))
		if len(opened) <= mostOpenings {
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
	f.Key = append(f.Key, KeyItem{KeySpread, closedStyle, "breaker closed"})
	for _, k := range []struct {
		used bool
		item KeyItem
	}{
		{halfOpen, KeyItem{KeyPoint, halfOpenStyle, "half-open"}},
		{open, KeyItem{KeyPoint, openStyle, "open"}},
		{part, KeyItem{KeySpread, openStyle, "open for less than half of the step"}},
		{len(openings.At) > 0, KeyItem{KeyPoint, openings.Style, "step with an opening"}},
	} {
		if k.used {
			f.Key = append(f.Key, k.item)
		}
	}
}

// The parts of a run, seen from its faults.
const (
	beforeFaults = iota
	inFaults
	afterFaults
	betweenFaults
)

// part says in which part of the run an interval is; one that a fault touches
// is in it.
func (s *systemTimeline) part(from, to float64) int {
	first, last := math.Inf(1), math.Inf(-1)
	for _, f := range s.faults {
		if from < f.to && to > f.from {
			return inFaults
		}
		first, last = min(first, f.from), max(last, f.to)
	}
	switch {
	case to <= first:
		return beforeFaults
	case from >= last:
		return afterFaults
	}
	return betweenFaults
}

// parts adds up a column over the parts of the run.
func (s *systemTimeline) parts(list []timelineEntity, column string) (sums [4]float64) {
	at := s.table.ValueIndex(column)
	for _, e := range list {
		for _, r := range e.rows {
			sums[s.part(s.of(r))] += r.Values[at]
		}
	}
	return sums
}

// finding says which share of the requests succeeds before, in and after the
// faults, and which node gets the most calls for a request.
func (s *systemTimeline) finding() string {
	good, bad := s.parts(s.clients, "succeeded_count"), s.parts(s.clients, "failed_count")
	names := [3]string{"before the faults", "while they last", "after"}
	if len(s.faults) == 1 {
		names[0], names[1] = "before the fault", "while it lasts"
	}
	alone := names // without another before them
	alone[1], alone[2] = strings.Replace(names[0], "before", "during", 1), strings.Replace(names[0], "before", "after", 1)
	var words []string
	for p := range names {
		if good[p]+bad[p] == 0 {
			continue
		}
		text := sharePercent(good[p], good[p]+bad[p])
		switch {
		case len(s.faults) == 0:
			text += " of the requests succeed"
		case len(words) == 0:
			text += " of the requests succeed " + alone[p]
		default:
			text += " " + names[p]
		}
		words = append(words, text)
	}
	if len(words) == 0 {
		return "No request ends" + s.amplified()
	}
	return strings.Join(words, ", ") + s.amplified()
}

// enoughRequests is how many requests a ratio needs, to be no play of chance.
const enoughRequests = 100

// amplified names the node with the most calls for each request, in the step in
// which there are the most, or in as many together as have enough requests.
func (s *systemTimeline) amplified() string {
	requests := make([]float64, len(s.clients[0].rows))
	for _, c := range s.clients {
		for k, v := range s.column(c, "requests_count", len(requests)) {
			requests[k] += v
		}
	}
	starts, total, whole := []int{0}, 0.0, 0.0
	for k, n := range requests {
		whole += n
		if total += n; total >= enoughRequests {
			starts, total = append(starts, k+1), 0
		}
	}
	if len(starts) > 1 {
		starts = starts[:len(starts)-1] // what is left belongs to the last one
	}
	most, mean, node, at := 0.0, 0.0, "", 0
	for _, n := range s.nodes {
		calls := s.column(n, "calls_count", len(requests))
		for i, from := range starts {
			to := len(requests)
			if i+1 < len(starts) {
				to = starts[i+1]
			}
			made, got := 0.0, 0.0
			for k := from; k < to; k++ {
				made, got = made+requests[k], got+calls[k]
			}
			if made > 0 && got/made > most {
				most, node, at = got/made, n.name, from
				mean = s.sum(n, "calls_count") / whole
			}
		}
	}
	switch {
	case most < 1.005:
		return "; no node gets more than 1 call per request"
	case mean < 1.005 && most < 1.05:
		return fmt.Sprintf("; no node gets more than %s calls per request", compact(most, 2))
	case most < 1.05*mean:
		return fmt.Sprintf("; %s gets %s calls per request", node, compact(mean, 2))
	}
	from, _ := s.of(s.clients[0].rows[at])
	return fmt.Sprintf("; %s gets up to %s calls per request, at %s %s", node, compact(most, 2), compact(from/s.scale, 2), s.unit)
}

// column is the first n values of a column.
func (s *systemTimeline) column(e timelineEntity, name string, n int) []float64 {
	values, at := make([]float64, n), s.table.ValueIndex(name)
	for k := range min(n, len(e.rows)) {
		values[k] = e.rows[k].Values[at]
	}
	return values
}

// sharePercent is a share that is 0 or 100 % only if it is exactly.
func sharePercent(part, whole float64) string {
	v := 100 * part / whole
	for decimals := 1; decimals < 6; decimals++ {
		if text := compact(v, decimals); (text != "100" || part == whole) && (text != "0" || part == 0) {
			return text + " %"
		}
	}
	return compact(v, 6) + " %"
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
		words = append(words, f.node+": "+f.what+", "+when)
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
