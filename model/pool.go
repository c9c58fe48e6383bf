package model

// A pool keeps values at stable addresses in reused places, so that an event
// can name one by a number and nothing is allocated once enough exist.
type pool[T any] struct {
	chunks [][]T
	free   []uint32
	// fresh, if not nil, prepares a place that has never been used.
	fresh func(place uint32, v *T)
}

const poolChunk = 64

// get returns a place that is not in use. What it holds is left over from its
// last use.
func (p *pool[T]) get() *T {
	if len(p.free) == 0 {
		p.grow()
	}
	last := len(p.free) - 1
	place := p.free[last]
	p.free = p.free[:last]
	return p.at(place)
}

func (p *pool[T]) grow() {
	first := uint32(len(p.chunks)) * poolChunk
	chunk := make([]T, poolChunk)
	p.chunks = append(p.chunks, chunk)
	for i := range chunk {
		p.fresh(first+uint32(i), &chunk[i])
	}
	for i := range uint32(poolChunk) {
		p.free = append(p.free, first+poolChunk-1-i)
	}
}

// at returns the value in a place.
func (p *pool[T]) at(place uint32) *T { return &p.chunks[place/poolChunk][place%poolChunk] }

// put gives a place back.
func (p *pool[T]) put(place uint32) { p.free = append(p.free, place) }

// all calls f for every place, in use or not, in the order of their numbers.
func (p *pool[T]) all(f func(*T)) {
	for _, chunk := range p.chunks {
		for i := range chunk {
			f(&chunk[i])
		}
	}
}
