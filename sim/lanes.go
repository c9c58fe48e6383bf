package sim

import "time"

// lanes finds the earliest head among all lanes, with a winner tree: a change
// of one head costs log2(number of lanes) comparisons.
type lanes struct {
	t    Time    // the earliest head, MaxTime if all lanes are empty
	all  []*Lane // in order of creation
	of   map[time.Duration]*Lane
	win  []*Lane // win[i] is the better of win[2i] and win[2i+1]; the lanes are the leaves
	size int     // number of leaves, a power of two
}

// add puts a new lane into the tree, growing it if need be.
func (ls *lanes) add(l *Lane) {
	if ls.of == nil {
		ls.of = make(map[time.Duration]*Lane)
	}
	ls.of[l.d] = l
	ls.all = append(ls.all, l)
	l.num = int32(len(ls.all))
	if len(ls.all) > ls.size {
		ls.size = max(1, 2*ls.size)
		ls.win = make([]*Lane, 2*ls.size)
		for _, m := range ls.all {
			ls.changed(m)
		}
		return
	}
	ls.changed(l)
}

// changed replays the matches of l, whose head changed.
func (ls *lanes) changed(l *Lane) {
	i := ls.size + int(l.num) - 1
	ls.win[i] = l
	for i >>= 1; i > 0; i >>= 1 {
		ls.win[i] = better(ls.win[2*i], ls.win[2*i+1])
	}
	ls.t = ls.win[1].first().t
}

// better returns the lane whose head fires first. The right one may be nil: the
// leaves fill up from the left.
func better(a, b *Lane) *Lane {
	if b == nil {
		return a
	}
	x, y := a.first(), b.first()
	if x.t != y.t {
		if x.t < y.t {
			return a
		}
		return b
	}
	if x.t != MaxTime && a.e.slots.seq(y) < a.e.slots.seq(x) {
		return b
	}
	return a
}

// head returns the earliest entry of all lanes; there must be one.
func (ls *lanes) head() entry { return ls.win[1].first() }

// pop drops that entry.
func (ls *lanes) pop() { ls.win[1].pop() }

// reset empties all lanes.
func (ls *lanes) reset() {
	for _, l := range ls.all {
		l.head, l.tail, l.dead = 0, 0, 0
	}
	for _, l := range ls.all {
		ls.changed(l)
	}
	ls.t = MaxTime
}
