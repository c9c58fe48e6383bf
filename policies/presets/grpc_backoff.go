package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of gRPC for Go v1.85.0: of retries, stream.go, recorded; and of
// connections, internal/backoff/backoff.go, read.
//
// Both are factors in floating point, cut to whole ns at the end; the jitter
// comes after the cap. A push-back of the server takes the place of a wait and
// starts the exponent again; that is up to the caller. The first wait of a
// connection is the base itself, without jitter and without the cap.

// GRPCBackoffConfig describes the waits of a retryPolicy; all are required.
// The wait is InitialBackoff*BackoffMultiplier^(n-1) before retry n, at most
// MaxBackoff, times a factor of [0.8, 1.2).
type GRPCBackoffConfig struct {
	InitialBackoff    time.Duration // the first wait, above 0
	MaxBackoff        time.Duration // the longest wait before the jitter, above 0; it may be below the first wait
	BackoffMultiplier float64       // growth from one wait to the next, above 0, up to 1000
}

// GRPCBackoffExample is the example of proposal A6: 100 ms, 1 s, by 2. The
// library has no defaults.
func GRPCBackoffExample() GRPCBackoffConfig {
	return GRPCBackoffConfig{InitialBackoff: 100 * time.Millisecond, MaxBackoff: time.Second, BackoffMultiplier: 2}
}

// Validate reports the first field that makes no sense.
func (c GRPCBackoffConfig) Validate() error {
	f := fields{library: "grpc back-off"}
	f.duration("InitialBackoff", c.InitialBackoff, 1)
	f.duration("MaxBackoff", c.MaxBackoff, 1)
	f.above("BackoffMultiplier", c.BackoffMultiplier, 0)
	f.within("BackoffMultiplier", c.BackoffMultiplier, 0, 1000)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c GRPCBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	first, limit := float64(c.InitialBackoff), float64(c.MaxBackoff)
	var steps waits[float64]
	for n := range maxWaits {
		step := min(first*math.Pow(c.BackoffMultiplier, float64(n)), limit)
		steps = append(steps, step)
		if step == limit && c.BackoffMultiplier >= 1 || c.BackoffMultiplier == 1 || step == 0 {
			break
		}
	}
	return &stepped[float64]{steps: steps, draw: func(step, u float64) time.Duration {
		factor := 0.8 + float64(0.4*u) // rounded twice on every processor
		return time.Duration(truncate(step * factor))
	}}, nil
}

// GRPCConnectBackoffConfig describes the waits between attempts to connect.
type GRPCConnectBackoffConfig struct {
	BaseDelay  time.Duration // the first wait, above 0
	Multiplier float64       // growth from one wait to the next, 1 to 1000
	Jitter     float64       `unit:"ratio"` // the share by which a wait may be shorter or longer, 0 to 1
	MaxDelay   time.Duration // the longest wait before the jitter, above 0
}

// GRPCConnectBackoffDefaults is backoff.DefaultConfig: 1 s by 1.6, ± 0.2, 120 s.
func GRPCConnectBackoffDefaults() GRPCConnectBackoffConfig {
	return GRPCConnectBackoffConfig{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 120 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c GRPCConnectBackoffConfig) Validate() error {
	f := fields{library: "grpc connection back-off"}
	f.duration("BaseDelay", c.BaseDelay, 1)
	f.growth("Multiplier", c.Multiplier)
	f.within("Jitter", c.Jitter, 0, 1)
	f.duration("MaxDelay", c.MaxDelay, 1)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c GRPCConnectBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	limit := float64(c.MaxDelay)
	steps := grow(float64(c.BaseDelay), func(step float64) float64 {
		if step < limit {
			return step * c.Multiplier
		}
		return step
	})
	return &grpcConnect{base: c.BaseDelay, later: stepped[float64]{steps: steps, draw: func(step, u float64) time.Duration {
		spread := c.Jitter * (float64(2*u) - 1)
		return time.Duration(truncate(min(step, limit) * (1 + spread)))
	}}}, nil
}

type grpcConnect struct {
	base  time.Duration
	later stepped[float64]
}

// Delay implements policies.Delays.
func (g *grpcConnect) Delay(attempts int, previous time.Duration, u float64) time.Duration {
	if attempts <= 1 {
		return g.base
	}
	return g.later.Delay(attempts, previous, u)
}
