package sim

import "slices"

// checkEngine asserts what must hold of the engine's parts between events.
func checkEngine(t interface{ Fatalf(string, ...any) }, e *Engine) {
	f, q := &e.front, &e.heap
	entries := slices.Clone(f.f[1 : f.n+1])
	slices.Reverse(entries)
	for _, x := range entries {
		if x.t > f.limit || x.t < e.now {
			t.Fatalf("front entry at %d, limit %d, now %d", x.t, f.limit, e.now)
		}
	}
	for k := range q.b {
		n := len(entries)
		for c := q.b[k].head; c != nil; c = c.next {
			entries = append(entries, q.b[k].part(c)...)
		}
		if (len(entries) > n) != (q.mask>>k&1 == 1) {
			t.Fatalf("bucket %d: %d entries, mask %b", k, len(entries)-n, q.mask)
		}
		least := MaxTime
		for _, x := range entries[n:] {
			least = min(least, x.t)
			if x.t < f.limit || x.t < q.last || x.t >= q.endOf(k) {
				t.Fatalf("heap entry at %d in bucket %d, limit %d, last %d", x.t, k, f.limit, q.last)
			}
		}
		if least != q.b[k].min {
			t.Fatalf("bucket %d: earliest at %d, min %d", k, least, q.b[k].min)
		}
	}
	if q.mask != 0 && q.last > e.now {
		t.Fatalf("last %d after now %d", q.last, e.now)
	}
	live := e.never
	for _, x := range entries {
		if e.slots.live(x) {
			live++
		}
	}
	if dead := len(entries) - (live - e.never); dead != e.dead {
		t.Fatalf("%d dead entries, counted %d", dead, e.dead)
	}
	for _, l := range e.lanes.all {
		dead := 0
		for i := l.head; i != l.tail; i++ {
			if e.slots.live(l.at(i)) {
				live++
			} else {
				dead++
			}
		}
		if dead != l.dead || l.head != l.tail && !e.slots.live(l.first()) {
			t.Fatalf("lane %v: %d dead entries, counted %d; head dead?", l.d, dead, l.dead)
		}
		if l.first().t < e.lanes.t {
			t.Fatalf("lane %v: head at %d, earliest is %d", l.d, l.first().t, e.lanes.t)
		}
	}
	if live != e.Pending() {
		t.Fatalf("%d live entries, pending %d", live, e.Pending())
	}
}
