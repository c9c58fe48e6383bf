package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// awsBackoff returns the waits of a version after an error of a kind.
func (p *replay) awsBackoff(kind string, limit time.Duration) policies.Delays {
	if awsErrors[kind] == nil {
		p.fail("error of kind %q is unknown", kind)
	}
	c := presets.AWSBackoffDefaults()
	if kind == "throttle" {
		c = presets.AWSThrottledBackoffDefaults()
	}
	c.MaxBackoff = limit
	d, err := c.NewDelays()
	if p.version() == "v1.30.5" {
		d, err = presets.AWSLegacyBackoffConfig{MaxBackoff: limit}.NewDelays()
	}
	p.must(err)
	return d
}

func replayAWSBackoff(p *replay) {
	var c struct {
		Kind string
		Max  int64 `json:"max_backoff_ns"`
	}
	p.config(&c)
	for p.next() {
		if kind := p.text("kind"); kind != c.Kind {
			p.fail("error of kind %q, want %q as configured", kind, c.Kind)
		}
		d, attempt := p.awsBackoff(c.Kind, ns(c.Max)), p.integer("attempt")
		p.bounds(func(u float64) time.Duration { return d.Delay(attempt, 0, u) }, time.Nanosecond)
	}
}
