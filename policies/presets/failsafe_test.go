package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func failsafeBreaker(change func(*FailsafeBreakerConfig)) FailsafeBreakerConfig {
	c := FailsafeBreakerDefaults()
	change(&c)
	return c
}

func TestFailsafeDefaults(t *testing.T) {
	d := newDrill(t, FailsafeBreakerDefaults())
	d.run("++-")
	d.want(policies.Open)
	b := d.b.(*FailsafeBreaker)
	same(t, "remaining delay", b.RemainingDelay(), time.Minute)
	d.at(time.Minute - 1).refused()
	d.at(time.Minute)
	same(t, "remaining delay", b.RemainingDelay(), 0)
	d.want(policies.Open) // until somebody asks
	p := d.allow()
	d.refused()
	d.end(p, 'i') // gives its place back
	d.run("c+")
	d.want(policies.Closed)
}

func TestFailsafeBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*FailsafeBreakerConfig){
		"failure threshold 0":             func(c *FailsafeBreakerConfig) { c.FailureThreshold = 0 },
		"failure thresholding capacity 2": func(c *FailsafeBreakerConfig) { c.FailureThreshold, c.FailureThresholdingCapacity = 3, 2 },
		"failure thresholding period":     func(c *FailsafeBreakerConfig) { c.FailureThresholdingPeriod = 9 },
		"failure rate threshold":          func(c *FailsafeBreakerConfig) { c.FailureRateThreshold = 1.1 },
		"failure execution threshold":     func(c *FailsafeBreakerConfig) { c.FailureExecutionThreshold = -1 },
		"success threshold":               func(c *FailsafeBreakerConfig) { c.SuccessThreshold = -1 },
		"success thresholding capacity 1": func(c *FailsafeBreakerConfig) { c.SuccessThreshold, c.SuccessThresholdingCapacity = 2, 1 },
		"delay":                           func(c *FailsafeBreakerConfig) { c.Delay = -1 },
		"jitter":                          func(c *FailsafeBreakerConfig) { c.Jitter = -1 },
		"jitter factor":                   func(c *FailsafeBreakerConfig) { c.JitterFactor = 2 },
	} {
		badConfig(t, failsafeBreaker(change), field)
	}
}

// The last results count, whenever they were; success 2 of 3 closes.
func TestFailsafeRatio(t *testing.T) {
	d := newDrill(t, failsafeBreaker(func(c *FailsafeBreakerConfig) {
		c.FailureThreshold, c.FailureThresholdingCapacity = 2, 3
		c.SuccessThreshold, c.SuccessThresholdingCapacity = 2, 3
	}))
	late := d.allow()
	d.run("-++-")
	d.want(policies.Closed)
	d.at(time.Hour).run("-")
	d.want(policies.Open)
	d.at(time.Hour + time.Minute)
	d.allow()
	d.allow()
	d.allow()
	d.refused()
	d.end(late, '-') // counts here, and gives a place
	same(t, "failures", d.b.(*FailsafeBreaker).Metrics().Failures, 1)
	d.run("+")
	d.want(policies.HalfOpen)
	d.run("-") // 2 of 3 can no longer be
	d.want(policies.Open)
}

// A slice leaves at the next result, not before; a good one opens, too.
func TestFailsafePeriod(t *testing.T) {
	d := newDrill(t, failsafeBreaker(func(c *FailsafeBreakerConfig) {
		c.FailureRateThreshold, c.FailureExecutionThreshold, c.FailureThresholdingPeriod = 0.5, 3, 10*time.Second
	}))
	b := d.b.(*FailsafeBreaker)
	d.run("--")
	d.at(time.Hour)
	same(t, "executions", b.Metrics().Executions, 2)
	d.run("+")
	same(t, "executions", b.Metrics().Executions, 1)
	d.at(time.Hour + 9*time.Second).run("-")
	d.want(policies.Closed)
	d.run("+")
	d.want(policies.Closed) // 1 of 3
	d.at(time.Hour + 10*time.Second).run("-")
	d.want(policies.Open) // 2 of 3
	same(t, "failure rate", b.Metrics().FailureRate, 0.67)

	d = newDrill(t, failsafeBreaker(func(c *FailsafeBreakerConfig) {
		c.FailureRateThreshold, c.FailureExecutionThreshold, c.FailureThresholdingPeriod = 0.5, 2, 10*time.Second
	}))
	d.run("-+")
	d.want(policies.Open)
}

func TestFailsafeBreakerJitter(t *testing.T) {
	c := failsafeBreaker(func(c *FailsafeBreakerConfig) { c.JitterFactor = 0.25 })
	for u, want := range map[float64]time.Duration{0: 45 * time.Second, 0.5: time.Minute, lastUnit: 75 * time.Second} {
		d := &drill{TB: t, now: drillStart}
		h := d.host()
		h.Uniform = constant(u)
		b, err := NewFailsafeBreaker(c, h)
		if err != nil {
			t.Fatal(err)
		}
		d.b = b
		d.run("-")
		same(t, "remaining delay", b.RemainingDelay(), want)
	}
}

func TestFailsafeBreakerAllocations(t *testing.T) {
	noAllocations(t, failsafeBreaker(func(c *FailsafeBreakerConfig) { c.Delay, c.SuccessThreshold = time.Second, 2 }))
	noAllocations(t, failsafeBreaker(func(c *FailsafeBreakerConfig) {
		c.FailureRateThreshold, c.FailureExecutionThreshold, c.FailureThresholdingPeriod = 0.5, 20, 10*time.Second
		c.Delay, c.Jitter = time.Second, time.Millisecond
	}))
}

func TestFailsafeRetry(t *testing.T) {
	waits := func(c FailsafeRetryConfig, u float64, want ...time.Duration) {
		t.Helper()
		d, err := c.NewFailsafeDelays()
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			same(t, "wait", d.Delay(i+1, 0, u), w)
		}
	}
	waits(FailsafeRetryDefaults(), 0.9, 0, 0)
	waits(FailsafeRetryConfig{Delay: 3, MaxDelay: 9, Factor: 1.5}, 0, 3, 4, 6, 9, 9)
	waits(FailsafeRetryConfig{Delay: 3, MaxDelay: 9}, 0, 3, 6, 9, 9)
	waits(FailsafeRetryConfig{Delay: 3, MaxDelay: 9, Factor: 0.5}, 0, 3, 1, 0, 3, 1)
	waits(FailsafeRetryConfig{Delay: 100, MaxDelay: 150, Jitter: 60}, 0, 40, 90, 90)
	waits(FailsafeRetryConfig{Delay: 100, MaxDelay: 150, Jitter: 60}, lastUnit, 159, 209, 209)
	waits(FailsafeRetryConfig{Delay: 100, Jitter: 160}, 0, 0)
	waits(FailsafeRetryConfig{Delay: 100, JitterFactor: 0.25}, 0, 75, 75)

	d, _ := FailsafeRetryConfig{MaxRetries: -1, Delay: 6, MaxDuration: 10}.NewFailsafeDelays()
	same(t, "cut wait", d.Cut(6, 6), 4)
	same(t, "cut wait", d.Cut(6, 11), 0)
	same(t, "retries", d.Retries(1000, 10), true)
	same(t, "retries", d.Retries(1, 11), false)
	d, _ = FailsafeRetryDefaults().NewFailsafeDelays()
	same(t, "retries", d.Retries(2, time.Hour), true)
	same(t, "retries", d.Retries(3, 0), false)

	for _, c := range []FailsafeRetryConfig{
		{MaxRetries: -2}, {Delay: -1}, {MaxDelay: -1}, {Factor: -1}, {Jitter: -1}, {JitterFactor: 2}, {MaxDuration: -1},
	} {
		if d, err := c.NewDelays(); err == nil || d != nil {
			t.Errorf("%+v: %v and error %v", c, d, err)
		}
	}
}
