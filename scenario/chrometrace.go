package scenario

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// DefaultEvents is a number of events that viewers still open quickly.
const DefaultEvents = 200_000

// mostReadings is how often counters are read at most.
const mostReadings = 2000

// WriteEvents runs replication 0 and writes it as Chrome trace-event JSON, for
// Perfetto (ui.perfetto.dev) and chrome://tracing. Times are virtual.
//
// Each link is a process, named as in claims: two links between the same nodes
// are two. Its tries are slices, named by their outcome, on as many threads as
// keep them apart: tries on one thread never overlap. A counter says how many of
// its breakers are open and half-open; a breaker that links share is a process
// of its own. Each node is a process too, with its faults as slices, and
// counters of the calls that wait and that are there, read each second, or so
// that they are read 50 to 2,000 times.
//
// At most so many events are written, at least 1, besides the names of tracks.
// Where there are more, the trace ends before the run does: cut is true, and
// the file says so in its note and at that instant. WriteEvents keeps no
// events in memory, and writes the same bytes for the same case.
func (c *Case) WriteEvents(ctx context.Context, w io.Writer, most int) (n int, cut bool, err error) {
	if most < 1 {
		return 0, false, fmt.Errorf("scenario: at most %d events, want at least 1", most)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	e := &eventTrace{of: c, w: bufio.NewWriterSize(w, 1<<16), most: most, stop: stop, step: timelineStep(c.Config.Horizon, mostReadings)}
	config, groups := c.breakers(e.changed)
	config.Interval, e.groups = e.step, groups
	if e.system, err = model.New(config, c.Seed, 0); err != nil {
		return 0, false, fmt.Errorf("%s: %w", c.Title(), err)
	}
	e.system.Observe(e.try)
	e.begin()
	err = e.run(ctx)
	if e.err == nil && (err == nil || e.cut) {
		e.end()
	}
	if e.err == nil {
		e.err = e.w.Flush()
	}
	switch {
	case e.err != nil:
		err = fmt.Errorf("scenario: write events: %w", e.err)
	case e.cut:
		err = nil
	case err != nil:
		err = fmt.Errorf("%s: %w", c.Title(), err)
	}
	return e.n, e.cut, err
}

// An eventTrace is a trace that is being written.
type eventTrace struct {
	of     *Case
	step   time.Duration // between readings of counters
	system *model.System
	w      *bufio.Writer
	err    error // of w
	buf    []byte

	n, most int
	cut     bool
	cutAt   sim.Time
	stop    func() // the run

	lanes   []lanes // of processes, by pid
	groups  []breakerGroup
	states  []stateCount // of the groups
	changes []breakerChange
	nodes   []model.NodeInterval
}

// A breakerChange is a change of a breaker of a group.
type breakerChange struct {
	group int
	policies.Change
}

// begin writes the head of the file, the names of processes, and the faults.
func (e *eventTrace) begin() {
	c := e.of
	e.write(fmt.Appendf(nil, `{"displayTimeUnit":"ms","otherData":{"scenario":%s,"variant":%s,"seed":%d,"replication":0,"horizon_s":%s},"traceEvents":[
{"ph":"M","name":"process_name","ts":0,"pid":1,"args":{"name":%s}}`,
		quote(c.Name), quote(c.Variant), c.Seed, table.Format(c.Config.Horizon.Seconds()), quote(c.Title())))
	w := c.world
	e.lanes = make([]lanes, e.groupPID(len(e.groups)))
	e.nodes = make([]model.NodeInterval, len(w.nodes))
	for i, name := range w.links {
		e.process(e.linkPID(i), "link "+name)
	}
	for i, name := range w.nodes {
		e.process(e.nodePID(i), "node "+name)
		e.calls(0, i, model.NodeInterval{}, true)
	}
	for i, g := range e.groups {
		e.states = append(e.states, g.initial)
		if g.shared {
			e.process(e.groupPID(i), "breaker "+g.name)
		}
		if e.room() {
			e.breakers(0, i)
		}
	}
	for _, f := range c.faults() {
		for i, name := range w.nodes {
			if name == f.node {
				e.slice(quote(f.what), "fault", e.nodePID(i), sim.Time(f.start), sim.Time(f.end), "faults", nil)
			}
		}
	}
}

// Process 1 is the run itself; then come links, nodes and shared breakers.
func (e *eventTrace) linkPID(link int) int { return 2 + link }
func (e *eventTrace) nodePID(node int) int { return 2 + len(e.of.world.links) + node }

// breakerPID is the process that shows the breakers of a group.
func (e *eventTrace) breakerPID(group int) int {
	if g := e.groups[group]; !g.shared {
		return e.linkPID(g.link)
	}
	return e.groupPID(group)
}

func (e *eventTrace) groupPID(group int) int { return e.nodePID(len(e.of.world.nodes)) + group }

// run runs the system, and reads its counters at the end of each interval.
func (e *eventTrace) run(ctx context.Context) error {
	end := sim.Time(e.of.Config.Horizon)
	for now := sim.Time(0); now < end; {
		now = now.Add(min(e.step, end.Sub(now)))
		if err := e.system.RunUntil(ctx, now); err != nil {
			return err
		}
		e.tell()
		series := e.system.Series()
		for i, n := range series[len(series)-1].Nodes {
			e.calls(now, i, n, false)
		}
	}
	e.system.Pending(e.try)
	return nil
}

// end writes the note and the end of the file.
func (e *eventTrace) end() {
	e.tell()
	note := fmt.Sprintf("complete: %d events, the whole run of %v", e.n, e.of.Config.Horizon)
	if e.cut {
		note = fmt.Sprintf("cut after %d events, at %v of %v; tries that had not ended by then are missing", e.n, e.cutAt, e.of.Config.Horizon)
		e.open(quote(note), 'i', e.cutAt, 1)
		e.close(`,"tid":1,"s":"g"}`)
	}
	e.write(fmt.Appendf(nil, "\n],\"note\":%s}\n", quote(note)))
}

// try writes a try that has ended, or is pending at the end of the run.
func (e *eventTrace) try(t *model.Try) {
	outcome := "ok"
	switch {
	case t.Pending:
		outcome = "pending"
	case !t.OK:
		outcome = t.Code.Error()
	}
	e.slice(quote(outcome), "try", e.linkPID(int(t.Link)), t.At.Add(-t.Latency), t.At, "tries", t)
}

// slice writes a complete event on the lowest thread of a process that is free.
// The arguments are those of a try, if there is one.
func (e *eventTrace) slice(name, category string, pid int, start, end sim.Time, thread string, t *model.Try) {
	if !e.room() {
		return
	}
	lane, fresh := e.lanes[pid].place(start, end)
	if fresh {
		e.open(`"thread_name"`, 'M', 0, pid)
		e.buf = append(e.buf, `,"tid":`...)
		e.buf = strconv.AppendInt(e.buf, int64(lane+1), 10)
		e.close(`,"args":{"name":"` + thread + `"}}`)
	}
	e.open(name, 'X', start, pid)
	e.buf = append(e.buf, `,"tid":`...)
	e.buf = strconv.AppendInt(e.buf, int64(lane+1), 10)
	e.buf = append(append(append(e.buf, `,"cat":"`...), category...), `","dur":`...)
	e.buf = appendMicros(e.buf, int64(end-start))
	if t != nil {
		e.buf = append(e.buf, `,"args":{"request":`...)
		e.buf = strconv.AppendUint(e.buf, t.Request, 10)
		e.buf = append(e.buf, `,"attempt":`...)
		e.buf = strconv.AppendUint(e.buf, uint64(t.Number), 10)
		e.buf = append(append(e.buf, `,"outcome":`...), name...)
		if t.Guarded {
			e.buf = append(append(append(e.buf, `,"breaker":"`...), t.Breaker.String()...), '"')
		}
		if t.Abandoned {
			e.buf = append(e.buf, `,"abandoned":true`...)
		}
		e.buf = append(e.buf, '}')
	}
	e.close("}")
}

// changed takes note of a change of a breaker. Breakers may tell of it later
// than it was, so it is written in tell.
func (e *eventTrace) changed(group int, c policies.Change) {
	if e.room() {
		e.changes = append(e.changes, breakerChange{group, c})
	}
}

// tell writes the changes that were noted, in the order of their instants.
func (e *eventTrace) tell() {
	slices.SortStableFunc(e.changes, func(a, b breakerChange) int { return a.At.Compare(b.At) })
	for _, c := range e.changes {
		e.states[c.group].change(c.Change)
		e.breakers(sim.TimeOf(c.At), c.group)
	}
	e.changes = e.changes[:0]
}

func (e *eventTrace) breakers(at sim.Time, group int) {
	s := e.states[group]
	e.counter("breakers", at, e.breakerPID(group), "open", s.open, "half-open", s.halfOpen)
}

// calls writes the counters of a node that have changed, or all.
func (e *eventTrace) calls(at sim.Time, node int, n model.NodeInterval, all bool) {
	was := &e.nodes[node]
	if (all || n.InFlight != was.InFlight || n.Queued != was.Queued) && e.room() {
		e.counter("calls", at, e.nodePID(node), "in flight", int(n.InFlight), "waiting", int(n.Queued))
	}
	*was = n
}

// counter writes the values of two series of a counter.
func (e *eventTrace) counter(name string, at sim.Time, pid int, a string, x int, b string, y int) {
	e.open(`"`+name+`"`, 'C', at, pid)
	e.close(fmt.Sprintf(`,"args":{"%s":%d,"%s":%d}}`, a, x, b, y))
}

func (e *eventTrace) process(pid int, name string) {
	e.open(`"process_name"`, 'M', 0, pid)
	e.close(`,"args":{"name":` + quote(name) + `}}`)
	e.open(`"process_sort_index"`, 'M', 0, pid)
	e.close(`,"args":{"sort_index":` + strconv.Itoa(pid) + `}}`)
}

// room counts an event, and ends the run if there have been enough.
func (e *eventTrace) room() bool {
	if e.cut || e.err != nil {
		return false
	}
	if e.n == e.most {
		e.cut, e.cutAt = true, e.system.Now()
		e.stop()
		return false
	}
	e.n++
	return true
}

// open begins an event, close ends and writes it.
func (e *eventTrace) open(name string, phase byte, at sim.Time, pid int) {
	e.buf = append(e.buf[:0], ",\n{\"ph\":\""...)
	e.buf = append(append(append(e.buf, phase), `","name":`...), name...)
	e.buf = append(e.buf, `,"ts":`...)
	e.buf = appendMicros(e.buf, int64(at))
	e.buf = append(e.buf, `,"pid":`...)
	e.buf = strconv.AppendInt(e.buf, int64(pid), 10)
}

func (e *eventTrace) close(rest string) {
	e.buf = append(e.buf, rest...)
	e.write(e.buf)
}

// write ends the run if it fails.
func (e *eventTrace) write(text []byte) {
	if e.err != nil {
		return
	}
	if _, e.err = e.w.Write(text); e.err != nil {
		e.stop()
	}
}

// appendMicros appends nanoseconds, at least 0, as microseconds.
func appendMicros(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	if rest := ns % 1000; rest != 0 {
		b = append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
	}
	return b
}

// quote is a text in JSON.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string always can be
		panic("scenario: " + err.Error())
	}
	return string(b)
}

// lanes gives intervals of time, in the order of their starts or of their ends,
// to lanes in which they do not overlap.
type lanes struct {
	used int
	// ends is a tree: node i has the children 2i and 2i+1, and holds the least
	// of them; the leaves, in the upper half, are the ends of the last interval
	// of each lane, below 0 if there is none.
	ends []sim.Time
}

// place returns the lowest lane that is free from start on, and whether it is
// its first interval.
func (l *lanes) place(start, end sim.Time) (lane int, fresh bool) {
	if len(l.ends) == 0 || l.ends[1] > start {
		l.grow()
	}
	leaves := len(l.ends) / 2
	i := 1
	for i < leaves {
		if i *= 2; l.ends[i] > start {
			i++
		}
	}
	lane = i - leaves
	l.ends[i] = end
	for i /= 2; i > 0; i /= 2 {
		l.ends[i] = min(l.ends[2*i], l.ends[2*i+1])
	}
	fresh = lane == l.used
	if fresh {
		l.used++
	}
	return lane, fresh
}

// grow doubles the number of lanes.
func (l *lanes) grow() {
	was := l.ends[len(l.ends)/2:]
	leaves := max(1, 2*len(was))
	l.ends = make([]sim.Time, 2*leaves)
	for i := range leaves {
		l.ends[leaves+i] = -1
	}
	copy(l.ends[leaves:], was)
	for i := leaves - 1; i > 0; i-- {
		l.ends[i] = min(l.ends[2*i], l.ends[2*i+1])
	}
}
