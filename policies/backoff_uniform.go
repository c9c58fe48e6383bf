package policies

import (
	"math/rand/v2"
	"sync"
)

// A Uniform draws the random numbers that jitter needs, for programs that
// have no better way to. It is safe for concurrent use.
type Uniform struct {
	mu     sync.Mutex
	source rand.Source
}

// NewUniform returns a generator that draws from source, and uses it alone:
// nobody else may. Nil means one that is seeded at random.
func NewUniform(source rand.Source) *Uniform {
	if source == nil {
		source = rand.NewPCG(rand.Uint64(), rand.Uint64())
	}
	return &Uniform{source: source}
}

// Next returns a number in [0, 1), a multiple of 2^-53.
func (u *Uniform) Next() float64 {
	u.mu.Lock()
	n := u.source.Uint64()
	u.mu.Unlock()
	return float64(n>>11) * 0x1p-53
}
