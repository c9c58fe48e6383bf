package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies/presets"
)

func replayGRPCBackoff(p *replay) {
	var c struct {
		Initial    int64 `json:"initial_backoff_ns"`
		Attempts   int   `json:"max_attempts"`
		Max        int64 `json:"max_backoff_ns"`
		Multiplier float64
	}
	p.config(&c)
	d, err := presets.GRPCBackoffConfig{InitialBackoff: ns(c.Initial), MaxBackoff: ns(c.Max), BackoffMultiplier: c.Multiplier}.NewDelays()
	p.must(err)
	for p.next() {
		attempt := p.integer("attempt") // the one that follows the wait
		if attempt < 2 || attempt > c.Attempts {
			p.fail("attempt %d, want 2 to %d", attempt, c.Attempts)
		}
		p.bounds(func(u float64) time.Duration { return d.Delay(attempt-1, 0, u) }, time.Nanosecond)
	}
}
