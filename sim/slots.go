package sim

// A slot holds what a pending event needs besides its instant. Queue and lanes
// move only 16-byte entries that point here.
//
// The generation tells an event from the earlier tenants of its slot: an entry
// or a Timer whose generation is not the slot's is dead. A slot whose
// generations are used up is not used again, so a match is never by accident.
type slot struct {
	h    Handler // nil while free, so that nothing is kept alive
	arg  uint64  // the next free slot while free
	kind uint32
	gen  uint32
}

// An entry orders one event: its instant, and generation<<32 | slot.
type entry struct {
	t  Time
	id uint64
}

// A Timer identifies one scheduled event, for Cancel of the same engine. It is
// a value: copy it freely. The zero Timer identifies no event.
type Timer struct {
	id    uint64 // of its entry
	where int32  // inQueue, inNever, or the number of a lane, from 1
}

const (
	inQueue int32 = 0
	inNever int32 = -1
)

// slots is the pool of slots. Slot 0 is never used: it ends the free list and
// makes the zero Timer inert.
type slots struct {
	s    []slot
	free uint32
	// seqs holds the schedule number of the event in each slot. Only ties
	// between lanes and queue need it, so it is empty until there is a lane:
	// what was scheduled before counts as number 0, earlier than any lane's.
	seqs []uint64
}

const firstSlots = 64

// grow doubles the pool. The free list must be empty.
func (p *slots) grow() {
	old := len(p.s)
	n := max(firstSlots, 2*old)
	if uint64(n) > 1<<32 {
		panic("sim: more than 4294967295 events pending")
	}
	s := make([]slot, n)
	s[0].gen = 1 // no Timer matches slot 0
	copy(s, p.s)
	p.s = s
	if p.seqs != nil {
		p.number()
	}
	p.link(max(1, old))
}

// link puts the slots from i on into the free list, the lowest first.
func (p *slots) link(i int) {
	for j := len(p.s) - 1; j >= i; j-- {
		p.s[j].gen++
		if p.s[j].gen != 0 {
			p.s[j].arg = uint64(p.free)
			p.free = uint32(j)
		}
	}
}

// number starts or extends the record of schedule numbers.
func (p *slots) number() {
	seqs := make([]uint64, len(p.s))
	copy(seqs, p.seqs)
	p.seqs = seqs
}

// release frees s, which is slot i, and makes the entry and every Timer of its
// event dead.
func (p *slots) release(s *slot, i uint32) {
	s.h = nil
	s.gen++
	if s.gen != 0 {
		s.arg = uint64(p.free)
		p.free = i
	}
}

// live reports whether the entry's event is still pending.
func (p *slots) live(x entry) bool {
	return p.s[uint32(x.id)].gen == uint32(x.id>>32)
}

// stale reports whether any of the entries, which are to fire soon, is dead. It
// reads all their slots without waiting for one of them: in a large model each
// is a cache miss, and this way they overlap.
func (p *slots) stale(entries []entry) bool {
	var differ uint32
	s := p.s
	for _, x := range entries {
		differ |= s[uint32(x.id)].gen ^ uint32(x.id>>32)
	}
	return differ != 0
}

// seq returns the schedule number of the event of a live entry.
func (p *slots) seq(x entry) uint64 { return p.seqs[uint32(x.id)] }

// reset frees every slot.
func (p *slots) reset() {
	for i := range p.s {
		p.s[i].h = nil
	}
	p.free = 0
	p.link(1)
	clear(p.seqs)
}
