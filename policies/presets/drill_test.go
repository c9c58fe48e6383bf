package presets

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A drill is a breaker under a clock that is set by hand.
type drill struct {
	testing.TB
	now time.Time
	b   policies.CircuitBreaker
}

var (
	drillStart   = time.Unix(946684800, 0)
	errDrill     = errors.New("failed")
	errDrillSkip = errors.New("does not count")
)

func newDrill(t testing.TB, m policies.BreakerMaker) *drill {
	t.Helper()
	d := &drill{TB: t, now: drillStart}
	b, err := m.NewCircuitBreaker(d.host())
	if err != nil {
		t.Fatal(err)
	}
	d.b = b
	return d
}

// Now implements policies.Clock.
func (d *drill) Now() time.Time { return d.now }

func (d *drill) host() policies.Host {
	return policies.Host{Clock: d, Classify: func(o policies.Outcome) policies.Class {
		switch o.Err {
		case nil:
			return policies.Success
		case errDrillSkip:
			return policies.Ignored
		}
		return policies.Failure
	}}
}

// at sets the clock to a time after the start.
func (d *drill) at(t time.Duration) *drill {
	d.now = drillStart.Add(t)
	return d
}

func (d *drill) allow() policies.Permit {
	d.Helper()
	p, ok := d.b.Allow()
	if !ok {
		d.Fatalf("at %v: refused while %v", d.now.Sub(drillStart), d.b.State())
	}
	return p
}

func (d *drill) refused() {
	d.Helper()
	if _, ok := d.b.Allow(); ok {
		d.Fatalf("at %v: allowed while %v", d.now.Sub(drillStart), d.b.State())
	}
}

// run makes calls that end at once: "+" well, "-" badly, "i" ignored, "c"
// cancelled.
func (d *drill) run(calls string) {
	d.Helper()
	for _, c := range calls {
		d.end(d.allow(), c)
	}
}

func (d *drill) end(p policies.Permit, how rune) {
	switch how {
	case '+':
		d.b.Record(p, policies.Outcome{})
	case '-':
		d.b.Record(p, policies.Outcome{Err: errDrill})
	case 'i':
		d.b.Record(p, policies.Outcome{Err: errDrillSkip})
	case 'c':
		d.b.Cancel(p)
	}
}

func (d *drill) want(s policies.State) {
	d.Helper()
	if got := d.b.State(); got != s {
		d.Fatalf("at %v: %v, want %v", d.now.Sub(drillStart), got, s)
	}
}

func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// badConfig checks that a configuration is refused, and that the error names
// the field.
func badConfig(t *testing.T, m policies.BreakerMaker, field string) {
	t.Helper()
	if err := m.Validate(); err == nil || !strings.Contains(err.Error(), field) {
		t.Errorf("%+v: error %v, want one that names %q", m, err, field)
	}
	if b, err := m.NewCircuitBreaker(policies.Host{}); err == nil || b != nil {
		t.Errorf("%+v: breaker %v and error %v", m, b, err)
	}
}

// noAllocations drives a breaker through its states and checks that no call
// allocates.
func noAllocations(t *testing.T, m policies.BreakerMaker) {
	t.Helper()
	d := newDrill(t, m)
	i := 0
	step := func() {
		i++
		d.now = d.now.Add(17 * time.Millisecond)
		if p, ok := d.b.Allow(); ok {
			o := policies.Outcome{Latency: time.Millisecond}
			if i/500%2 == 1 {
				o.Err = errDrill
			}
			d.b.Record(p, o)
		}
		d.b.State()
		d.b.Advance()
		d.b.NextDeadline()
		d.b.Stats()
	}
	if n := testing.AllocsPerRun(20000, step); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
	if s := d.b.Stats(); s.Openings == 0 || s.Refused == 0 {
		t.Errorf("the drill did not open the breaker: %+v", s)
	}
}
