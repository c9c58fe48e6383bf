package policies

import (
	"math"
	"testing"
	"time"
)

// Scenarios whose answers follow by arithmetic. Calls are evenly spaced from 0
// on; an outcome counts when its call ends.

const ms = time.Millisecond

// A breaker on a time window never opens if rate times length is below the
// minimum: one call in 6 s is 50 in a window of 300 s.
func TestCaseTooLittleTraffic(t *testing.T) {
	cfg := BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 300 * sec},
			MinCalls: 100, FailureRate: 0.5,
		},
		OpenFor: 60 * sec, Probes: 10,
	}
	down := load{calls: 600, gap: 6 * sec, answer: always(50*ms, errCall)}
	b, book := drive(t, cfg, down)
	if s := b.Stats(); s.Openings != 0 || book.sent != 600 {
		t.Errorf("minimum 100: %d openings, %d calls, want 0, 600", s.Openings, book.sent)
	}
	cfg.Rule.MinCalls = 40
	_, book = drive(t, cfg, down)
	if got, want := book.first(), 39*6*sec+50*ms; got != want {
		t.Errorf("minimum 40: first opening at %v, want %v", got, want)
	}
	if got := book.sentBefore(book.first(), down.gap); got != 40 {
		t.Errorf("minimum 40: %d calls before the first opening, want 40", got)
	}
}

// A minimum above a count window is capped to it.
func TestCaseMinimumAboveTheWindow(t *testing.T) {
	b, book := drive(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: CountWindow, Calls: 5},
			MinCalls: 10, FailureRate: 0.5,
		},
		OpenFor: 30 * sec, Probes: 1,
	}, load{calls: 20, gap: sec, answer: always(10*ms, errCall)})
	if got, want := book.first(), 4*sec+10*ms; got != want {
		t.Errorf("opens at %v, want %v", got, want)
	}
	if s := b.Stats(); book.sent != 5 || s.Refused != 15 {
		t.Errorf("%d calls and %d refusals, want 5 and 15", book.sent, s.Refused)
	}
}

// With a threshold of 100 % one success holds the breaker closed until it
// leaves the window.
func TestCaseOneEarlySuccess(t *testing.T) {
	for _, tt := range []struct {
		length   time.Duration
		opens    time.Duration
		failures int
	}{
		{30 * sec, 30*sec + 10*ms, 120}, // the failure sent at 30 s is the first without the success
		{2 * sec, 2*sec + 10*ms, 8},
	} {
		_, book := drive(t, BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: TimeWindow, Length: tt.length},
				MinCalls: 4, FailureRate: 1,
			},
			OpenFor: 1000 * sec, Probes: 1,
		}, load{calls: 400, gap: sec / 4, answer: func(k int) (time.Duration, error) {
			if k == 0 {
				return 10 * ms, nil
			}
			return 10 * ms, errCall
		}})
		if book.first() != tt.opens || book.sent-1 != tt.failures {
			t.Errorf("window %v: opens at %v after %d failures, want %v after %d",
				tt.length, book.first(), book.sent-1, tt.opens, tt.failures)
		}
	}
}

// A hanging callee is reached by one call per cycle or by all of them,
// depending on how many may be in flight in half-open.
func TestCaseHangingProbes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*BreakerConfig)
		sent   int
	}{
		{"one at a time", func(c *BreakerConfig) { c.ProbesInFlight = 1 }, 514},
		{"no limit", func(*BreakerConfig) {}, 5014},
		{"a single probe", func(c *BreakerConfig) { c.Probes = 1 }, 514},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := BreakerConfig{
				Rule: RuleConfig{
					Window:   WindowConfig{Kind: CountWindow, Calls: 5},
					MinCalls: 5, FailureRate: 1,
				},
				OpenFor: 30 * sec, HalfOpen: FirstFailure, Probes: Unlimited, CloseAfter: 1,
			}
			tt.change(&cfg)
			b, book := drive(t, cfg, load{
				calls: 20_001, gap: 20 * ms, until: 400 * sec,
				answer: always(10_010*ms, errCall),
			})
			if got, want := book.first(), 10_090*ms; got != want {
				t.Errorf("opens at %v, want %v", got, want)
			}
			before := book.sentBefore(book.first(), 20*ms)
			if math.Abs(float64(before-505)) > 1 {
				t.Errorf("%d calls before that, want 505 ± 1", before)
			}
			if math.Abs(float64(book.sent-tt.sent)) > 4 {
				t.Errorf("%d calls, want %d ± 4", book.sent, tt.sent)
			}
			if s := b.Stats(); s.Reopenings != 9 && s.Reopenings != 8 {
				t.Errorf("%d half-open phases that failed, want 9, the last of which may be under way", s.Reopenings)
			}
		})
	}
}

// A slow call is known when it ends, unless calls in flight count.
func TestCaseSlowCallsThatHang(t *testing.T) {
	slow := BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
			MinCalls: 10, FailureRate: 0.5, SlowRate: 0.5, SlowAfter: 2 * sec,
		},
		OpenFor: 1000 * sec, Probes: 1,
	}
	inFlight := slow
	inFlight.InFlightSlow = true
	fiveInARow := slow
	fiveInARow.Rule = RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 5}, MinCalls: 5, FailureRate: 1}
	for _, tt := range []struct {
		name   string
		cfg    BreakerConfig
		load   load
		opens  time.Duration
		lo, hi int // calls sent
	}{
		{"8 s, then success", slow, load{calls: 400, gap: 50 * ms, answer: always(8*sec, nil)}, 8450 * ms, 169, 170},
		{"timeout of 3 s", slow, load{calls: 400, gap: 50 * ms, answer: always(3*sec, errCall)}, 3450 * ms, 69, 70},
		{"timeout of 30 s", fiveInARow, load{calls: 40_000, gap: ms, answer: always(30*sec, errCall)}, 30*sec + 4*ms, 30_000, 30_010},
		// The tenth call is sent at 0.45 s and slow from 2.45 s on.
		{"8 s, slow in flight", inFlight, load{calls: 400, gap: 50 * ms, answer: always(8*sec, nil)}, 2450*ms + 1, 49, 50},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, book := drive(t, tt.cfg, tt.load)
			if book.first() != tt.opens || book.sent < tt.lo || book.sent > tt.hi {
				t.Errorf("opens at %v with %d calls sent, want %v with %d to %d", book.first(), book.sent, tt.opens, tt.lo, tt.hi)
			}
		})
	}
}

// A quarter slow and a quarter failed are not a half.
func TestCaseSlowAndFailedApart(t *testing.T) {
	pattern := []struct {
		latency time.Duration
		err     error
	}{{50 * ms, nil}, {2010 * ms, nil}, {50 * ms, nil}, {50 * ms, errCall}}
	b, book := drive(t, BreakerConfig{
		Rule: RuleConfig{
			Window:   WindowConfig{Kind: CountWindow, Calls: 100},
			MinCalls: 100, FailureRate: 0.5, SlowRate: 0.5, SlowAfter: sec,
		},
		OpenFor: 30 * sec, Probes: 1,
	}, load{calls: 12_000, gap: 50 * ms, answer: func(k int) (time.Duration, error) {
		return pattern[k%4].latency, pattern[k%4].err
	}})
	if s := b.Stats(); s.Openings != 0 || book.sent != 12_000 {
		t.Errorf("%d openings, %d calls, want 0, 12000", s.Openings, book.sent)
	}
	held := b.Counts()
	if math.Abs(float64(held.Failures)-25) > 8 || math.Abs(float64(held.Slow)-25) > 8 {
		t.Errorf("%+v, want 25 ± 8 of each", held)
	}
}

// Answers that are nobody's fault are left out of the number of calls.
func TestCaseIgnoredOutcomes(t *testing.T) {
	const pattern = "FISIFISIFS"
	for _, tt := range []struct {
		name  string
		class Class // what I counts as
		opens bool
		sent  int
	}{
		{"ignored", Ignored, true, 100},
		{"success", Success, false, 1000},
		{"failure", Failure, true, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, book := drive(t, BreakerConfig{
				Rule: RuleConfig{
					Window:   WindowConfig{Kind: CountWindow, Calls: 60},
					MinCalls: 60, FailureRate: 0.5,
				},
				OpenFor: 1000 * sec, Probes: 1, Classify: classifyByError,
			}, load{calls: 1000, gap: 100 * ms, answer: func(k int) (time.Duration, error) {
				switch pattern[k%len(pattern)] {
				case 'F':
					return 10 * ms, classError(Failure)
				case 'I':
					return 10 * ms, classError(tt.class)
				}
				return 10 * ms, nil
			}})
			if opens := b.Stats().Openings > 0; opens != tt.opens || book.sent != tt.sent {
				t.Errorf("opens %v, %d calls, want %v, %d", opens, book.sent, tt.opens, tt.sent)
			}
		})
	}
}

// Twenty probes are twenty calls to a dead callee, or one.
func TestCaseProbesOfADeadCallee(t *testing.T) {
	for _, tt := range []struct {
		rule      HalfOpenRule
		sent, tol float64 // in the minute after the first opening
		cycle     time.Duration
	}{
		{FirstFailure, 54, 1, 1100 * ms},
		{CollectAll, 400, 20, 3000 * ms},
	} {
		t.Run(string(tt.rule), func(t *testing.T) {
			_, book := drive(t, BreakerConfig{
				Rule: RuleConfig{
					Window:   WindowConfig{Kind: CountWindow, Calls: 100},
					MinCalls: 100, FailureRate: 0.71,
				},
				OpenFor: sec, Probes: 20, HalfOpen: tt.rule,
			}, load{calls: 700, gap: 100 * ms, answer: always(10*ms, errCall)})
			if got, want := book.first(), 9910*ms; got != want {
				t.Fatalf("opens at %v, want %v", got, want)
			}
			if got := float64(book.sent - 100); math.Abs(got-tt.sent) > tt.tol {
				t.Errorf("%v calls, want %v ± %v", got, tt.sent, tt.tol)
			}
			var openings []time.Time
			for _, c := range book.changes {
				if c.To == Open {
					openings = append(openings, c.At)
				}
			}
			for i := 1; i < len(openings); i++ {
				if got := openings[i].Sub(openings[i-1]); got != tt.cycle {
					t.Fatalf("cycle %d takes %v, want %v", i, got, tt.cycle)
				}
			}
		})
	}
}

// Failures that come 19 s apart never add up to five within 30 s.
func TestCaseFailuresThatExpire(t *testing.T) {
	const spacing = 19 * sec
	for _, tt := range []struct {
		name   string
		window WindowConfig
		opens  time.Duration
		failed int
	}{
		{"30 s remembered", WindowConfig{Kind: TimeWindow, Length: 30 * sec}, -1, 189},
		{"no expiry", WindowConfig{Kind: CountWindow, Calls: 5}, 95 * sec, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log changeLog
			clock := newHandClock()
			b := mustBreaker(t, BreakerConfig{
				Rule:    RuleConfig{Window: tt.window, MinCalls: 5, FailureRate: 1},
				OpenFor: hour, Probes: 1, OnChange: log.add,
			}, clock)
			failed, most := 0, 0
			for clock.now.Sub(testStart) <= hour-spacing { // one call at a time
				p, ok := b.Allow()
				if !ok {
					break
				}
				clock.add(spacing)
				b.Record(p, Outcome{Latency: spacing, Err: errCall})
				failed++
				most = max(most, b.Counts().Failures)
			}
			if opens := (&logbook{changes: log}).first(); opens != tt.opens || failed != tt.failed {
				t.Errorf("opens at %v after %d failures, want %v after %d", opens, failed, tt.opens, tt.failed)
			}
			if tt.opens < 0 && most != 2 {
				t.Errorf("up to %d failures in the window, want 2", most)
			}
		})
	}
}

// Without a minimum every failure of a quiet service opens the breaker.
func TestCaseNoMinimum(t *testing.T) {
	for _, tt := range []struct {
		minimum  int
		openings uint64
	}{{1, 28}, {5, 0}} {
		b, book := drive(t, BreakerConfig{
			Rule: RuleConfig{
				Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
				MinCalls: tt.minimum, FailureRate: 0.5,
			},
			OpenFor: 30 * sec, Probes: 1,
		}, load{calls: 1440, gap: 60 * sec, answer: func(k int) (time.Duration, error) {
			if (k+1)%50 == 0 {
				return 10 * ms, errCall
			}
			return 10 * ms, nil
		}})
		s := b.Stats()
		if s.Openings != tt.openings || s.Closings != tt.openings || s.Refused != 0 || book.sent != 1440 {
			t.Errorf("minimum %d: %d openings, %d closings, %d refusals, %d calls, want %d, %d, 0, 1440",
				tt.minimum, s.Openings, s.Closings, s.Refused, book.sent, tt.openings, tt.openings)
		}
	}
}
