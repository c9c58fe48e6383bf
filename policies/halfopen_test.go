package policies

import (
	"testing"
	"time"
)

// halfOpen returns a breaker that has just become half-open, its first probe,
// and the clock. The rule trips at half failed or half slow above 1 s.
func halfOpen(t *testing.T, change func(*BreakerConfig)) (*Breaker, Permit, *handClock) {
	t.Helper()
	rule := countRule(2)
	rule.SlowRate, rule.SlowAfter = 0.5, sec
	cfg := BreakerConfig{Rule: rule, OpenFor: 10 * sec, Probes: 4}
	change(&cfg)
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	attempt(t, b, Outcome{Latency: hour, Err: errCall}) // trips either way
	attempt(t, b, Outcome{Latency: hour, Err: errCall})
	wantState(t, b, Open)
	clock.add(10 * sec)
	return b, mustAllow(t, b), clock
}

var slowOutcome = Outcome{Latency: sec + 1}

// A script of outcomes of probes, one letter each: good, bad, slow, ignored,
// cancelled. The state is wanted after each.
func TestHalfOpenRules(t *testing.T) {
	collect := func(*BreakerConfig) {}
	first := func(c *BreakerConfig) { c.HalfOpen = FirstFailure }
	for _, tt := range []struct {
		name   string
		change func(*BreakerConfig)
		probes string
		states string // h, o or c after each probe
	}{
		{"collect, all good", collect, "gggg", "hhhc"},
		{"collect, one bad of four", collect, "bggg", "hhhc"},
		{"collect, half bad", collect, "bgbg", "hhho"},
		{"collect, half slow", collect, "sgsg", "hhho"},
		{"collect, a quarter bad and a quarter slow", collect, "bsgg", "hhhc"},
		{"collect, lost early, decided late", collect, "bbbb", "hhho"},
		{"collect, ignored ones do not count", collect, "igicgigg", "hhhhhhhc"},
		{"collect, minimum of the rule plays no part", func(c *BreakerConfig) { c.Probes = 1 }, "b", "o"},
		{"first, all good", first, "gggg", "hhhc"},
		{"first, bad at once", first, "b", "o"},
		{"first, bad at last", first, "gggb", "hhho"},
		{"first, slow is bad", first, "gs", "ho"},
		{"first, slow is fine without a slow rate", func(c *BreakerConfig) { first(c); c.Rule.SlowRate = 0 }, "ssss", "hhhc"},
		{"first, bad without a failure rate", func(c *BreakerConfig) { first(c); c.Rule.FailureRate = 0 }, "gb", "ho"},
		{"collect, all bad without a failure rate", func(c *BreakerConfig) { c.Rule.FailureRate = 0 }, "bbbb", "hhhc"},
		{"first, ignored ones do not count", first, "gicigigg", "hhhhhhhc"},
		{"first, two are enough", func(c *BreakerConfig) { first(c); c.CloseAfter = 2 }, "gg", "hc"},
		{"first, unlimited", func(c *BreakerConfig) { first(c); c.Probes, c.CloseAfter = Unlimited, 3 }, "iicgigg", "hhhhhhc"},
		{"first, one is enough", func(c *BreakerConfig) { first(c); c.Probes = 1 }, "g", "c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, p, _ := halfOpen(t, func(c *BreakerConfig) {
				tt.change(c)
				c.Classify = func(o Outcome) Class {
					if o.Latency == 0 {
						return Ignored
					}
					return Class(len(outcomeText(o)))
				}
			})
			for i, probe := range tt.probes {
				if i > 0 {
					p = mustAllow(t, b)
				}
				switch probe {
				case 'g':
					b.Record(p, good)
				case 'b':
					b.Record(p, bad)
				case 's':
					b.Record(p, slowOutcome)
				case 'i':
					b.Record(p, Outcome{})
				case 'c':
					b.Cancel(p)
				}
				want := map[byte]State{'h': HalfOpen, 'o': Open, 'c': Closed}[tt.states[i]]
				if got := b.State(); got != want {
					t.Fatalf("after probe %d of %q: %v, want %v", i, tt.probes, got, want)
				}
			}
		})
	}
}

// outcomeText is empty for a success and one letter for a failure.
func outcomeText(o Outcome) string {
	if o.Err != nil {
		return "b"
	}
	return ""
}

func TestProbesAreHandedOutOnce(t *testing.T) {
	b, first, _ := halfOpen(t, func(*BreakerConfig) {})
	probes := []Permit{first}
	for range 3 {
		probes = append(probes, mustAllow(t, b))
	}
	mustRefuse(t, b)
	b.Record(probes[0], good)
	mustRefuse(t, b) // used up, though only three are in flight
	b.Cancel(probes[1])
	again := mustAllow(t, b)
	mustRefuse(t, b)
	b.Record(probes[2], good)
	b.Record(probes[3], good)
	b.Record(again, good)
	wantState(t, b, Closed)
	if got := b.Stats(); got.Probes != 5 || got.Refused != 3 {
		t.Errorf("%d probes and %d refusals, want 5 and 3", got.Probes, got.Refused)
	}
}

func TestProbesInFlight(t *testing.T) {
	b, first, _ := halfOpen(t, func(c *BreakerConfig) { c.ProbesInFlight = 2 })
	second := mustAllow(t, b)
	mustRefuse(t, b)
	b.Record(first, good)
	third := mustAllow(t, b)
	mustRefuse(t, b)
	b.Cancel(second)
	b.Record(third, good)
	fourth, fifth := mustAllow(t, b), mustAllow(t, b)
	b.Record(fourth, good)
	mustRefuse(t, b) // all four are used or in flight
	b.Record(fifth, good)
	wantState(t, b, Closed)
}

// A permit that comes back twice by mistake cannot make room for more probes
// than were handed out.
func TestProbeReportedTwice(t *testing.T) {
	b, first, _ := halfOpen(t, func(c *BreakerConfig) { c.Probes = 2 })
	b.Cancel(first)
	b.Cancel(first)
	b.Cancel(first)
	mustAllow(t, b)
	mustAllow(t, b)
	mustRefuse(t, b)
}

// Without a limit a lost probe keeps the breaker half-open; HalfOpenFor ends
// that, at its own instant.
func TestHalfOpenFor(t *testing.T) {
	const longest = 30 * sec
	b, probe, clock := halfOpen(t, func(c *BreakerConfig) { c.Probes = 1 })
	clock.add(1000 * hour)
	mustRefuse(t, b)
	if _, ok := b.NextDeadline(); ok {
		t.Error("a deadline without HalfOpenFor")
	}
	b.Record(probe, good)
	wantState(t, b, Closed)

	var log changeLog
	b, probe, clock = halfOpen(t, func(c *BreakerConfig) {
		c.Probes, c.HalfOpenFor, c.OnChange = 1, longest, log.add
	})
	at, ok := b.NextDeadline()
	if want := clock.now.Add(longest); !ok || !at.Equal(want) {
		t.Errorf("deadline %v %v, want %v", at, ok, want)
	}
	clock.add(longest - 1)
	wantState(t, b, HalfOpen)
	clock.add(1)
	wantState(t, b, Open)
	b.Record(probe, good) // too late
	wantState(t, b, Open)
	if got := b.Stats().Late; got != 1 {
		t.Errorf("%d late, want 1", got)
	}
	if _, ok := b.NextDeadline(); ok {
		t.Error("a deadline while open")
	}
	log.check(t,
		wantChange{Closed, Open, 0},
		wantChange{Open, HalfOpen, 10 * sec},
		wantChange{HalfOpen, Open, 10*sec + longest},
	)
}

// Nobody looks for a long time: the breaker reopened when half-open was over,
// and its next open interval has passed as well.
func TestHalfOpenForSeenLate(t *testing.T) {
	var log changeLog
	b, _, clock := halfOpen(t, func(c *BreakerConfig) {
		c.Probes, c.HalfOpenFor, c.OnChange = 1, 30*sec, log.add
	})
	clock.add(hour)
	mustAllow(t, b)
	log.check(t,
		wantChange{Closed, Open, 0},
		wantChange{Open, HalfOpen, 10 * sec},
		wantChange{HalfOpen, Open, 40 * sec},
		wantChange{Open, HalfOpen, 10*sec + hour},
	)
	want := 10*sec + (hour - 30*sec)
	if got := b.Stats().OpenTime; got != want {
		t.Errorf("open for %v, want %v", got, want)
	}
}

// When half-open is over at the instant at which a probe would become slow, it
// is over first.
func TestHalfOpenForGoesFirst(t *testing.T) {
	b, _, clock := halfOpen(t, func(c *BreakerConfig) {
		c.HalfOpenFor, c.InFlightSlow = c.Rule.SlowAfter+1, true
	})
	clock.add(sec + 1)
	wantState(t, b, Open)
	if got := b.Stats(); got.EarlySlow != 0 || got.Reopenings != 1 {
		t.Errorf("%d slow in flight, %d reopenings, want 0, 1", got.EarlySlow, got.Reopenings)
	}
}

// The longest durations do not overflow.
func TestEndlessDurations(t *testing.T) {
	const endless = time.Duration(1<<63 - 1)
	b, _, clock := halfOpen(t, func(c *BreakerConfig) { c.HalfOpenFor = endless })
	clock.add(290 * 365 * 24 * hour)
	wantState(t, b, HalfOpen)
	clock = newHandClock()
	b = mustBreaker(t, BreakerConfig{Rule: countRule(1), OpenFor: endless, Probes: 1}, clock)
	attempt(t, b, bad)
	clock.add(290 * 365 * 24 * hour)
	mustRefuse(t, b)
}
