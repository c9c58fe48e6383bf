package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies/presets"
)

var cenkalti = library{
	versions: []string{"v5.0.3"},
	kinds:    map[string]replayer{"backoff": replayCenkaltiBackoff, "retry": replayCenkaltiRetry},
}

type cenkaltiConfig struct {
	Initial       int64 `json:"initial_ns"`
	Max           int64 `json:"max_interval_ns"`
	Multiplier    float64
	Randomization float64
}

func (c cenkaltiConfig) preset() presets.CenkaltiConfig {
	return presets.CenkaltiConfig{
		InitialInterval: ns(c.Initial), RandomizationFactor: c.Randomization, Multiplier: c.Multiplier, MaxInterval: ns(c.Max),
	}
}

func replayCenkaltiBackoff(p *replay) {
	var c cenkaltiConfig
	p.config(&c)
	b, err := c.preset().New()
	p.must(err)
	for p.next() {
		attempt := p.integer("attempt")
		p.expect("x_base_ns", b.Interval(attempt))
		p.bounds(func(u float64) time.Duration { return b.Delay(attempt, 0, u) }, time.Nanosecond)
	}
}

// replayCenkaltiRetry makes one call of Retry; each row is an attempt, and
// after the last row there must be none.
func replayCenkaltiRetry(p *replay) {
	var c struct {
		cenkaltiConfig
		Attempt    int64 `json:"attempt_dur_ns"`
		MaxElapsed int64 `json:"max_elapsed_ns"`
		MaxTries   int   `json:"max_tries"`
		OK         int   `json:"ok_at_attempt"`
	}
	p.config(&c)
	if c.Randomization != 0 {
		p.fail("config: randomization %v, want 0", c.Randomization)
	}
	preset := c.preset()
	preset.MaxElapsedTime, preset.MaxTries = ns(c.MaxElapsed), c.MaxTries
	b, err := preset.New()
	p.must(err)
	var now time.Duration
	attempt, again := 0, true
	for p.next() {
		if attempt++; p.integer("attempt") != attempt {
			p.fail("attempt %d, want %d", p.integer("attempt"), attempt)
		}
		if !again {
			p.mismatch("attempt %d is not made", attempt)
		}
		p.expect("x_t_ns", now)
		p.expect("x_ok", attempt == c.OK)
		now += ns(c.Attempt)
		var wait time.Duration
		if wait, again = b.Next(attempt, now, 0); attempt == c.OK {
			again = false
		}
		now += wait
	}
	if again {
		p.row = len(p.lines) - 1
		p.mismatch("another attempt after %d", attempt)
		p.row = len(p.lines)
	}
}
