package sim

import "math/bits"

// radix is a monotone priority queue, the radix heap of Ahuja, Mehlhorn, Orlin
// and Tarjan ("Faster algorithms for the shortest path problem", JACM 37, 1990)
// in base 2: bucket k holds the entries whose instant differs from last in bit
// k−1 and in no higher one, bucket 0 those due at last. So all entries of a
// bucket are due before those of the next. To find the earliest, the lowest
// bucket is spread over those below it, with its earliest entry as last.
//
// Buckets are first in, first out and are spread in that order. Therefore
// entries due at the same instant keep the order of their insertion, although
// they carry no number.
//
// last is never after Now while a handler may schedule, and a dead entry may
// set it: the clock passes that instant anyway, or the heap turns out empty.
type radix struct {
	last  Time
	mask  uint64 // bit k is set if bucket k is not empty
	peek  entry  // the earliest entry as Next found it, none if peek.t < 0
	spare *chunk
	b     [64]bucket
}

const chunkLen = 127 // makes a chunk 2 KiB

// A chunk is a piece of a bucket. The garbage collector reads only its next.
type chunk struct {
	next *chunk
	e    [chunkLen]entry
}

// A bucket is a queue of entries: head.e[lo:], whole chunks, tail.e[:hi]. An
// empty bucket that was used before keeps one chunk.
type bucket struct {
	head, tail *chunk
	lo, hi     uint32
	min        Time // of all entries, dead or alive; MaxTime if there are none
}

func (q *radix) init() {
	for k := range q.b {
		q.b[k] = bucket{lo: chunkLen, hi: chunkLen, min: MaxTime}
	}
	q.peek.t = minTime
}

// take returns an unused chunk.
func (q *radix) take() *chunk {
	c := q.spare
	if c == nil {
		return new(chunk)
	}
	q.spare = c.next
	c.next = nil
	return c
}

// give takes a chunk back.
func (q *radix) give(c *chunk) {
	c.next = q.spare
	q.spare = c
}

// push adds x, due at last or later, behind the entries due at its instant.
func (q *radix) push(x entry) {
	if x.t < q.peek.t {
		q.peek = x
	}
	k := bits.Len64(uint64(x.t^q.last)) & 63
	q.mask |= 1 << k
	b := &q.b[k]
	i := b.hi
	if i >= chunkLen {
		q.extend(b)
		i = 0
	}
	b.tail.e[i] = x
	b.hi = i + 1
	b.min = min(b.min, x.t)
}

// extend gives b a fresh tail chunk. It is kept out of the loops that push.
//
//go:noinline
func (q *radix) extend(b *bucket) {
	c := q.take()
	if b.tail == nil {
		b.head, b.lo = c, 0
	} else {
		b.tail.next = c
	}
	b.tail, b.hi = c, 0
}

// prepend adds x, which precedes all entries of the heap, at last or later.
func (q *radix) prepend(x entry) {
	q.peek = x
	k := bits.Len64(uint64(x.t^q.last)) & 63
	b := &q.b[k]
	if q.mask>>k&1 == 0 {
		q.push(x)
		return
	}
	if b.lo == 0 {
		c := q.take()
		c.next = b.head
		b.head, b.lo = c, chunkLen
	}
	b.lo--
	b.head.e[b.lo] = x
	b.min = x.t
}

// endOf returns the instant after the range of bucket k, MaxTime for the last.
func (q *radix) endOf(k int) Time {
	t := (q.last>>k + 1) << k
	if t < 0 {
		return MaxTime
	}
	return t
}

// small reports whether b has at most n entries, for sure.
func (b *bucket) small(n uint32) bool { return b.head == b.tail && b.hi-b.lo <= n }

// part returns the entries of b in c, one of its chunks.
func (b *bucket) part(c *chunk) []entry {
	lo, hi := uint32(0), uint32(chunkLen)
	if c == b.head {
		lo = b.lo
	}
	if c == b.tail {
		hi = b.hi
	}
	return c.e[lo:hi]
}

// empty drops the entries of bucket k and keeps one chunk.
func (q *radix) empty(k int) {
	b := &q.b[k]
	for c := b.head; c != b.tail; {
		next := c.next
		q.give(c)
		c = next
	}
	b.head, b.lo, b.hi, b.min = b.tail, 0, 0, MaxTime
	q.mask &^= 1 << k
}

// spread deals the entries of bucket k out to lower buckets, as seen from its
// earliest entry.
func (q *radix) spread(k int) {
	b := &q.b[k]
	t := b.min
	q.last = t
	mask := q.mask &^ (1 << k)
	c, lo := b.head, b.lo
	for {
		hi := uint32(chunkLen)
		if c == b.tail {
			hi = b.hi
		}
		for _, x := range c.e[lo:hi] {
			j := bits.Len64(uint64(x.t^t)) & 63
			mask |= 1 << j
			d := &q.b[j]
			i := d.hi
			if i >= chunkLen {
				q.extend(d)
				i = 0
			}
			d.tail.e[i] = x
			d.hi = i + 1
			d.min = min(d.min, x.t)
		}
		if c == b.tail {
			break
		}
		next := c.next
		q.give(c)
		c, lo = next, 0
	}
	b.head, b.lo, b.hi, b.min = c, 0, 0, MaxTime
	q.mask = mask
	q.peek.t = minTime
}

// next returns the earliest live entry of bucket k, the lowest, and keeps it in
// peek, because it may have to search the whole bucket; it is false if all are
// dead.
func (q *radix) next(k int, p *slots) (entry, bool) {
	if q.peek.t >= 0 && p.live(q.peek) {
		return q.peek, true
	}
	m := entry{t: MaxTime}
	b := &q.b[k]
	for c := b.head; c != nil; c = c.next {
		for _, x := range b.part(c) {
			if x.t < m.t && p.live(x) {
				m = x
			}
		}
	}
	if m.t == MaxTime {
		return m, false
	}
	q.peek = m
	return m, true
}

// filter drops the dead entries of bucket k and returns how many.
func (q *radix) filter(k int, p *slots) (dropped int) {
	b := &q.b[k]
	m := MaxTime
	w, i := b.head, b.lo // where the next entry that stays goes
	for c := b.head; c != nil; c = c.next {
		for _, x := range b.part(c) {
			if !p.live(x) {
				dropped++
				continue
			}
			if i == chunkLen {
				w, i = w.next, 0
			}
			w.e[i] = x
			i++
			m = min(m, x.t)
		}
	}
	if dropped == 0 {
		return 0
	}
	q.peek.t = minTime
	if m == MaxTime {
		q.empty(k)
		return dropped
	}
	for c := w.next; c != nil; {
		next := c.next
		q.give(c)
		c = next
	}
	w.next = nil
	b.tail, b.hi, b.min = w, i, m
	return dropped
}

// reset drops everything.
func (q *radix) reset() {
	for q.mask != 0 {
		q.empty(bits.TrailingZeros64(q.mask))
	}
	q.last, q.peek.t = 0, minTime
}
