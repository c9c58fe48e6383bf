package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drain takes all entries of q in order, by spreading alone.
func drain(q *radix) (got []entry) {
	for q.mask != 0 {
		for k := range q.b {
			if q.mask>>k&1 == 0 {
				continue
			}
			if k > 0 {
				q.spread(k)
				break
			}
			for c := q.b[0].head; c != nil; c = c.next {
				got = append(got, q.b[0].part(c)...)
			}
			q.empty(0)
		}
	}
	return got
}

func byTime(x, y entry) int { return int(min(1, max(-1, x.t-y.t))) }

// The heap alone is a stable sort, also for entries that come in front of all
// others, and gives back every chunk.
func TestRadixIsAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q radix
		q.init()
		width := rapid.SampledFrom([]int64{1, 3, 1000, 1 << 40, int64(MaxTime) - 1000}).Draw(t, "width")
		var want []entry
		id := uint64(0)
		last := Time(0)
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			for _, d := range rapid.SliceOfN(rapid.Int64Range(0, width/4), 0, 700).Draw(t, "delays") {
				id++
				x := entry{last + Time(d), id}
				if len(want) > 0 && x.t <= slices.MinFunc(want, byTime).t && d%2 == 0 {
					q.prepend(x)
					want = slices.Insert(want, 0, x)
				} else {
					q.push(x)
					want = append(want, x)
				}
			}
			slices.SortStableFunc(want, byTime)
			if rapid.Bool().Draw(t, "drain") {
				if got := drain(&q); !slices.Equal(got, want) {
					t.Fatalf("got %v, want %v", got, want)
				}
				last, want = q.last, nil
			}
		}
		if got := drain(&q); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for k := range q.b {
			if b := &q.b[k]; b.head != b.tail || b.min != MaxTime {
				t.Fatalf("bucket %d keeps more than one chunk, or its min %v", k, b.min)
			}
		}
	})
}

// filter drops the dead, keeps the order of the living, and frees chunks.
func TestFilter(t *testing.T) {
	for _, keep := range []int{0, 1, 2, 3, 50} { // one of so many lives, 0: none
		e, r := New(), new(record)
		e.At(0, r, Event{})
		e.Run()
		var want []entry
		for i := range 1000 {
			timer := e.At(1<<20+Time(i*37%100), r, Event{})
			if keep > 0 && i%keep == 0 {
				want = append(want, entry{1<<20 + Time(i*37%100), timer.id})
			} else {
				e.slots.release(&e.slots.s[uint32(timer.id)], uint32(timer.id))
			}
		}
		dropped := e.front.filter(&e.slots)
		got := slices.Clone(e.front.f[1 : e.front.n+1])
		slices.Reverse(got)
		for k := range e.heap.b {
			if e.heap.mask>>k&1 == 1 {
				dropped += e.heap.filter(k, &e.slots)
			}
		}
		got = append(got, drain(&e.heap)...)
		slices.SortStableFunc(want, byTime)
		if !slices.Equal(got, want) || dropped != 1000-len(want) {
			t.Errorf("1 of %d lives: dropped %d, kept %d, want %d", keep, dropped, len(got), len(want))
		}
	}
}

// endOf is the first instant beyond a bucket, for every bucket and any last.
func TestEndOfBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q radix
		q.init()
		q.last = Time(rapid.Int64Range(0, int64(MaxTime)-1).Draw(t, "last"))
		x := Time(rapid.Int64Range(int64(q.last), int64(MaxTime)-1).Draw(t, "x"))
		q.push(entry{t: x})
		k := slices.IndexFunc(q.b[:], func(b bucket) bool { return b.min == x })
		if end := q.endOf(k); x >= end || k > 0 && x < q.endOf(k-1) {
			t.Fatalf("%d in bucket %d of last %d, which ends at %d", x, k, q.last, end)
		}
	})
}

// A full front spills its later half, and nothing changes in order.
func TestSpill(t *testing.T) {
	for _, step := range []Time{-1, 0, 1} {
		e, r := New(), new(record)
		var want []entry
		for i := range Time(200) {
			x := entry{1000 + step*i, uint64(i)}
			e.At(x.t, r, Event{Arg: x.id})
			want = append(want, x)
			if e.front.n > frontCap {
				t.Fatalf("%d entries in the front", e.front.n)
			}
		}
		checkEngine(t, e)
		slices.SortStableFunc(want, byTime)
		e.Run()
		for i, x := range want {
			if r.got[i] != x.id {
				t.Fatalf("step %d: fired %v", step, r.got)
			}
		}
	}
}

// Centuries apart, events still come in order.
func TestHugeDistances(t *testing.T) {
	e, r := New(), new(record)
	for i := range uint64(100) {
		e.At(Time(i), r, Event{Arg: i})
	}
	for i := range uint64(12) {
		e.At(MaxTime-1-Time(i/2)<<40, r, Event{Arg: 111 - i})
	}
	e.Run()
	for i := range uint64(100) {
		if r.got[i] != i {
			t.Fatalf("fired %v", r.got)
		}
	}
	r.got = r.got[100:]
	r.want(t, 101, 100, 103, 102, 105, 104, 107, 106, 109, 108, 111, 110)
}
