package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// newThrottleDrill is newDrill with a number that is drawn always.
func newThrottleDrill(t testing.TB, m policies.BreakerMaker, u float64) *drill {
	t.Helper()
	d := &drill{TB: t, now: drillStart}
	h := d.host()
	h.Uniform = constant(u)
	b, err := m.NewCircuitBreaker(h)
	if err != nil {
		t.Fatal(err)
	}
	d.b = b
	return d
}

func TestThrottleBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*GoogleSREConfig){
		"K":      func(c *GoogleSREConfig) { c.K = 0.9 },
		"slices": func(c *GoogleSREConfig) { c.Slices = 0 },
		"window": func(c *GoogleSREConfig) { c.Window = 119 },
	} {
		c := GoogleSREDefaults()
		change(&c)
		badConfig(t, c, field)
	}
	for field, change := range map[string]func(*AegisConfig){
		"success": func(c *AegisConfig) { c.Success = 0 },
		"request": func(c *AegisConfig) { c.Request = -1 },
		"buckets": func(c *AegisConfig) { c.Buckets = 0 },
		"window":  func(c *AegisConfig) { c.Window = 9 },
	} {
		c := AegisDefaults()
		change(&c)
		badConfig(t, c, field)
	}
	for field, change := range map[string]func(*FailsafeThrottlerConfig){
		"failure rate threshold": func(c *FailsafeThrottlerConfig) { c.FailureRateThreshold = -1 },
		"execution threshold":    func(c *FailsafeThrottlerConfig) { c.ExecutionThreshold = -1 },
		"thresholding period":    func(c *FailsafeThrottlerConfig) { c.ThresholdingPeriod = 19 },
		"maximum rejection rate": func(c *FailsafeThrottlerConfig) { c.MaxRejectionRate = 2 },
	} {
		c := FailsafeThrottlerDefaults()
		change(&c)
		badConfig(t, c, field)
	}
}

func TestGoogleSRE(t *testing.T) {
	d := newThrottleDrill(t, GoogleSREDefaults(), lastUnit)
	b := d.b.(*GoogleSRE)
	counts := func(accepts, requests int, drop float64) {
		t.Helper()
		a, n := b.Counts()
		same(t, "accepts", a, accepts)
		same(t, "requests", n, requests)
		same(t, "drop probability", b.DropProbability(), drop)
	}
	p := d.allow()
	counts(0, 1, 0.5) // at the attempt
	d.end(p, '+')
	counts(1, 1, 0)
	d.run("-")
	counts(1, 2, 0) // K*accepts
	d.run("-")
	counts(1, 3, 0.25)
	b.throttle.uniform = constant(0.25)
	d.run("c") // not below
	counts(1, 3, 0.25)
	b.throttle.uniform = constant(0)
	d.refused()
	counts(1, 4, 0.4) // counts, too
	d.want(policies.Closed)

	b.throttle.uniform = constant(lastUnit)
	old := d.at(119 * time.Second).allow()
	counts(1, 5, 0.5)
	d.at(120 * time.Second)
	counts(0, 1, 0.5)
	d.at(time.Hour).end(old, 'i') // has left before
	counts(0, 0, 0)
}

func TestAegis(t *testing.T) {
	c := AegisDefaults()
	c.Success, c.Request = 0.5, 4
	d := newThrottleDrill(t, c, 0)
	b := d.b.(*Aegis)
	drop := func(want float64, drawn bool) {
		t.Helper()
		p, ok := b.DropProbability()
		same(t, "drop probability", p, want)
		same(t, "drawn", ok, drawn)
	}
	d.run("+--")
	drop(0, false) // below the minimum
	d.run("+")
	drop(0, true) // exactly K*accepts
	d.run("-")
	drop(1.0/6, true)
	d.refused()
	drop(2.0/7, true) // is marked
	d.want(policies.Closed)
	_, total := b.Counts()
	same(t, "total", total, 6)
	d.at(3*time.Second - 1)
	drop(2.0/7, true)
	d.at(3 * time.Second)
	drop(0, false)

	c.MarkRejected = false
	d = newThrottleDrill(t, c, 0)
	d.run("----")
	d.refused()
	_, total = d.b.(*Aegis).Counts()
	same(t, "total", total, 4)
}

func TestFailsafeThrottler(t *testing.T) {
	d := newThrottleDrill(t, FailsafeThrottlerDefaults(), 0.5)
	b := d.b.(*FailsafeThrottler)
	d.run("-")
	same(t, "rejection rate", b.RejectionRate(), 0) // of the latest question
	d.refused()                                     // 1/2, not above it
	same(t, "rejection rate", b.RejectionRate(), 0.5)
	d.at(time.Hour).refused() // nothing leaves before a result
	b.throttle.uniform = constant(lastUnit)
	d.run("ic-")
	same(t, "executions", b.throttle.window.counts().Calls, 1)
	for range 20 {
		d.run("-")
	}
	d.allow()
	same(t, "rejection rate", b.RejectionRate(), 0.9) // the maximum
}

func TestThrottleAllocations(t *testing.T) {
	book := GoogleSREDefaults()
	book.Window = 5 * time.Second // so that it sees the bad stretches
	for _, m := range []policies.BreakerMaker{book, AegisDefaults(), FailsafeThrottlerDefaults()} {
		d := newThrottleDrill(t, m, 0.2)
		i := 0
		if n := testing.AllocsPerRun(20000, func() {
			i++
			d.now = d.now.Add(17 * time.Millisecond)
			if p, ok := d.b.Allow(); ok {
				o := policies.Outcome{}
				if i/500%2 == 1 {
					o.Err = errDrill
				}
				d.b.Record(p, o)
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations per call", m, n)
		}
		if s := d.b.Stats(); s.Refused == 0 || s.Openings != 0 {
			t.Errorf("%T: %+v", m, s)
		}
	}
}

// In an outage of slow errors a breaker opens, and a throttle refuses without
// that; a nil configuration is neither.
func TestThrottlesAreKnown(t *testing.T) {
	eachBreaker(t, func(t *testing.T, p BreakerPreset, m policies.BreakerMaker) {
		clock := newHandClock()
		b := mustMake(t, m, policies.Host{Clock: clock})
		refused, opened := 0, false
		for range 10_000 {
			clock.now = clock.now.Add(10 * time.Millisecond)
			permit, ok := b.Allow()
			if ok {
				b.Record(permit, policies.Outcome{Err: policies.ErrOther, Latency: time.Minute})
			} else {
				refused++
			}
			opened = opened || b.State() == policies.Open
		}
		if throttle := IsThrottle(m); refused == 0 || throttle == opened || throttle != p.Throttle {
			t.Errorf("refused %d, opened %v, throttle %v, and so listed %v", refused, opened, throttle, p.Throttle)
		}
	})
	if IsThrottle(nil) {
		t.Error("nil is a throttle")
	}
}
