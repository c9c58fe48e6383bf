package sim

import "math/bits"

// dealt is how many entries at most are dealt to the front at once.
const dealt = 16

// deal fills the empty front with the earliest entries of the heap. A large
// bucket it first deals out to lower ones, but only if its earliest entry is
// due before the given instant, because Now must be there next. It is false if
// the front stays empty: then no entry of the heap is due before.
func (e *Engine) deal(before Time) bool {
	q, f := &e.heap, &e.front
	for q.mask != 0 {
		k := bits.TrailingZeros64(q.mask)
		b := &q.b[k]
		switch {
		case b.small(dealt):
			e.dealSmall()
		case k == 0:
			e.dealTies(b)
		case b.min < before:
			if b.head == b.tail && e.stale(b.head.e[b.lo:b.hi]) {
				e.dead -= q.filter(k, &e.slots)
				continue
			}
			q.spread(k)
		default:
			return false
		}
		if f.n > 0 {
			return true
		}
	}
	f.limit = MaxTime
	return false
}

// dealSmall moves the lowest buckets to the empty front, as many as are small
// enough together, the first in any case.
func (e *Engine) dealSmall() {
	q, f := &e.heap, &e.front
	n, left := 0, q.mask
	for left != 0 {
		b := &q.b[bits.TrailingZeros64(left)]
		if !b.small(uint32(dealt - n)) {
			break
		}
		n += int(b.hi - b.lo)
		left &= left - 1
	}
	f.n = n
	for q.mask != left {
		k := bits.TrailingZeros64(q.mask)
		b := &q.b[k]
		entries := b.head.e[b.lo:b.hi]
		n -= len(entries)
		if k <= sortBits {
			sortFew(entries, f.f[n+1:])
		} else {
			insertionSort(entries, f.f[n+1:])
		}
		b.lo, b.hi, b.min = 0, 0, MaxTime
		q.mask &= q.mask - 1
		f.limit = q.endOf(k)
	}
	if q.mask == 0 {
		f.limit = MaxTime
	}
	q.peek.t = minTime
	if e.stale(f.f[1 : f.n+1]) {
		e.dead -= f.filter(&e.slots)
	}
}

// coldSlots is when the slots no longer fit in a processor's nearer caches.
const coldSlots = 1 << 14

// stale reports whether any of the entries, which are to fire soon, is dead. In
// a large model it reads their slots even if there are no dead entries at all,
// to have them at hand when they fire.
func (e *Engine) stale(entries []entry) bool {
	return (e.dead > 0 || len(e.slots.s) > coldSlots) && e.slots.stale(entries)
}

// dealTies moves the first entries of bucket 0, all due at last, to the empty
// front. Its bucket is not small, so it keeps some.
func (e *Engine) dealTies(b *bucket) {
	q, f := &e.heap, &e.front
	n := min(dealt, int(chunkLen-b.lo))
	if b.head == b.tail {
		n = min(n, int(b.hi-b.lo))
	}
	for i := range n {
		f.f[(n-i)&frontMask] = b.head.e[b.lo]
		b.lo++
	}
	if b.lo == chunkLen && b.head != b.tail {
		c := b.head
		b.head, b.lo = c.next, 0
		q.give(c)
	}
	f.n, f.limit = n, q.last
	q.peek.t = minTime
}

// sweepSlack keeps small models from sweeping all the time.
const sweepSlack = 64

// sweep drops all dead entries of front and heap. It is called when they
// outnumber the live events, so a cancellation still costs O(1) on average.
func (e *Engine) sweep() {
	q, f := &e.heap, &e.front
	f.filter(&e.slots)
	for m := q.mask; m != 0; m &= m - 1 {
		q.filter(bits.TrailingZeros64(m), &e.slots)
	}
	e.dead = 0
}
