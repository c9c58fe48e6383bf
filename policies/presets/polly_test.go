package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestPollyDefaults(t *testing.T) {
	want := PollyConfig{FailureRatio: 0.1, MinimumThroughput: 100, SamplingDuration: 30 * time.Second, BreakDuration: 5 * time.Second}
	same(t, "defaults", PollyDefaults(), want)
	d := newDrill(t, PollyDefaults())
	for range 9 {
		d.run("++++++++++-")
	}
	d.want(policies.Closed) // 9 of 99
	d.run("-")
	d.want(policies.Open) // 10 of 100
}

func TestPollyBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*PollyConfig){
		"failure ratio":      func(c *PollyConfig) { c.FailureRatio = 1.5 },
		"minimum throughput": func(c *PollyConfig) { c.MinimumThroughput = 1 },
		"sampling duration":  func(c *PollyConfig) { c.SamplingDuration = 0 },
		"break duration":     func(c *PollyConfig) { c.BreakDuration = 0 },
	} {
		c := PollyDefaults()
		change(&c)
		badConfig(t, c, field)
	}
}

// pollyDrill breaks at half of at least 4 calls in 10 s, for 5 s.
func pollyDrill(t *testing.T) (*drill, *Polly) {
	d := newDrill(t, PollyConfig{FailureRatio: 0.5, MinimumThroughput: 4, SamplingDuration: 10 * time.Second, BreakDuration: 5 * time.Second})
	return d, d.b.(*Polly)
}

func (d *drill) wantHealth(b *Polly, failures, throughput int) {
	d.Helper()
	f, n := b.Health()
	if f != failures || n != throughput {
		d.Errorf("at %v: %d failures of %d, want %d of %d", d.now.Sub(drillStart), f, n, failures, throughput)
	}
}

// Only a failure asks; a ratio that a success leaves behind does not break.
func TestPollyAsksAtFailures(t *testing.T) {
	d, _ := pollyDrill(t)
	d.run("--++")
	d.want(policies.Closed)
	d.run("-")
	d.want(policies.Open)
}

// A part starts with a result that is a tenth later, not on a grid, and leaves
// at the age of the window.
func TestPollyParts(t *testing.T) {
	d, b := pollyDrill(t)
	at := func(t time.Duration) *drill { return d.at(t) }
	at(700 * time.Millisecond).run("-")
	at(1700*time.Millisecond - 1).run("+") // still in the part of 0.7 s
	at(1700 * time.Millisecond).run("+")   // starts one
	at(5 * time.Second).run("+")
	at(10700*time.Millisecond - 1)
	d.wantHealth(b, 1, 4)
	at(10700 * time.Millisecond)
	d.wantHealth(b, 0, 2)
	at(11700 * time.Millisecond).run("-")
	d.wantHealth(b, 1, 2)
	at(time.Hour).run("+")
	d.wantHealth(b, 0, 1)
}

// As many parts as there can be: a tenth is rounded down, and each part starts
// as early as it may.
func TestPollyManyParts(t *testing.T) {
	d := newDrill(t, PollyConfig{FailureRatio: 1, MinimumThroughput: 2, SamplingDuration: 200*time.Millisecond + 9, BreakDuration: time.Second})
	for i := range 1000 {
		d.at(time.Duration(i) * 20 * time.Millisecond).run("+")
		d.wantHealth(d.b.(*Polly), 0, min(i+1, 11))
	}
}

// Below 200 ms the window is one part, which starts at a result after its end.
func TestPollyFixed(t *testing.T) {
	d := newDrill(t, PollyConfig{FailureRatio: 1, MinimumThroughput: 2, SamplingDuration: 100 * time.Millisecond, BreakDuration: time.Second})
	b := d.b.(*Polly)
	d.at(99 * time.Millisecond).run("-")
	d.at(150 * time.Millisecond).run("-")
	d.wantHealth(b, 1, 1)
	d.at(249 * time.Millisecond).run("-")
	d.want(policies.Open)
}

func TestPollyStates(t *testing.T) {
	d, b := pollyDrill(t)
	before := d.allow()
	other := d.allow()
	d.run("----")
	d.end(other, '-') // counts, without effect
	d.wantHealth(b, 5, 5)
	d.at(5*time.Second - 1).refused()
	d.at(5 * time.Second)
	d.want(policies.Open) // until somebody asks
	probe := d.allow()
	d.want(policies.HalfOpen)
	d.at(time.Hour).refused()
	d.end(probe, '-')
	d.want(policies.Open)
	d.wantHealth(b, 0, 0) // by age; the probe did not count
	d.at(time.Hour + 5*time.Second).allow()
	d.end(before, '+') // decides in place of the probe
	d.want(policies.Closed)
	s := d.b.Stats()
	same(t, "openings", s.Openings, 2)
	same(t, "reopenings", s.Reopenings, 1)
	same(t, "closings", s.Closings, 1)
}

// Opening keeps the window, closing empties it.
func TestPollyClosingClears(t *testing.T) {
	d, b := pollyDrill(t)
	d.run("----")
	d.at(5 * time.Second)
	d.wantHealth(b, 4, 4)
	d.run("+")
	d.want(policies.Closed)
	d.wantHealth(b, 0, 0)
}

// What is not a failure is a success.
func TestPollyUnhandled(t *testing.T) {
	d, b := pollyDrill(t)
	d.run("ic")
	d.wantHealth(b, 0, 2)
	late := d.allow()
	d.run("--")
	d.want(policies.Open)
	d.end(late, 'c')
	d.wantHealth(b, 2, 5)
	d.at(5 * time.Second).run("c")
	d.want(policies.Closed)
}

func TestPollyAllocations(t *testing.T) {
	noAllocations(t, PollyConfig{FailureRatio: 0.5, MinimumThroughput: 4, SamplingDuration: time.Second, BreakDuration: time.Second})
}
