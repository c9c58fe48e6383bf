package policies

import (
	"testing"
	"time"
)

const slowAfter = 2 * sec

// inFlightConfig counts slow calls in flight; four calls of which half are
// slow or failed open it.
func inFlightConfig(window WindowConfig) BreakerConfig {
	return BreakerConfig{
		Rule: RuleConfig{
			Window: window, MinCalls: 4, FailureRate: 0.5, SlowRate: 0.5, SlowAfter: slowAfter,
		},
		OpenFor: 10 * sec, Probes: 2, InFlightSlow: true,
	}
}

var hundredCalls = WindowConfig{Kind: CountWindow, Calls: 100}

// Two fast calls and two that hang: the second one to become slow opens the
// breaker, at that instant.
func TestInFlightSlowTimeLine(t *testing.T) {
	const (
		firstSent  = 1 * sec
		secondSent = 1500 * ms
		firstSlow  = firstSent + slowAfter + 1
		secondSlow = secondSent + slowAfter + 1
	)
	var log changeLog
	cfg := inFlightConfig(hundredCalls)
	cfg.OnChange = log.add
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	if _, ok := b.NextDeadline(); ok {
		t.Error("a deadline without calls")
	}
	attempt(t, b, good)
	attempt(t, b, good)
	clock.at(firstSent)
	first := mustAllow(t, b)
	clock.at(secondSent)
	second := mustAllow(t, b)
	if at, ok := b.NextDeadline(); !ok || at.Sub(testStart) != firstSlow {
		t.Errorf("deadline %v %v, want %v", at.Sub(testStart), ok, firstSlow)
	}
	clock.at(firstSlow - 1) // in flight for exactly slowAfter
	wantCounts(t, b, Counts{2, 0, 0})
	clock.at(firstSlow)
	wantCounts(t, b, Counts{3, 0, 1})
	if at, ok := b.NextDeadline(); !ok || at.Sub(testStart) != secondSlow {
		t.Errorf("deadline %v %v, want %v", at.Sub(testStart), ok, secondSlow)
	}
	clock.at(hour) // nobody looks for an hour
	b.Advance()
	wantState(t, b, Open)
	log.check(t, wantChange{Closed, Open, secondSlow})
	if got, want := log[0].Counts, (Counts{4, 0, 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	b.Record(first, good)
	b.Record(second, bad)
	if got := b.Stats(); got.Late != 2 || got.EarlySlow != 2 || got.Recorded != 2 {
		t.Errorf("%d late, %d slow in flight, %d recorded, want 2, 2, 2", got.Late, got.EarlySlow, got.Recorded)
	}
}

// The end of a call that was counted already adds a failure or nothing.
func TestEndOfASlowCall(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*Breaker, Permit)
		held Counts
		want Stats
	}{
		{"success", func(b *Breaker, p Permit) { b.Record(p, Outcome{Latency: 3 * sec}) },
			Counts{2, 0, 1}, Stats{Recorded: 2, EarlySlow: 1}},
		{"failure", func(b *Breaker, p Permit) { b.Record(p, Outcome{Latency: 3 * sec, Err: classError(Failure)}) },
			Counts{2, 1, 1}, Stats{Recorded: 2, EarlySlow: 1}},
		{"ignored", func(b *Breaker, p Permit) { b.Record(p, Outcome{Latency: 3 * sec, Err: classError(Ignored)}) },
			Counts{2, 0, 1}, Stats{Recorded: 1, Ignored: 1, EarlySlow: 1}},
		{"cancelled", func(b *Breaker, p Permit) { b.Cancel(p) },
			Counts{2, 0, 1}, Stats{Recorded: 1, Cancelled: 1, EarlySlow: 1}},
		{"twice", func(b *Breaker, p Permit) { b.Record(p, good); b.Record(p, bad); b.Cancel(p) },
			Counts{2, 0, 1}, Stats{Recorded: 2, EarlySlow: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := inFlightConfig(hundredCalls)
			cfg.Classify = classifyByError
			clock := newHandClock()
			b := mustBreaker(t, cfg, clock)
			attempt(t, b, good)
			p := mustAllow(t, b)
			clock.at(3 * sec)
			b.Advance()
			tt.end(b, p)
			wantCounts(t, b, tt.held)
			if got := b.Stats(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// A failure that is added can be the one that opens.
func TestLateFailureOpens(t *testing.T) {
	var log changeLog
	cfg := inFlightConfig(hundredCalls)
	cfg.Rule.SlowRate, cfg.OnChange = 1, log.add
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	attempt(t, b, bad)
	attempt(t, b, good)
	attempt(t, b, good)
	p := mustAllow(t, b)
	clock.at(3 * sec)
	wantCounts(t, b, Counts{4, 1, 1})
	clock.at(5 * sec)
	b.Record(p, bad)
	wantState(t, b, Open)
	log.check(t, wantChange{Closed, Open, 5 * sec})
	if got, want := log[0].Counts, (Counts{4, 2, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A failure is not added to an outcome that has left the window.
func TestLateFailureOfAnOutcomeThatLeft(t *testing.T) {
	for _, window := range []WindowConfig{
		{Kind: CountWindow, Calls: 4},
		{Kind: TimeWindow, Length: 5 * sec},
		{Kind: BucketWindow, Length: 5 * sec, Buckets: 5},
	} {
		t.Run(string(window.Kind), func(t *testing.T) {
			clock := newHandClock()
			b := mustBreaker(t, inFlightConfig(window), clock)
			p := mustAllow(t, b)
			clock.at(slowAfter + 1)
			b.Advance()
			clock.at(slowAfter + 1 + 5*sec)
			for range 4 {
				attempt(t, b, good)
			}
			wantCounts(t, b, Counts{4, 0, 0})
			b.Record(p, bad)
			wantCounts(t, b, Counts{4, 0, 0})
			if got := b.Stats(); got.Recorded != 5 {
				t.Errorf("%d recorded, want 5", got.Recorded)
			}
		})
	}
}

// Nor does the end of such a call have the rule look again: the rates are held
// against their thresholds when an outcome counts, not when others leave.
func TestLateFailureDoesNotLookAgain(t *testing.T) {
	const left = slowAfter + 1 + 5*sec // the slow call has left the window
	cfg := inFlightConfig(WindowConfig{Kind: TimeWindow, Length: 5 * sec})
	cfg.Rule.MinCalls, cfg.Rule.SlowRate = 2, 1
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	p := mustAllow(t, b)
	clock.at(slowAfter + 1)
	b.Advance()
	clock.at(left - 1)
	for _, o := range []Outcome{good, bad} {
		attempt(t, b, o)
	}
	wantCounts(t, b, Counts{3, 1, 1})
	clock.at(left)
	b.Record(p, bad)
	wantState(t, b, Closed)
	wantCounts(t, b, Counts{2, 1, 0})
	attempt(t, b, bad)
	wantState(t, b, Open)
}

// A probe that hangs decides at the instant it is slow.
func TestInFlightSlowProbes(t *testing.T) {
	const sent = 10 * sec
	for _, rule := range []HalfOpenRule{CollectAll, FirstFailure} {
		t.Run(string(rule), func(t *testing.T) {
			var log changeLog
			cfg := inFlightConfig(WindowConfig{Kind: CountWindow, Calls: 4})
			cfg.HalfOpen, cfg.OnChange = rule, log.add
			clock := newHandClock()
			b := mustBreaker(t, cfg, clock)
			for range 4 {
				attempt(t, b, bad)
			}
			clock.at(sent)
			attempt(t, b, good)
			p := mustAllow(t, b)
			mustRefuse(t, b)
			clock.at(sent + hour)
			wantState(t, b, Open)
			log.check(t,
				wantChange{Closed, Open, 0},
				wantChange{Open, HalfOpen, sent},
				wantChange{HalfOpen, Open, sent + slowAfter + 1},
			)
			b.Record(p, good)
			if got := b.Stats().Late; got != 1 {
				t.Errorf("%d late, want 1", got)
			}
		})
	}
}

// Of two probes, one hangs and fails while the other is still out.
func TestSlowProbeThatFails(t *testing.T) {
	cfg := inFlightConfig(WindowConfig{Kind: CountWindow, Calls: 4})
	cfg.Rule.SlowRate, cfg.Probes, cfg.ProbesInFlight = 1, 2, 2
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	for range 4 {
		attempt(t, b, bad)
	}
	clock.at(10 * sec)
	hangs := mustAllow(t, b)
	clock.at(12*sec + 1)
	wantCounts(t, b, Counts{1, 0, 1})
	other := mustAllow(t, b)
	mustRefuse(t, b)
	b.Record(hangs, bad)
	wantCounts(t, b, Counts{1, 1, 1})
	mustRefuse(t, b) // its permit was used up when it was counted
	b.Record(other, good)
	wantState(t, b, Open) // 1 of 2 failed
}

// Slots are used again: a hundred thousand calls, a hundred at a time, need a hundred
// slots, even if one of them never comes back.
func TestInFlightMemory(t *testing.T) {
	cfg := inFlightConfig(WindowConfig{Kind: TimeWindow, Length: sec})
	cfg.Rule.MinCalls, cfg.Rule.SlowRate = 1000, 1
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	mustAllow(t, b) // hangs for ever
	var flying []Permit
	for i := range 100_000 {
		clock.add(10 * time.Microsecond)
		flying = append(flying, mustAllow(t, b))
		if len(flying) == 100 {
			j := i * 7919 % 100
			b.Record(flying[j], good)
			flying[j] = flying[99]
			flying = flying[:99]
		}
	}
	if got := len(b.calls.slots); got > 1+1+100 {
		t.Errorf("%d slots for 101 calls in flight and the head of the list", got)
	}
}

// With InFlightSlow a permit is known by its slot and use, so one that comes
// back twice changes nothing, even if the slot has been given out again.
func TestPermitUsedTwice(t *testing.T) {
	clock := newHandClock()
	b := mustBreaker(t, inFlightConfig(hundredCalls), clock)
	p := mustAllow(t, b)
	b.Record(p, good)
	again := mustAllow(t, b)
	if p.call.slot() != again.call.slot() {
		t.Fatalf("slot %d, then %d, want the same", p.call.slot(), again.call.slot())
	}
	b.Record(p, bad)
	b.Cancel(p)
	b.Record(Permit{epoch: p.epoch, call: makeCallID(99, 1)}, bad)
	wantCounts(t, b, Counts{1, 0, 0})
	b.Record(again, bad)
	wantCounts(t, b, Counts{2, 1, 0})
}

// SlowAfter near the end of time does not overflow.
func TestSlowNever(t *testing.T) {
	cfg := inFlightConfig(hundredCalls)
	cfg.Rule.SlowAfter = 1<<63 - 1
	clock := newHandClock()
	b := mustBreaker(t, cfg, clock)
	clock.add(hour)
	mustAllow(t, b)
	clock.add(200 * 365 * 24 * hour)
	wantCounts(t, b, Counts{})
}
