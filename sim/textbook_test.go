package sim

import "container/heap"

// textbook is the engine from a textbook, to compare with: a binary heap of
// pointers ordered by instant and schedule number, and a closure for each
// event.
type textbook struct {
	clock Time
	q     textbookHeap
	seq   uint64
	fired uint64
}

type textbookEvent struct {
	t     Time
	seq   uint64
	f     func()
	index int // in the heap, −1 if not there
}

type textbookHeap []*textbookEvent

func (h textbookHeap) Len() int { return len(h) }

func (h textbookHeap) Less(i, j int) bool {
	return h[i].t < h[j].t || h[i].t == h[j].t && h[i].seq < h[j].seq
}

func (h textbookHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *textbookHeap) Push(x any) {
	ev := x.(*textbookEvent)
	ev.index = len(*h)
	*h = append(*h, ev)
}

func (h *textbookHeap) Pop() any {
	last := len(*h) - 1
	ev := (*h)[last]
	(*h)[last] = nil
	ev.index = -1
	*h = (*h)[:last]
	return ev
}

func (b *textbook) at(t Time, f func()) *textbookEvent {
	b.seq++
	ev := &textbookEvent{t: t, seq: b.seq, f: f}
	heap.Push(&b.q, ev)
	return ev
}

func (b *textbook) cancel(ev *textbookEvent) bool {
	if ev.index < 0 {
		return false
	}
	heap.Remove(&b.q, ev.index)
	return true
}

// step runs the next event if it is due before end.
func (b *textbook) step(end Time) bool {
	if len(b.q) == 0 || b.q[0].t >= end {
		return false
	}
	ev := heap.Pop(&b.q).(*textbookEvent)
	b.clock = ev.t
	b.fired++
	ev.f()
	return true
}
