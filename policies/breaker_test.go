package policies

import (
	"testing"
	"time"
)

func TestBreakerConfigValidate(t *testing.T) {
	valid := BreakerConfig{Rule: countRule(10), OpenFor: sec, Probes: 3}
	firstFailure := func(c *BreakerConfig) { c.HalfOpen = FirstFailure }
	for _, tt := range []struct {
		name   string
		change func(*BreakerConfig)
		want   string
	}{
		{"as it is", func(*BreakerConfig) {}, ""},
		{"collect all by name", func(c *BreakerConfig) { c.HalfOpen = CollectAll }, ""},
		{"first failure", firstFailure, ""},
		{"close after some", func(c *BreakerConfig) { firstFailure(c); c.CloseAfter = 2 }, ""},
		{"close after all", func(c *BreakerConfig) { firstFailure(c); c.CloseAfter = 3 }, ""},
		{"unlimited", func(c *BreakerConfig) { firstFailure(c); c.Probes, c.CloseAfter = Unlimited, 1 }, ""},
		{"bad rule", func(c *BreakerConfig) { c.Rule.MinCalls = 0 }, "policies: rule: minimum calls 0"},
		{"open for nothing", func(c *BreakerConfig) { c.OpenFor = 0 }, "policies: breaker: open for 0s, want more than 0s"},
		{"open for less", func(c *BreakerConfig) { c.OpenFor = -sec }, "open for -1s"},
		{"no probes", func(c *BreakerConfig) { c.Probes = 0 }, "policies: breaker: probes 0, want at least 1"},
		{"negative probes", func(c *BreakerConfig) { c.Probes = -1 }, "probes -1"},
		{"negative in flight", func(c *BreakerConfig) { c.ProbesInFlight = -1 }, "probes in flight -1, want 0 for no limit"},
		{"negative half-open", func(c *BreakerConfig) { c.HalfOpenFor = -1 }, "half-open for -1ns, want 0s for no limit"},
		{"unknown half-open rule", func(c *BreakerConfig) { c.HalfOpen = "half" }, `half-open rule "half", want one of collect-all, first-failure`},
		{"collect for ever", func(c *BreakerConfig) { c.Probes = Unlimited }, "probes unlimited, want a number to collect"},
		{"collect some", func(c *BreakerConfig) { c.CloseAfter = 2 }, "close after 2, want 0"},
		{"close after more than all", func(c *BreakerConfig) { firstFailure(c); c.CloseAfter = 4 }, "close after 4, want 0 for all probes, or 1 to 3"},
		{"close after less", func(c *BreakerConfig) { firstFailure(c); c.CloseAfter = -1 }, "close after -1"},
		{"never close", func(c *BreakerConfig) { firstFailure(c); c.Probes = Unlimited }, "close after 0, want at least 1"},
		{"in-flight slow without slow", func(c *BreakerConfig) { c.InFlightSlow = true }, "slow rate 0, want above 0 for slow calls in flight"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := valid
			tt.change(&c)
			checkError(t, c.Validate(), tt.want)
			b, err := NewBreaker(c, nil)
			checkError(t, err, tt.want)
			if (b == nil) != (tt.want != "") {
				t.Errorf("breaker %v with error %v", b, err)
			}
		})
	}
}

// One round through all states, at the instants where they change.
func TestBreakerTimeLine(t *testing.T) {
	const (
		opened   = 5 * sec
		openFor  = 10 * sec
		probing  = opened + openFor
		reopened = probing + sec
		again    = reopened + openFor
		closed   = again + 2*sec
	)
	var log changeLog
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{
		Rule: countRule(4), OpenFor: openFor, Probes: 2, OnChange: log.add,
	}, clock)

	attempt(t, b, good)
	attempt(t, b, good)
	attempt(t, b, bad)
	wantState(t, b, Closed)
	wantCounts(t, b, Counts{3, 1, 0})
	clock.at(opened)
	attempt(t, b, bad) // 2 of 4
	wantState(t, b, Open)
	wantCounts(t, b, Counts{})

	mustRefuse(t, b)
	clock.at(probing - 1)
	mustRefuse(t, b)
	wantState(t, b, Open)

	clock.at(probing) // the interval is half-open: over
	wantState(t, b, Open)
	probe := mustAllow(t, b)
	wantState(t, b, HalfOpen)
	b.Record(probe, good)
	wantCounts(t, b, Counts{1, 0, 0})
	probe = mustAllow(t, b)
	mustRefuse(t, b) // both permits are out
	clock.at(reopened)
	b.Record(probe, bad) // 1 of 2
	wantState(t, b, Open)

	clock.at(again - 1)
	mustRefuse(t, b)
	clock.at(again)
	attempt(t, b, good)
	wantState(t, b, HalfOpen)
	clock.at(closed)
	attempt(t, b, good)
	wantState(t, b, Closed)
	wantCounts(t, b, Counts{}) // starts empty

	log.check(t,
		wantChange{Closed, Open, opened},
		wantChange{Open, HalfOpen, probing},
		wantChange{HalfOpen, Open, reopened},
		wantChange{Open, HalfOpen, again},
		wantChange{HalfOpen, Closed, closed},
	)
	for i, want := range []Counts{{4, 2, 0}, {}, {2, 1, 0}, {}, {2, 0, 0}} {
		if got := log[i].Counts; got != want {
			t.Errorf("change %d: %+v, want %+v", i, got, want)
		}
	}
	clock.add(hour)
	want := Stats{
		Recorded: 8, Refused: 4, Probes: 4,
		Openings: 2, Reopenings: 1, Closings: 1,
		OpenTime:     2 * openFor,
		HalfOpenTime: (reopened - probing) + (closed - again),
	}
	if got := b.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The time spent in the present state counts up to now.
func TestStatsCountTheCurrentStay(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(1), OpenFor: 10 * sec, Probes: 1}, clock)
	attempt(t, b, bad)
	clock.add(3 * sec)
	if got := b.Stats(); got.OpenTime != 3*sec || got.HalfOpenTime != 0 {
		t.Errorf("open %v, half-open %v, want 3s, 0s", got.OpenTime, got.HalfOpenTime)
	}
	clock.add(7 * sec)
	mustAllow(t, b)
	clock.add(2 * sec)
	if got := b.Stats(); got.OpenTime != 10*sec || got.HalfOpenTime != 2*sec {
		t.Errorf("open %v, half-open %v, want 10s, 2s", got.OpenTime, got.HalfOpenTime)
	}
}

// An answer belongs to the state that admitted its call.
func TestLateAnswersAreDropped(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(2), OpenFor: sec, Probes: 2}, clock)
	var early []Permit
	for range 6 {
		early = append(early, mustAllow(t, b))
	}
	b.Record(early[0], bad)
	b.Record(early[1], bad)
	wantState(t, b, Open)
	b.Record(early[2], good) // while open
	clock.add(sec)
	probe := mustAllow(t, b)
	b.Record(early[3], bad) // while half-open: not a probe
	wantState(t, b, HalfOpen)
	wantCounts(t, b, Counts{})
	b.Cancel(early[4]) // gives no probe back
	second := mustAllow(t, b)
	mustRefuse(t, b)
	b.Record(probe, good)
	b.Record(second, good)
	wantState(t, b, Closed)
	b.Record(early[5], bad) // closed again, but not the same closed
	wantCounts(t, b, Counts{})
	if got := b.Stats(); got.Late != 4 || got.Recorded != 4 || got.Cancelled != 0 {
		t.Errorf("%d late, %d recorded, %d cancelled, want 4, 4, 0", got.Late, got.Recorded, got.Cancelled)
	}
}

// The zero permit of a refusal may be handed back by mistake.
func TestZeroPermitIsWorthNothing(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(1), OpenFor: sec, Probes: 1}, clock)
	b.Record(Permit{}, bad)
	b.Cancel(Permit{})
	wantState(t, b, Closed)
	attempt(t, b, bad)
	p, ok := b.Allow()
	if ok || p != (Permit{}) {
		t.Errorf("refusal with permit %v %v", p, ok)
	}
	b.Record(p, good)
	want := Stats{Recorded: 1, Refused: 1, Openings: 1}
	if got := b.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestClassify(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{
		Rule: countRule(10), OpenFor: sec, Probes: 1, Classify: classifyByError,
	}, clock)
	for _, class := range []Class{Success, Failure, Ignored, Ignored, 17} {
		attempt(t, b, outcomeOf(class, ms))
	}
	wantCounts(t, b, Counts{3, 2, 0}) // an unknown class is a failure
	b.Cancel(mustAllow(t, b))
	if got := b.Stats(); got.Recorded != 3 || got.Ignored != 2 || got.Cancelled != 1 {
		t.Errorf("%+v, want 3 recorded, 2 ignored, 1 cancelled", got)
	}
}

// Slow means strictly longer.
func TestSlowBoundary(t *testing.T) {
	rule := RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 10}, MinCalls: 10, SlowRate: 1, SlowAfter: 2 * sec}
	b := mustBreaker(t, BreakerConfig{Rule: rule, OpenFor: sec, Probes: 1}, newHandClock())
	for _, latency := range []time.Duration{0, 2*sec - 1, 2 * sec, 2*sec + 1, hour, 1<<63 - 1} {
		attempt(t, b, Outcome{Latency: latency})
	}
	wantCounts(t, b, Counts{6, 0, 3})
	rule.FailureRate, rule.SlowRate, rule.SlowAfter = 1, 0, 0
	b = mustBreaker(t, BreakerConfig{Rule: rule, OpenFor: sec, Probes: 1}, newHandClock())
	attempt(t, b, Outcome{Latency: 1<<63 - 1})
	wantCounts(t, b, Counts{1, 0, 0}) // no limit, nothing is slow
}

// A count window has no use for the time until it trips.
func TestCountWindowDoesNotReadTheClock(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(10), OpenFor: sec, Probes: 1}, clock)
	clock.reads = 0
	for range 9 {
		attempt(t, b, good)
	}
	for range 4 {
		attempt(t, b, bad)
	}
	b.State()
	if clock.reads != 0 {
		t.Errorf("%d readings while closed, want 0", clock.reads)
	}
	attempt(t, b, bad)
	if clock.reads != 1 {
		t.Errorf("%d readings to open, want 1", clock.reads)
	}
}

// A time window reads it once for each outcome, and by the cheap method.
func TestTimeWindowReadsTheClockOnce(t *testing.T) {
	clock := &sinceClock{handClock: *newHandClock()}
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
			MinCalls: 100, FailureRate: 1,
		},
		OpenFor: sec, Probes: 1,
	}, clock)
	clock.reads = 0
	for range 10 {
		attempt(t, b, bad)
	}
	if clock.reads != 0 || clock.sinces != 10 {
		t.Errorf("%d times Now and %d times Since, want 0 and 10", clock.reads, clock.sinces)
	}
}

// A clock that goes back is taken to stand still.
func TestClockThatGoesBack(t *testing.T) {
	clock := newHandClock()
	var log changeLog
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
			MinCalls: 2, FailureRate: 1,
		},
		OpenFor: 5 * sec, Probes: 1, OnChange: log.add,
	}, clock)
	clock.at(20 * sec)
	attempt(t, b, bad)
	clock.at(15 * sec)
	attempt(t, b, bad)
	clock.at(24 * sec)
	mustRefuse(t, b)
	clock.at(25 * sec)
	mustAllow(t, b)
	clock.at(-hour)
	wantState(t, b, HalfOpen)
	log.check(t, wantChange{Closed, Open, 20 * sec}, wantChange{Open, HalfOpen, 25 * sec})
}

// Buckets of a breaker are aligned with the Unix time of its clock, not with
// its birth.
func TestBucketsOfABreakerFollowTheClock(t *testing.T) {
	const born = 700 * ms
	clock := newHandClock()
	clock.at(born)
	b := mustBreaker(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: BucketWindow, Length: 2 * sec, Buckets: 2},
			MinCalls: 10, FailureRate: 1,
		},
		OpenFor: sec, Probes: 1,
	}, clock)
	attempt(t, b, bad)
	clock.at(2*sec - 1)
	wantCounts(t, b, Counts{1, 1, 0})
	clock.at(2 * sec) // 1.3 s after its birth
	wantCounts(t, b, Counts{})
}

func TestStateString(t *testing.T) {
	for want, s := range map[string]interface{ String() string }{
		"closed": Closed, "open": Open, "half-open": HalfOpen, "State(7)": State(7),
		"success": Success, "failure": Failure, "ignored": Ignored,
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
