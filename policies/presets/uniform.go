package presets

import (
	"math/rand/v2"

	"github.com/stormglass/stormglass/policies"
)

// unshared draws under the lock of its breaker, and needs none of its own.
type unshared struct{ *rand.PCG }

func (u unshared) Next() float64 { return float64(u.Uint64()>>11) * 0x1p-53 }

// orUniform is the host's source of random numbers, or one of its own.
func orUniform(h policies.Host) policies.UniformSource {
	if h.Uniform == nil {
		return unshared{rand.NewPCG(rand.Uint64(), rand.Uint64())}
	}
	return h.Uniform
}
