package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["timeline"] = drawSystemTimelines }

// The most panels of each kind; the busiest nodes and links are shown.
const (
	maxTimelineClients  = 4
	maxTimelineNodes    = 8
	maxTimelineLinks    = 8
	maxTimelineBreakers = 12
)

// A timelineEntity is a client, a node, a link or the breakers of one name, with
// its intervals.
type timelineEntity struct {
	name string
	rows []table.Row
}

// A timelineFault is what is wrong with a node for a time.
type timelineFault struct {
	node, what string
	from, to   float64
}

// A systemTimeline is what happened to a system in one run.
type systemTimeline struct {
	table                           *table.Table
	clients, nodes, links, breakers []timelineEntity
	faults                          []timelineFault
	step, end                       float64
	together                        int     // intervals that are drawn as one
	unit                            string  // of the time axis
	scale                           float64 // s in it
}

// drawSystemTimelines draws for each system what happened to clients, nodes and
// links and breakers, one below the other.
func drawSystemTimelines(t *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(t, "kind", "name", "fault", "start_s") {
		s := readSystemTimeline(g)
		if len(s.clients) == 0 || s.end == 0 {
			return nil, fmt.Errorf("no interval of a client")
		}
		drawings = append(drawings, Drawing{g.suffix(), s.figure()})
	}
	return drawings, nil
}

func readSystemTimeline(g group) *systemTimeline {
	t := g.table
	s := &systemTimeline{table: t, unit: "s", scale: 1}
	kinds := map[string]*[]timelineEntity{"client": &s.clients, "node": &s.nodes, "link": &s.links, "breaker": &s.breakers}
	index := map[[2]string]int{}
	for _, r := range g.members {
		kind, name := t.Key(r, "kind"), t.Key(r, "name")
		from, to := number(t.Key(r, "start_s")), t.Value(r, "end_s")
		list := kinds[kind]
		if list == nil {
			s.faults = append(s.faults, timelineFault{name, t.Key(r, "fault"), from, to})
			continue
		}
		at, known := index[[2]string{kind, name}]
		if !known {
			at = len(*list)
			index[[2]string{kind, name}] = at
			*list = append(*list, timelineEntity{name: name})
		}
		(*list)[at].rows = append((*list)[at].rows, r)
		s.end, s.step = max(s.end, to), max(s.step, to-from)
	}
	switch {
	case s.end > 4*3600:
		s.unit, s.scale = "h", 3600
	case s.end > 1800:
		s.unit, s.scale = "min", 60
	}
	s.together = s.joined()
	return s
}

// The number of steps that are drawn: not so many that lines turn into bars,
// nor so few requests in each that they turn into a comb.
const (
	mostSteps       = 400
	fewestSteps     = 60
	requestsPerStep = 5
)

// joined says how many intervals are drawn as one.
func (s *systemTimeline) joined() int {
	n, requests := 0.0, 0.0
	for _, c := range s.clients {
		n = max(n, float64(len(c.rows)))
		requests += s.sum(c, "requests_count")
	}
	most := mostSteps
	if requests > 0 {
		most = min(most, int(requests/requestsPerStep))
	}
	least := int(math.Ceil(n / float64(max(most, fewestSteps))))
	for _, round := range []int{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600} {
		if round >= least {
			return round
		}
	}
	return least
}

// steps are the rows that are drawn together. A rest of less than half a step
// belongs to the one before: rates in it are chance.
func (s *systemTimeline) steps(rows []table.Row) [][]table.Row {
	list := slices.Collect(slices.Chunk(rows, s.together))
	if n := len(list); n > 1 {
		last := list[n-1]
		from, _ := s.of(last[0])
		if _, to := s.of(last[len(last)-1]); to-from < s.step*float64(s.together)/2*(1-1e-9) {
			list[n-2] = rows[(n-2)*s.together:]
			list = list[:n-1]
		}
	}
	return list
}

// figure is the page of a system.
func (s *systemTimeline) figure() *Figure {
	first := s.clients[0].rows[0]
	title := s.table.Key(first, "scenario")
	if v := s.table.Key(first, "variant"); v != "" {
		title += " [" + v + "]"
	}
	f := &Figure{
		Title: glued(s.finding()), Subtitle: glued(title + " · in steps of " + shortTime(s.step*float64(s.together)) + ", one run" + s.faultList()),
		Note: " · replication 0 · counted when it happened: requests when they end; calls at the node: ", ShareX: true,
	}
	if s.together > 1 {
		f.Note += "the most at the ends of intervals of " + shortTime(s.step)
	} else {
		f.Note += "at the end of each step"
	}
	if len(s.faults) > 0 {
		f.Key = append(f.Key, KeyItem{KeySpan, Style{}, "fault (beside a node: its own)"})
	}
	clients := s.most(s.clients, maxTimelineClients, "requests_count")
	nodes := s.most(s.nodes, maxTimelineNodes, "calls_count")
	links, quiet := s.notable()
	shown := s.most(links, maxTimelineLinks, "attempts_count")
	breakers := s.most(s.breakers, maxTimelineBreakers, "openings_count")
	for _, c := range clients {
		s.add(f, 120, "client "+cutName(c.name, 70)+": requests/s", s.spans(""), s.rates(c, clientSeries))
	}
	low := 1.0
	if len(nodes) > 4 {
		low = 0.75
	}
	var idle []string
	for _, n := range nodes {
		s.add(f, 120*low, "node "+cutName(n.name, 70)+": calls/s", s.spans(n.name), s.rates(n, nodeSeries))
		if !s.any(n, "in_flight_count") {
			idle = append(idle, n.name)
			continue
		}
		s.add(f, 64*low, "node "+cutName(n.name, 70)+": calls at the node", nameless(s.spans(n.name)), s.levels(n))
	}
	for _, l := range shown {
		s.add(f, 90*low, "link "+cutName(l.name, 70)+": calls/s", nameless(s.spans("")), s.rates(l, s.used(l, linkSeries)))
	}
	s.addStates(f, breakers)
	f.Panels[len(f.Panels)-1].X.Label = "time, " + s.unit
	f.Height = 250
	for i := range f.Panels {
		f.Height += int(f.Panels[i].Weight) + 74 // title, names of faults and gap
	}
	f.Note += leftOut("client", s.clients, clients) + leftOut("node", s.nodes, nodes) + leftOut("link", links, shown) + leftOut("breaker", s.breakers, breakers)
	if len(idle) > 0 {
		f.Note += " · no call at the node at any of these instants: " + cutText(strings.Join(idle, ", "), 100)
	}
	if len(quiet) > 0 {
		f.Note += " · no retry, refusal or timeout: " + cutText(strings.Join(quiet, ", "), 100)
	}
	return f
}

// A timelineSeries is a column that is drawn, and how.
type timelineSeries struct {
	column, label string
	style         Style
}

var (
	clientSeries = []timelineSeries{
		{"succeeded_count", "succeeded", Budget.Member(0)},
		{"failed_count", "failed", Unlimited.Member(0)},
	}
	nodeSeries = []timelineSeries{
		{"good_count", "good", Budget.Member(0)},
		{"errors_count", "errors", Unlimited.Member(0)},
		{"rejected_count", "rejected", FixedRetry.Member(0)},
		{"abandoned_count", "caller gone", BucketWindow.Member(1)},
	}
	levelSeries = []timelineSeries{
		{"in_flight_count", "in flight", NoRetry.Member(0)},
		{"queued_count", "waiting", TimeWindow.Member(0)},
	}
	linkSeries = []timelineSeries{
		{"retries_count", "retries", FixedRetry.Member(0)},
		{"denied_count", "no budget", BucketWindow.Member(1)},
		{"guarded_count", "guard", TimeWindow.Member(2)},
		{"refused_count", "refused", Unlimited.Member(0)},
		{"limited_count", "cap", BudgetBreaker.Member(3)},
		{"timed_out_count", "timeouts", NoRetry.Member(2)},
	}
)

// used keeps the series that are not 0 all the time.
func (s *systemTimeline) used(e timelineEntity, list []timelineSeries) []timelineSeries {
	return slices.DeleteFunc(slices.Clone(list), func(v timelineSeries) bool { return !s.any(e, v.column) })
}

// rates are the lines of columns that count, per second; those that are 0 all
// the time are left out, but for the first.
func (s *systemTimeline) rates(e timelineEntity, list []timelineSeries) []Mark {
	return s.lines(e, list, func(rows []table.Row, column int) float64 {
		from, _ := s.of(rows[0])
		_, to := s.of(rows[len(rows)-1])
		count := 0.0
		for _, r := range rows {
			count += r.Values[column]
		}
		return count / (to - from)
	})
}

// levels are the lines of what is there at the end of the intervals.
func (s *systemTimeline) levels(e timelineEntity) []Mark {
	return s.lines(e, levelSeries, func(rows []table.Row, column int) float64 {
		most := 0.0
		for _, r := range rows {
			most = max(most, r.Values[column])
		}
		return most
	})
}

func (s *systemTimeline) lines(e timelineEntity, list []timelineSeries, value func(rows []table.Row, column int) float64) []Mark {
	var marks []Mark
	for i, v := range list {
		if i > 0 && !s.any(e, v.column) {
			continue
		}
		line := Line{Label: v.label, Style: v.style, Step: true}
		line.Style.Width = 2
		at, last := s.table.ValueIndex(v.column), 0.0
		for _, rows := range s.steps(e.rows) {
			from, _ := s.of(rows[0])
			last = value(rows, at)
			line.X, line.Y = append(line.X, from/s.scale), append(line.Y, last)
		}
		line.X, line.Y = append(line.X, s.end/s.scale), append(line.Y, last)
		marks = append(marks, line)
	}
	return marks
}

// of is the interval of a row.
func (s *systemTimeline) of(r table.Row) (from, to float64) {
	return number(s.table.Key(r, "start_s")), s.table.Value(r, "end_s")
}

// any reports whether one of the columns is ever above 0.
func (s *systemTimeline) any(e timelineEntity, columns ...string) bool {
	for _, c := range columns {
		if s.sum(e, c) > 0 {
			return true
		}
	}
	return false
}

// sum adds up a column.
func (s *systemTimeline) sum(e timelineEntity, column string) float64 {
	total, at := 0.0, s.table.ValueIndex(column)
	for _, r := range e.rows {
		if v := r.Values[at]; !math.IsNaN(v) {
			total += v
		}
	}
	return total
}

// most keeps the n entities with the most of a column, in their order.
func (s *systemTimeline) most(list []timelineEntity, n int, column string) []timelineEntity {
	if len(list) <= n {
		return list
	}
	sums := make(map[string]float64)
	for _, e := range list {
		sums[e.name] = s.sum(e, column)
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b timelineEntity) int { return cmp.Compare(sums[b.name], sums[a.name]) })
	keep := map[string]bool{}
	for _, e := range sorted[:n] {
		keep[e.name] = true
	}
	var kept []timelineEntity
	for _, e := range list {
		if keep[e.name] {
			kept = append(kept, e)
		}
	}
	return kept
}

// notable are the links whose policies did something, and the names of the
// others.
func (s *systemTimeline) notable() (links []timelineEntity, quiet []string) {
	for _, l := range s.links {
		if len(s.used(l, linkSeries)) > 0 {
			links = append(links, l)
		} else {
			quiet = append(quiet, l.name)
		}
	}
	return links, quiet
}

// leftOut names what is not shown.
func leftOut(kind string, all, shown []timelineEntity) string {
	var names []string
	for _, e := range all {
		if !slices.ContainsFunc(shown, func(k timelineEntity) bool { return k.name == e.name }) {
			names = append(names, e.name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " · left out: " + kind + " " + cutName(names[0], 40)
	}
	return fmt.Sprintf(" · left out: %d %ss (%s)", len(names), kind, cutText(strings.Join(names, ", "), 100))
}

// cutName is a name of at most n characters. It keeps both ends: names often
// differ in the last part only.
func cutName(name string, n int) string {
	r := []rune(name)
	if len(r) <= n {
		return name
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-(n-1-n/2):])
}

// cutText is a text of at most n characters.
func cutText(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
