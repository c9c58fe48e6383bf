package presets

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Polly v8, src/Polly.Core/Retry/RetryHelper.cs @173d6d1d; read,
// not recorded.
//
// Waits are whole ticks of 100 ns, cut. Jitter makes a constant or linear wait
// up to a quarter shorter or longer. With jitter the exponential wait is
// another rule, the decorrelated jitter of version 2: before retry n it draws
// t from [n-1, n) and waits base/1.4 * (f(t) - f(t before)), where f(t) is
// 2^t * tanh(sqrt(4t)); what it keeps from one wait to the next is f(t), 0 at
// first. MaxDelay comes last, and f(t) does not know of it.

// A PollyBackoffType says how waits grow.
type PollyBackoffType string

// The types.
const (
	PollyConstant    PollyBackoffType = "Constant"
	PollyLinear      PollyBackoffType = "Linear"
	PollyExponential PollyBackoffType = "Exponential"
)

// PollyBackoffConfig describes the waits of a retry strategy.
type PollyBackoffConfig struct {
	BackoffType PollyBackoffType // how waits grow
	UseJitter   bool             // waits vary; exponential ones by the rule of version 2
	Delay       time.Duration    // the base, 0 to 24 h
	MaxDelay    time.Duration    // the longest wait, up to 24 h; 0 means none
}

// PollyBackoffDefaults is a constant 2 s without jitter; the library makes 3
// retries.
func PollyBackoffDefaults() PollyBackoffConfig {
	return PollyBackoffConfig{BackoffType: PollyConstant, Delay: 2 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c PollyBackoffConfig) Validate() error {
	f := fields{library: "polly back-off"}
	f.oneOf("BackoffType", string(c.BackoffType), string(PollyConstant), string(PollyLinear), string(PollyExponential))
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"Delay", c.Delay}, {"MaxDelay", c.MaxDelay}} {
		if d.d < 0 || d.d > 24*time.Hour {
			f.fail("%s %v, want 0s to 24h", d.name, d.d)
		}
	}
	return f.err
}

// tick is the resolution of a TimeSpan.
const tick = 100 * time.Nanosecond

// NewDelays returns the back-off, or the error of Validate. Exponential with
// jitter is a policies.MemoryDelays.
func (c PollyBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := polly{base: int64(c.Delay / tick), limit: orNone(c.MaxDelay)}
	switch {
	case c.BackoffType == PollyExponential && c.UseJitter:
		return &pollyV2{p}, nil
	case c.BackoffType == PollyExponential:
		p.growth = 2
	case c.BackoffType == PollyLinear:
		p.growth = 1
	}
	return &pollyPlain{p, c.UseJitter}, nil
}

// A polly has what all types have.
type polly struct {
	base   int64 // ticks
	growth int   // 0 none, 1 linear, 2 exponential
	limit  int64 // ns
}

func (p *polly) duration(ticks int64) time.Duration {
	return time.Duration(min(productOf(ticks, int64(tick)), p.limit))
}

type pollyPlain struct {
	polly
	jitter bool
}

// Delay implements policies.Delays.
func (p *pollyPlain) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	n, ticks := max(attempts, 1), p.base
	switch p.growth {
	case 1:
		ticks = productOf(int64(n), p.base)
	case 2:
		ticks = truncate(math.Pow(2, float64(n-1)) * float64(p.base))
	}
	if p.jitter {
		ms := float64(ticks) / 1e4
		offset := ms * 0.5 / 2
		spread := float64(ms*0.5*unit(u)) - offset
		ticks = truncate((ms + spread) * 1e4)
	}
	return p.duration(ticks)
}

type pollyV2 struct{ polly }

// DelayFrom implements policies.MemoryDelays.
func (p *pollyV2) DelayFrom(attempts int, memory, u float64) (time.Duration, float64) {
	next := pollyCurve(float64(max(attempts, 1)-1) + unit(u))
	if p.base == 0 {
		return 0, memory
	}
	if math.IsInf(next, 1) {
		return p.duration(math.MaxInt64), next
	}
	return p.duration(truncate((next - memory) * (1 / 1.4) * float64(p.base))), next
}

// Delay implements policies.Delays, for callers that keep nothing: it takes
// the draw before as 0.5.
func (p *pollyV2) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	memory := 0.0
	if attempts > 1 {
		memory = pollyCurve(float64(attempts-2) + 0.5)
	}
	d, _ := p.DelayFrom(attempts, memory, u)
	return d
}

func pollyCurve(t float64) float64 { return math.Pow(2, t) * math.Tanh(math.Sqrt(4*t)) }
