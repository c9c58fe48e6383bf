package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A BreakerPreset is a breaker or throttle by name.
type BreakerPreset struct {
	Name    string // such as "resilience4j-time"
	Library string // empty if it is not from a library
	Version string // version or commit
	Source  string // repository and file
	Doc     string // its defaults in a line

	// Recorded says that recordings of the library are replayed against it. The
	// others follow a source that was read.
	Recorded bool
	Throttle bool // as IsThrottle says of its configurations

	// Defaults returns the library's own defaults, or where it has none an
	// example.
	Defaults func() policies.BreakerMaker
	// Set returns the configuration that comes nearest to common settings, and
	// Differs says in words where it cannot be the same; nil if it has no such
	// settings.
	Set     func(Common) policies.BreakerMaker
	Differs string
}

// Common are settings that most breakers have in some form.
type Common struct {
	Window      time.Duration // of a window in time, whole seconds
	Calls       int           // of a window of calls
	MinCalls    int           // calls before a rate means anything
	FailureRate float64       // that opens, above 0 to 1
	OpenFor     time.Duration // time open, whole milliseconds
	Probes      int           // good calls that close
}

// Validate reports the first field that makes no sense.
func (c Common) Validate() error {
	f := fields{library: "common settings"}
	f.duration("window", c.Window, time.Second)
	f.count("calls", c.Calls, 1)
	f.count("minimum calls", c.MinCalls, 1)
	f.above("failure rate", c.FailureRate, 0)
	f.within("failure rate", c.FailureRate, 0, 1)
	f.milliseconds("open for", c.OpenFor, time.Millisecond)
	f.count("probes", c.Probes, 1)
	if f.err == nil && c.Window%time.Second != 0 {
		f.fail("window %v, want whole seconds", c.Window)
	}
	return f.err
}

// Breakers returns all of them, in the order in which they are shown.
func Breakers() []BreakerPreset { return breakerPresets }

// BreakerNames returns their names.
func BreakerNames() []string { return namesOf(breakerPresets, BreakerPreset.name) }

// FindBreaker returns the preset of that name, or an error that lists all.
func FindBreaker(name string) (BreakerPreset, error) {
	return find("breaker", name, breakerPresets, BreakerPreset.name)
}

func (p BreakerPreset) name() string { return p.Name }

// IsThrottle reports whether what a configuration makes refuses at random, and
// is closed all the time. A configuration says so by a method Throttles.
func IsThrottle(m policies.BreakerMaker) bool {
	_, is := m.(interface{ Throttles() })
	return is
}

// exactDefaults are those of a breaker of no library.
var exactDefaults = Common{
	Window: 10 * time.Second, Calls: 20, MinCalls: 20, FailureRate: 0.5, OpenFor: 5 * time.Second, Probes: 1,
}

// exactWindow is a breaker of package policies.
func exactWindow(kind policies.WindowKind, c Common) policies.BreakerConfig {
	return policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: kind, Length: c.Window, Calls: c.Calls},
			MinCalls: c.MinCalls, FailureRate: c.FailureRate,
		},
		OpenFor: c.OpenFor, Probes: c.Probes,
	}
}

// circuitBreaker and budget make an interface, nil if there was an error.
func circuitBreaker[B policies.CircuitBreaker](b B, err error) (policies.CircuitBreaker, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}

func budget[B policies.Budget](b B, err error) (policies.Budget, error) {
	if err != nil {
		return nil, err
	}
	return b, nil
}
