package model

// A pool keeps values at stable addresses in reused places, so that an event
// can name one by a number and nothing is allocated once enough exist.
type pool[T any] struct {
	places []*T
	free   []*T // free[:unused], the next one last; at least as long as places
	unused int
	// fresh prepares a place that has never been used.
	fresh func(place uint32, v *T)
}

const poolChunk = 64

// get returns a place that is not in use. What it holds is left over from its
// last use.
func (p *pool[T]) get() *T {
	if p.unused == 0 {
		p.grow()
	}
	p.unused--
	return p.free[p.unused]
}

func (p *pool[T]) grow() {
	first := len(p.places)
	chunk := make([]T, poolChunk)
	for i := range chunk {
		p.fresh(uint32(first+i), &chunk[i])
		p.places = append(p.places, &chunk[i])
	}
	if len(p.free) < len(p.places) {
		p.free = make([]*T, cap(p.places)) // all are in use: nothing to keep
	}
	p.unused = poolChunk
	for i := range chunk {
		p.free[poolChunk-1-i] = &chunk[i]
	}
}

// at returns the value in a place.
func (p *pool[T]) at(place uint32) *T { return p.places[place] }

// put gives a place back.
func (p *pool[T]) put(place uint32) {
	p.free[p.unused] = p.places[place]
	p.unused++
}

// all calls f for every place, in use or not, in the order of their numbers.
func (p *pool[T]) all(f func(*T)) {
	for _, v := range p.places {
		f(v)
	}
}
