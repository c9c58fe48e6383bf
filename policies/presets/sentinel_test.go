package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// sentinelRule is half failed of at least 4 calls in 2 s of two buckets.
func sentinelRule(change func(*SentinelConfig)) SentinelConfig {
	c := SentinelConfig{
		Strategy: SentinelErrorRatio, Threshold: 0.5, MinRequestAmount: 4,
		StatInterval: 2 * time.Second, BucketCount: 2, RetryTimeout: time.Second,
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestSentinelBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*SentinelConfig){
		"strategy":                      func(c *SentinelConfig) { c.Strategy = "Errors" },
		"threshold":                     func(c *SentinelConfig) { c.Threshold = 1.1 },
		"minimum request amount":        func(c *SentinelConfig) { c.MinRequestAmount = -1 },
		"statistics interval":           func(c *SentinelConfig) { c.StatInterval = time.Microsecond },
		"retry timeout":                 func(c *SentinelConfig) { c.RetryTimeout = -1 },
		"probes":                        func(c *SentinelConfig) { c.ProbeNum = -1 },
		"maximum allowed response time": func(c *SentinelConfig) { c.MaxAllowedRT = -1 },
	} {
		badConfig(t, sentinelRule(change), field)
	}
	badConfig(t, sentinelRule(func(c *SentinelConfig) { c.Strategy, c.Threshold = SentinelErrorCount, -1 }), "threshold")
	badConfig(t, SentinelConfig{}, "strategy")
}

func TestSentinelRatio(t *testing.T) {
	d := newDrill(t, sentinelRule(nil))
	d.run("--+")
	d.want(policies.Closed) // below the minimum
	d.run("+")
	d.want(policies.Open) // at a success, reached
	d.at(time.Second - time.Millisecond).refused()
	d.at(time.Second)
	d.want(policies.Open) // until somebody asks
	d.run("+")
	d.want(policies.Closed)
}

func TestSentinelCount(t *testing.T) {
	d := newDrill(t, sentinelRule(func(c *SentinelConfig) { c.Strategy, c.Threshold = SentinelErrorCount, 3 }))
	d.run("--++++")
	d.want(policies.Closed)
	d.run("-")
	d.want(policies.Open)
}

// Slow is a whole millisecond longer, and a failure is not slow.
func TestSentinelSlow(t *testing.T) {
	d := newDrill(t, sentinelRule(func(c *SentinelConfig) {
		c.Strategy, c.Threshold, c.MaxAllowedRT = SentinelSlowRatio, 0.25, 10*time.Millisecond
	}))
	end := func(latency time.Duration) { d.b.Record(d.allow(), policies.Outcome{Latency: latency}) }
	d.run("---")
	end(11*time.Millisecond - 1)
	d.want(policies.Closed)
	end(11 * time.Millisecond)
	d.want(policies.Closed) // 1 of 5
	end(11 * time.Millisecond)
	d.want(policies.Open) // 2 of 6
}

// A bucket is live at the age of the whole interval, and no longer.
func TestSentinelWindow(t *testing.T) {
	d := newDrill(t, sentinelRule(nil))
	b := d.b.(*Sentinel)
	d.run("-")
	d.at(1500 * time.Millisecond).run("+")
	counts := func(at time.Duration, bad, total int) {
		t.Helper()
		d.at(at)
		gotBad, gotTotal := b.Counts()
		same(t, "bad", gotBad, bad)
		same(t, "total", gotTotal, total)
	}
	counts(2*time.Second, 1, 2)
	counts(2*time.Second+time.Millisecond-1, 1, 2)
	counts(2*time.Second+time.Millisecond, 0, 1)
	d.at(2 * time.Second) // a clock that goes back stands still
	d.run("+")
	counts(3*time.Second, 0, 2)
	counts(time.Hour, 0, 0)
}

func TestSentinelProbes(t *testing.T) {
	tripped := func(probes int) (*drill, policies.Permit) {
		d := newDrill(t, sentinelRule(func(c *SentinelConfig) { c.ProbeNum = probes }))
		before := d.allow()
		d.run("----")
		d.want(policies.Open)
		return d.at(time.Second), before
	}
	d, _ := tripped(0)
	probe := d.allow()
	d.want(policies.HalfOpen)
	d.refused()
	d.end(probe, '-')
	d.want(policies.Open)
	d.at(2*time.Second - 1).refused()
	d.at(2 * time.Second).run("+")
	d.want(policies.Closed)
	_, total := d.b.(*Sentinel).Counts()
	same(t, "total after closing", total, 0)

	d, _ = tripped(2)
	for range 10 {
		d.allow() // every one passes
	}
	d.run("+")
	d.want(policies.HalfOpen)
	d.run("-")
	d.want(policies.Open)
	d.at(2 * time.Second).run("+")
	d.want(policies.HalfOpen) // the good probe from before does not count
	d.run("+")
	d.want(policies.Closed)

	d, before := tripped(0)
	d.allow()
	d.end(before, '+') // is taken for the probe
	d.want(policies.Closed)
	same(t, "closings", d.b.Stats().Closings, 1)
}

func TestSentinelAllocations(t *testing.T) {
	noAllocations(t, sentinelRule(nil))
	noAllocations(t, sentinelRule(func(c *SentinelConfig) { c.ProbeNum = 3 }))
}

// The first probe takes the half-open state back when it is given back.
func TestSentinelCancel(t *testing.T) {
	d := newDrill(t, sentinelRule(nil))
	d.run("----")
	d.at(time.Second).run("c")
	d.want(policies.Open)
	d.run("+")
	d.want(policies.Closed)
}

// A number of errors is cut to a whole one.
func TestSentinelBrokenCount(t *testing.T) {
	d := newDrill(t, sentinelRule(func(c *SentinelConfig) { c.Strategy, c.Threshold = SentinelErrorCount, 4.9 }))
	d.run("----")
	d.want(policies.Open)
}
