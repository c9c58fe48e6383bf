package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// The parts of a run, seen from its faults.
const (
	beforeFaults = iota
	inFaults
	betweenFaults
	afterFaults
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
// faults, whether the system comes back, when breakers open, and which node gets
// the most calls, as far as there is room.
func (s *systemTimeline) finding() string {
	text := s.success()
	for _, more := range []string{s.opened(), s.load()} {
		if len([]rune(text+more)) > longestFinding {
			break
		}
		if more != "" {
			text += "; " + more
		}
	}
	return text
}

// longestFinding is how many characters fit in a title at its size.
const longestFinding = 160

// success says which share of the requests succeeds in each part of the run.
func (s *systemTimeline) success() string {
	good, bad := s.parts(s.clients, "succeeded_count"), s.parts(s.clients, "failed_count")
	names := [...]string{"before the faults", "while they last", "between them", "after"}
	if len(s.faults) == 1 {
		names[0], names[1] = "before the fault", "while it lasts"
	}
	alone := names // without another before them
	for p, as := range []string{inFaults: "during", betweenFaults: "between", afterFaults: "after"} {
		if as != "" {
			alone[p] = strings.Replace(names[0], "before", as, 1)
		}
	}
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
		return "No request ends"
	}
	if back := s.back(good[beforeFaults], bad[beforeFaults]); back != "" {
		words = append(words, back)
	}
	return strings.Join(words, ", ")
}

// A share of success needs so many requests to be no play of chance, and is as
// it was before if it is at least so much of it.
const (
	enoughRequests = 100
	asBefore       = 0.99
)

// back says from when on the requests succeed as they did before the faults, if
// that is not from the end of the faults on: in each stretch of enough requests
// as many as before, up to what chance explains.
func (s *systemTimeline) back(good, bad float64) string {
	if good+bad < enoughRequests {
		return ""
	}
	before := good / (good + bad)
	since, first, known := 0.0, 0.0, false
	stretch, lasting := 0.0, false // begin of the one that is being filled; whether one that is as before has come since the last that is not
	good, bad = 0, 0
	count := len(s.clients[0].rows)
	for k := range count {
		from, to := s.of(s.clients[0].rows[k])
		if s.part(from, to) != afterFaults {
			continue
		}
		if good+bad == 0 {
			stretch = from
		}
		if !known {
			first, known = from, true
		}
		for _, c := range s.clients {
			good, bad = good+s.table.Value(c.rows[k], "succeeded_count"), bad+s.table.Value(c.rows[k], "failed_count")
		}
		n := good + bad
		if n < enoughRequests {
			continue
		}
		least := asBefore*before - 4*math.Sqrt(before*(1-before)/n)
		switch ok := good/n >= least; {
		case !ok:
			lasting = false
		case !lasting:
			lasting, since = true, stretch
		}
		good, bad = 0, 0
	}
	switch {
	case !known:
		return ""
	case !lasting:
		return "not as before by the end"
	case since > first:
		return "as before from " + s.clock(since) + " " + s.unit + " on"
	}
	return ""
}

// opened says which breakers open, and from which interval on.
func (s *systemTimeline) opened() string {
	var first, until, openings float64
	var which string
	opened := 0
	for _, b := range s.breakers {
		n := s.sum(b, "openings_count")
		if n == 0 {
			continue
		}
		opened++
		at := slices.IndexFunc(b.rows, func(r table.Row) bool { return s.table.Value(r, "openings_count") > 0 })
		if from, to := s.of(b.rows[at]); which == "" || from < first {
			first, until, which, openings = from, to, cutName(b.name, 24), n
		}
	}
	switch {
	case len(s.breakers) == 0:
		return ""
	case opened == 0:
		return "no breaker opens"
	case opened > 1:
		return fmt.Sprintf("%d of %d breakers open, from %s %s on", opened, len(s.breakers), s.clock(first), s.unit)
	case openings == 1:
		return fmt.Sprintf("breaker %s opens once, within %s–%s %s", which, s.clock(first), s.clock(until), s.unit)
	}
	return fmt.Sprintf("breaker %s opens %s times, from %s %s on", which, compact(openings, 0), s.clock(first), s.unit)
}

// clock is an instant, given in s, in the unit of the time axis: 65.5, or 5:40
// min, or 1:05:40 h.
func (s *systemTimeline) clock(t float64) string {
	if s.scale == 1 {
		return compact(t, 4)
	}
	minutes := math.Floor(t / 60)
	text := fmt.Sprintf("%02.0f", math.Floor(t-60*minutes))
	if s.scale == 60 {
		return fmt.Sprintf("%.0f:", minutes) + text
	}
	hours := math.Floor(minutes / 60)
	return fmt.Sprintf("%.0f:%02.0f:", hours, minutes-60*hours) + text
}

// load names the node that gets the most calls for each request of the run, and
// the most of its calls per second in a step as it is drawn.
func (s *systemTimeline) load() string {
	requests := 0.0
	for _, c := range s.clients {
		requests += s.sum(c, "requests_count")
	}
	most, node := 0.0, timelineEntity{}
	for _, n := range s.nodes {
		if calls := s.sum(n, "calls_count"); calls > most {
			most, node = calls, n
		}
	}
	if most <= requests || requests == 0 {
		return ""
	}
	line, _ := s.rates(node, []timelineSeries{{column: "calls_count"}})[0].(Line)
	peak := slices.Index(line.Y, slices.Max(line.Y))
	return fmt.Sprintf("%s gets %s calls per request, up to %s/s at %s %s",
		cutName(node.name, 30), compact(most/requests, 2), compact(line.Y[peak], 0), s.clock(line.X[peak]*s.scale), s.unit)
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
