package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// r4jSmall trips at half failed of at least 4 of the last 8 calls, and is open
// for 1 s.
func r4jSmall(change func(*Resilience4jConfig)) Resilience4jConfig {
	c := Resilience4jCountDefaults()
	c.SlidingWindowSize, c.MinimumNumberOfCalls, c.PermittedCallsInHalfOpen = 8, 4, 2
	c.WaitInOpenState.InitialInterval = time.Second
	if change != nil {
		change(&c)
	}
	return c
}

func r4jDrill(t *testing.T, change func(*Resilience4jConfig)) (*drill, *Resilience4j) {
	t.Helper()
	d := newDrill(t, r4jSmall(change))
	return d, d.b.(*Resilience4j)
}

func r4jTime(seconds int, lockFree bool) func(*Resilience4jConfig) {
	return func(c *Resilience4jConfig) {
		c.SlidingWindowType, c.SlidingWindowSize = Resilience4jTimeBased, seconds
		if lockFree {
			c.SlidingWindowSynchronization = Resilience4jLockFree
		}
	}
}

func TestResilience4jDefaults(t *testing.T) {
	want := Resilience4jConfig{
		SlidingWindowType: "COUNT_BASED", SlidingWindowSynchronization: "SYNCHRONIZED",
		SlidingWindowSize: 100, MinimumNumberOfCalls: 100,
		FailureRateThreshold: 50, SlowCallRateThreshold: 100, SlowCallDurationThreshold: 60 * time.Second,
		WaitInOpenState:          Resilience4jBackoffConfig{InitialInterval: 60 * time.Second, Multiplier: 1},
		PermittedCallsInHalfOpen: 10, StateAfterHalfOpenWait: "open", InitialState: "closed",
	}
	same(t, "count defaults", Resilience4jCountDefaults(), want)
	want.SlidingWindowType = "TIME_BASED"
	same(t, "time defaults", Resilience4jTimeDefaults(), want)
	want.SlidingWindowSynchronization = "LOCK_FREE"
	same(t, "lock-free defaults", Resilience4jLockFreeDefaults(), want)
	same(t, "rate limiter defaults", Resilience4jRateLimiterDefaults(), Resilience4jRateLimiterConfig{50, 500, 5 * time.Second})
}

func TestResilience4jBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*Resilience4jConfig){
		"window type":             func(c *Resilience4jConfig) { c.SlidingWindowType = "" },
		"window synchronization":  func(c *Resilience4jConfig) { c.SlidingWindowSynchronization = "" },
		"window size 0":           func(c *Resilience4jConfig) { c.SlidingWindowSize = 0 },
		"window size 1":           r4jTime(1, true),
		"window size 1048577 s":   r4jTime(1<<20+1, false),
		"minimum number":          func(c *Resilience4jConfig) { c.MinimumNumberOfCalls = 0 },
		"failure rate threshold":  func(c *Resilience4jConfig) { c.FailureRateThreshold = 0 },
		"slow call rate":          func(c *Resilience4jConfig) { c.SlowCallRateThreshold = 100.5 },
		"slow call duration":      func(c *Resilience4jConfig) { c.SlowCallDurationThreshold = 0 },
		"wait in open state 0":    func(c *Resilience4jConfig) { c.WaitInOpenState.InitialInterval = 0 },
		"wait in open state 1.5":  func(c *Resilience4jConfig) { c.WaitInOpenState.InitialInterval = 1500 * time.Microsecond },
		"Multiplier":              func(c *Resilience4jConfig) { c.WaitInOpenState.Multiplier = 0 },
		"permitted calls":         func(c *Resilience4jConfig) { c.PermittedCallsInHalfOpen = 0 },
		"maximum wait":            func(c *Resilience4jConfig) { c.MaxWaitInHalfOpen = -1 },
		"state after the wait":    func(c *Resilience4jConfig) { c.StateAfterHalfOpenWait = Resilience4jHalfOpen },
		`initial state "unknown"`: func(c *Resilience4jConfig) { c.InitialState = "unknown" },
	} {
		badConfig(t, r4jSmall(change), field)
	}
}

func TestResilience4jBorders(t *testing.T) {
	d, b := r4jDrill(t, nil)
	d.run("--+")
	d.want(policies.Closed) // below the minimum
	d.run("+")
	d.want(policies.Open) // reached, at a success
	same(t, "metrics", b.Metrics(), Resilience4jMetrics{Resilience4jOpen, 50, 0, 4, 2, 0, 0})
	d.at(time.Second).refused() // not after the wait
	same(t, "not permitted", b.Metrics().NotPermitted, 1)
	d.at(time.Second + 1)
	d.want(policies.Open) // until somebody asks
	p, q := d.allow(), d.allow()
	d.refused()
	d.end(p, 'i') // gives its permit back
	p = d.allow()
	d.refused()
	d.end(p, '+')
	d.end(q, '+')
	d.want(policies.Closed)

	// A late result counts as a probe, a late cancellation is one probe more.
	late, cancelled := d.allow(), d.allow()
	d.run("----")
	d.at(3 * time.Second).allow()
	d.end(cancelled, 'c')
	d.allow()
	d.allow()
	d.refused()
	d.end(late, '-')
	d.want(policies.HalfOpen)
	d.end(policies.MakePermit(0), '+')
	d.want(policies.Open)
	same(t, "reopenings", d.b.Stats().Reopenings, 1)
}

// Late results while open change the figures shown, and nothing else. A slow
// call is strictly longer.
func TestResilience4jSlow(t *testing.T) {
	d, b := r4jDrill(t, func(c *Resilience4jConfig) { c.SlowCallDurationThreshold = time.Second })
	end := func(latency time.Duration, err error) {
		d.b.Record(d.allow(), policies.Outcome{Latency: latency, Err: err})
	}
	end(time.Second, nil)
	end(time.Second+1, nil)
	end(time.Second+1, errDrill)
	late := d.allow()
	end(0, errDrill)
	same(t, "metrics", b.Metrics(), Resilience4jMetrics{Resilience4jOpen, 50, 50, 4, 2, 2, 0})
	d.end(late, '+')
	same(t, "metrics", b.Metrics(), Resilience4jMetrics{Resilience4jOpen, 40, 40, 5, 2, 2, 0})
}

// 6 of 7 is 85.7142868 in 32 bits and reaches 85.714286; in 64 bits it is less
// than 85.71429.
func TestResilience4jFloat32(t *testing.T) {
	d, _ := r4jDrill(t, func(c *Resilience4jConfig) {
		c.SlidingWindowSize, c.MinimumNumberOfCalls, c.FailureRateThreshold = 7, 100, 85.71429
	})
	d.run("+------")
	d.want(policies.Open)
}

func TestResilience4jOpenings(t *testing.T) {
	d, b := r4jDrill(t, func(c *Resilience4jConfig) {
		c.WaitInOpenState = Resilience4jBackoffConfig{InitialInterval: 3 * time.Millisecond, Multiplier: 1.5, MaxInterval: 8 * time.Millisecond}
	})
	d.run("----")
	at := time.Duration(0)
	for _, wait := range []time.Duration{3, 4, 6, 8, 8} {
		at += wait * time.Millisecond
		d.at(at).refused()
		at++
		d.at(at).run("--")
		d.want(policies.Open)
	}
	same(t, "closed by hand", b.Transition(Resilience4jClosed), true)
	d.run("----")
	d.at(at + 3*time.Millisecond + 1).allow() // the first wait again
}

func TestResilience4jTransitions(t *testing.T) {
	d, b := r4jDrill(t, nil)
	all := []Resilience4jState{Resilience4jClosed, Resilience4jOpen, Resilience4jHalfOpen, Resilience4jForcedOpen, Resilience4jDisabled, Resilience4jMetricsOnly}
	shown := map[Resilience4jState]policies.State{Resilience4jOpen: policies.Open, Resilience4jForcedOpen: policies.Open, Resilience4jHalfOpen: policies.HalfOpen}
	illegal := map[[2]Resilience4jState]bool{
		{Resilience4jClosed, Resilience4jHalfOpen}: true, {Resilience4jMetricsOnly, Resilience4jOpen}: true, {Resilience4jMetricsOnly, Resilience4jHalfOpen}: true,
	}
	for _, from := range all {
		_, initial := r4jDrill(t, func(c *Resilience4jConfig) { c.InitialState = from })
		same(t, "initial state", initial.Metrics().State, from)
		same(t, "openings before the first call", initial.Stats().Openings, 0)
		for _, to := range all {
			b.Reset()
			b.Transition(Resilience4jDisabled)
			b.Transition(from)
			if legal := !illegal[[2]Resilience4jState{from, to}]; b.Transition(to) != legal {
				t.Errorf("from %s to %s: legal is not %v", from, to, legal)
			} else if state := b.Metrics().State; legal && state != to || !legal && state != from {
				t.Errorf("from %s to %s: %s", from, to, state)
			}
			d.want(shown[b.Metrics().State])
		}
	}
	b.Transition(Resilience4jForcedOpen)
	d.at(time.Hour).refused()
	b.Transition(Resilience4jMetricsOnly)
	d.run("--------")
	same(t, "metrics only", b.Metrics(), Resilience4jMetrics{Resilience4jMetricsOnly, 100, 0, 8, 8, 0, 0})
	b.Transition(Resilience4jDisabled)
	late := d.allow()
	d.run("--------")
	same(t, "disabled", b.Metrics(), Resilience4jMetrics{Resilience4jDisabled, -1, -1, 0, 0, 0, 0})
	b.Transition(Resilience4jOpen) // has the window of no calls
	d.end(late, '-')
	same(t, "buffered", b.Metrics().Buffered, 1)
}

// The quirk of reset: the timer of the maximum wait goes on and opens a healthy
// breaker; two timers of one instant fire one after the other.
func TestResilience4jPendingTimers(t *testing.T) {
	d, b := r4jDrill(t, func(c *Resilience4jConfig) {
		c.AutomaticTransitionFromOpen, c.MaxWaitInHalfOpen = true, time.Second
	})
	d.run("----")
	d.at(time.Second)
	d.want(policies.HalfOpen)
	b.Reset()
	d.run("++++")
	d.at(2*time.Second - 1)
	d.want(policies.Closed)
	d.at(2 * time.Second)
	d.want(policies.Open)

	b.Reset() // keeps the timer of 3 s
	b.Transition(Resilience4jOpen)
	b.Reset() // and one more
	b.Transition(Resilience4jDisabled)
	d.at(3 * time.Second)
	for i := range 2 {
		f, ok := b.FireTimer()
		if !ok || !f.Accepted || f.Metrics.State != Resilience4jHalfOpen || !f.At.Equal(d.now) {
			t.Errorf("firing %d: %v, %v", i, f, ok)
		}
	}
	if f, ok := b.FireTimer(); ok {
		t.Errorf("one more: %v", f)
	}
	b.Reset() // keeps the timer to open of 4 s
	b.Transition(Resilience4jOpen)
	d.at(4 * time.Second) // that one is older than the one to half-open, and stops it
	if f, ok := b.FireTimer(); !ok || !f.Accepted || f.Metrics.State != Resilience4jOpen {
		t.Errorf("the older timer: %v, %v", f, ok)
	}
	if f, ok := b.FireTimer(); ok {
		t.Errorf("the younger timer: %v", f)
	}

	d, b = r4jDrill(t, func(c *Resilience4jConfig) { c.AutomaticTransitionFromOpen = true })
	d.run("----")
	b.Reset()
	d.at(time.Second)
	if f, ok := b.FireTimer(); !ok || f.Accepted || f.Metrics.State != Resilience4jClosed {
		t.Errorf("illegal firing: %v, %v", f, ok)
	}
}

// T4b of SPEC: a time window of N seconds is between N-1 and N seconds long.
// What came φ after a whole second leaves N-φ later, and all of that second
// leaves at once. So the breaker trips where an exact window does not.
func TestResilience4jTimeWindowLength(t *testing.T) {
	const n = 10
	for _, phase := range []time.Duration{0, 1, 370 * time.Millisecond, time.Second - 1} {
		d, b := r4jDrill(t, r4jTime(n, false))
		d.at(phase).run("+")
		life := n*time.Second - phase
		if life <= (n-1)*time.Second || life > n*time.Second {
			t.Errorf("phase %v: life of %v", phase, life)
		}
		d.at(phase + life - 1)
		same(t, "buffered before", b.Metrics().Buffered, 1)
		d.at(phase + life)
		same(t, "buffered after", b.Metrics().Buffered, 0)
	}

	// 5 good calls of 0.9 s, 4 bad ones of 5 s and 1 of 10 s, which is 9.1 s
	// after the good ones: 5 of 10 there, but here the second of the good ones
	// is over, and it is 5 of 5. At 55 % only this one trips.
	real := r4jSmall(r4jTime(n, false))
	real.FailureRateThreshold = 55
	exact := exactWindow(policies.TimeWindow, Common{
		Window: n * time.Second, MinCalls: 4, FailureRate: 0.55, OpenFor: time.Second, Probes: 2,
	})
	check := func(maker policies.BreakerMaker, want policies.State) {
		t.Helper()
		d := newDrill(t, maker)
		d.at(900 * time.Millisecond).run("+++++")
		d.at(5 * time.Second).run("----")
		d.want(policies.Closed)
		d.at(10 * time.Second).run("-")
		d.want(want)
	}
	check(real, policies.Open)
	check(exact, policies.Closed)
}

// The slices of the lock-free window begin with the closed state, and anew when
// it is touched more than a second after it has run empty.
func TestResilience4jLockFree(t *testing.T) {
	d, b := r4jDrill(t, r4jTime(2, true))
	buffered := func(at time.Duration, want int) {
		t.Helper()
		d.at(at)
		same(t, "buffered", b.Metrics().Buffered, want)
	}
	d.at(300 * time.Millisecond)
	b.Reset()
	d.at(1299 * time.Millisecond).run("+")
	buffered(2300*time.Millisecond-1, 1)
	buffered(2300*time.Millisecond, 0)
	buffered(5300*time.Millisecond-1, 0) // on the slice of 4.3 s
	d.run("+")
	buffered(6300*time.Millisecond-1, 1)
	buffered(6300*time.Millisecond, 0)
	buffered(9400*time.Millisecond, 0) // begins anew
	d.run("+")
	buffered(11400*time.Millisecond-1, 1)
	buffered(11400*time.Millisecond, 0)
}

func TestResilience4jAllocations(t *testing.T) {
	noAllocations(t, r4jSmall(nil))
	noAllocations(t, r4jSmall(r4jTime(10, false)))
	noAllocations(t, r4jSmall(r4jTime(10, true)))
	noAllocations(t, r4jSmall(func(c *Resilience4jConfig) {
		c.AutomaticTransitionFromOpen, c.MaxWaitInHalfOpen = true, 10*time.Millisecond
	}))
}

func TestResilience4jRateLimiter(t *testing.T) {
	for _, c := range []Resilience4jRateLimiterConfig{{0, 1, 0}, {1, 0, 0}, {1, 1, -1}} {
		if _, err := NewResilience4jRateLimiter(c, policies.Host{}); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	d := &drill{TB: t, now: drillStart.Add(1)}
	l, err := NewResilience4jRateLimiter(Resilience4jRateLimiterConfig{5, 100 * time.Millisecond, 250 * time.Millisecond}, d.host())
	if err != nil {
		t.Fatal(err)
	}
	reserve := func(permits int, wait time.Duration, available int, cycle int64) {
		t.Helper()
		got, ok := l.Reserve(permits)
		if !ok {
			got = -1
		}
		same(t, "wait", got, wait)
		same(t, "available", l.Available(), available)
		same(t, "cycle", l.Cycle(), cycle)
	}
	d.at(50*time.Millisecond + 1)
	reserve(4, 0, 1, 0)
	reserve(2, 50*time.Millisecond, -1, 0)
	reserve(9, 150*time.Millisecond, -10, 0)
	reserve(5, 250*time.Millisecond, -15, 0) // the timeout exactly
	reserve(1, -1, -15, 0)
	reserve(-1, -1, -15, 0)
	reserve(1<<40, -1, -15, 0)
	d.at(100 * time.Millisecond)
	reserve(0, 200*time.Millisecond+1, -15, 0)
	d.at(100*time.Millisecond + 1) // cycles begin with the creation
	reserve(0, 200*time.Millisecond, -10, 1)
	d.at(100 * 24 * time.Hour) // nothing is saved up
	reserve(5, 0, 0, 100*24*36000-1)
	if n := testing.AllocsPerRun(100, func() { l.Reserve(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
