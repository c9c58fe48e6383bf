package model

import (
	"fmt"
	"reflect"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// maker is what makes the breakers of a layer.
func (l *BreakerLayer) maker() policies.BreakerMaker {
	if l.Preset != nil {
		return l.Preset
	}
	c := l.BreakerConfig
	c.Unshared = true
	return c
}

// alarmed reports whether the breakers must be woken at their deadlines. Those
// of libraries catch up when they are asked.
func (l *BreakerLayer) alarmed() bool {
	return l.Preset == nil && (l.InFlightSlow || l.HalfOpenFor > 0)
}

// Validate reports the first field that makes no sense.
func (l *BreakerLayer) Validate() error {
	if l.Preset == nil {
		return l.BreakerConfig.Validate()
	}
	plain := l.BreakerConfig
	plain.Classify, plain.OnChange = nil, nil
	if !reflect.ValueOf(plain).IsZero() {
		return fmt.Errorf("policies: breaker: a preset beside a configuration, want one of them")
	}
	return l.Preset.Validate()
}

// plain is the configuration, to be compared with others.
func (l *BreakerLayer) plain() any {
	if l.Preset != nil {
		return l.Preset
	}
	c := l.BreakerConfig
	c.Classify, c.OnChange = nil, nil
	return c
}

// uniform gives a breaker the random numbers of its stream.
type uniform struct{ *sim.Rand }

// Next implements the source of policies.Host.
func (u uniform) Next() float64 { return u.Float64() }
