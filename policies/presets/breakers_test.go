package presets

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stormglass/stormglass/policies"
	"pgregory.net/rapid"
)

// A handClock is set by hand.
type handClock struct{ now time.Time }

func (c *handClock) Now() time.Time { return c.now }

// Since saves the breakers a detour.
func (c *handClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

func newHandClock() *handClock { return &handClock{time.Unix(946684800, 0)} }

// common is what the tests set breakers to.
var common = Common{
	Window: 10 * time.Second, Calls: 20, MinCalls: 20, FailureRate: 0.5, OpenFor: 5 * time.Second, Probes: 3,
}

// eachBreaker runs a test on every preset, with its defaults and as set.
func eachBreaker(t *testing.T, f func(t *testing.T, p BreakerPreset, m policies.BreakerMaker)) {
	for _, p := range Breakers() {
		t.Run(p.Name+"/defaults", func(t *testing.T) { f(t, p, p.Defaults()) })
		if p.Set != nil {
			t.Run(p.Name+"/set", func(t *testing.T) { f(t, p, p.Set(common)) })
		}
	}
}

func mustMake(t testing.TB, m policies.BreakerMaker, h policies.Host) policies.CircuitBreaker {
	t.Helper()
	b, err := m.NewCircuitBreaker(h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCommonBreakersOpenAndClose is the life of a breaker: it notices an
// outage, refuses, and lets calls through again once the callee is back.
func TestCommonBreakersOpenAndClose(t *testing.T) {
	for _, p := range Breakers() {
		if p.Set == nil || p.Throttle {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			clock := newHandClock()
			var changes []policies.State
			b := mustMake(t, p.Set(common), policies.Host{Clock: clock, OnChange: func(c policies.Change) {
				changes = append(changes, c.To)
			}})
			run := func(d time.Duration, err error) (refused int) {
				for end := clock.now.Add(d); clock.now.Before(end); clock.now = clock.now.Add(20 * time.Millisecond) {
					if permit, ok := b.Allow(); ok {
						b.Record(permit, policies.Outcome{Err: err})
					} else {
						refused++
					}
				}
				return refused
			}
			if n := run(30*time.Second, nil); n != 0 || b.State() != policies.Closed {
				t.Fatalf("healthy: %d refused, state %v", n, b.State())
			}
			if n := run(20*time.Second, policies.ErrOther); n < 400 {
				t.Errorf("outage of 1000 calls: %d refused, want most", n)
			}
			run(10*time.Second, nil)
			if n := run(20*time.Second, nil); n != 0 || b.State() != policies.Closed {
				t.Errorf("back again: %d refused, state %v", n, b.State())
			}
			if len(changes) < 2 || changes[0] != policies.Open || changes[len(changes)-1] != policies.Closed {
				t.Errorf("changes %v, want open first and closed last", changes)
			}
			if s := b.Stats(); s.Openings == 0 || s.OpenTime < 5*time.Second || s.Refused == 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// TestBreakersNeedNoMemory holds in all states, also after silence.
func TestBreakersNeedNoMemory(t *testing.T) {
	eachBreaker(t, func(t *testing.T, _ BreakerPreset, m policies.BreakerMaker) {
		clock := newHandClock()
		b := mustMake(t, m, policies.Host{Clock: clock})
		source := rand.New(rand.NewPCG(1, 2))
		i := 0
		step := func() {
			i++
			clock.now = clock.now.Add(10 * time.Millisecond)
			if i%5000 == 0 {
				clock.now = clock.now.Add(3 * time.Hour)
			}
			if permit, ok := b.Allow(); ok {
				o := policies.Outcome{}
				if source.Float64() < []float64{0.01, 0.9}[i/1000%2] {
					o.Err = policies.ErrOther
				}
				b.Record(permit, o)
			}
			b.State()
		}
		for range 20000 { // rings of exact windows grow at first
			step()
		}
		if n := testing.AllocsPerRun(20000, step); n != 0 {
			t.Errorf("%v allocations for a call, want none", n)
		}
	})
}

// TestBreakersAreSafe is for the race detector.
func TestBreakersAreSafe(t *testing.T) {
	eachBreaker(t, func(t *testing.T, _ BreakerPreset, m policies.BreakerMaker) {
		b := mustMake(t, m, policies.Host{OnChange: func(policies.Change) {}})
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				for i := range 500 {
					permit, ok := b.Allow()
					switch {
					case !ok:
					case i%7 == g:
						b.Cancel(permit)
					case i%2 == 0:
						b.Record(permit, policies.Outcome{Err: policies.ErrOther, Latency: time.Second})
					default:
						b.Record(permit, policies.Outcome{})
					}
					b.State()
					b.Advance()
					b.NextDeadline()
				}
			})
		}
		group.Wait()
		s := b.Stats()
		if sum := s.Recorded + s.Ignored + s.Cancelled + s.Late + s.Refused; sum != 4*500 {
			t.Errorf("%d calls accounted for, want %d: %+v", sum, 4*500, s)
		}
	})
}

// TestAnySettingsWork throws settings and traffic at the breakers at random,
// with calls in flight through all changes of state. What Validate accepts must
// work.
func TestAnySettingsWork(t *testing.T) {
	for _, p := range Breakers() {
		if p.Set == nil {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c := Common{
					Window:      time.Duration(rapid.IntRange(1, 30).Draw(t, "window")) * time.Second,
					Calls:       rapid.IntRange(1, 50).Draw(t, "calls"),
					MinCalls:    rapid.IntRange(1, 60).Draw(t, "minimum"),
					FailureRate: float64(rapid.IntRange(1, 100).Draw(t, "percent")) / 100,
					OpenFor:     time.Duration(rapid.IntRange(1, 9000).Draw(t, "open")) * time.Millisecond,
					Probes:      rapid.IntRange(1, 12).Draw(t, "probes"),
				}
				m := p.Set(c)
				if m.Validate() != nil {
					return // such as Polly's minimum of 2
				}
				clock := newHandClock()
				b, err := m.NewCircuitBreaker(policies.Host{Clock: clock})
				if err != nil {
					t.Fatal(err)
				}
				var under []policies.Permit
				var asked, ended uint64
				for range rapid.IntRange(1, 300).Draw(t, "steps") {
					clock.now = clock.now.Add(time.Duration(rapid.Int64Range(0, int64(2*time.Second)).Draw(t, "gap")))
					if rapid.Bool().Draw(t, "ask") {
						asked++
						permit, ok := b.Allow()
						if !ok {
							ended++
							continue
						}
						under = append(under, permit)
						continue
					}
					if len(under) == 0 {
						continue
					}
					i := rapid.IntRange(0, len(under)-1).Draw(t, "which")
					permit := under[i]
					under = append(under[:i], under[i+1:]...)
					ended++
					switch rapid.IntRange(0, 4).Draw(t, "end") {
					case 0:
						b.Cancel(permit)
					case 1, 2:
						b.Record(permit, policies.Outcome{Err: policies.ErrOther})
					default:
						b.Record(permit, policies.Outcome{Latency: time.Minute})
					}
				}
				s := b.Stats()
				if sum := s.Recorded + s.Ignored + s.Cancelled + s.Late + s.Refused; sum != ended {
					t.Fatalf("%d ended of %d asked, accounted for %d: %+v", ended, asked, sum, s)
				}
				if s.Reopenings > s.Openings || s.Closings > s.Openings {
					t.Fatalf("stats %+v", s)
				}
			})
		})
	}
}

func TestCommonSettingsAreChecked(t *testing.T) {
	for field, set := range map[string]func(*Common){
		"window": func(c *Common) { c.Window = 1500 * time.Millisecond }, "calls": func(c *Common) { c.Calls = 0 },
		"minimum": func(c *Common) { c.MinCalls = -1 }, "rate": func(c *Common) { c.FailureRate = 1.1 },
		"open": func(c *Common) { c.OpenFor = time.Microsecond }, "probes": func(c *Common) { c.Probes = 0 },
	} {
		c := common
		set(&c)
		if c.Validate() == nil {
			t.Errorf("%s: no error for %+v", field, c)
		}
	}
	if err := common.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := FindBreaker("hystrix-9"); err == nil {
		t.Error("no error for an unknown name")
	}
}

// The cost of a call that passes, Allow and Record together, on a clock that
// goes on by 10 ms: 2 % of the calls fail.
func BenchmarkBreakers(b *testing.B) {
	for _, p := range Breakers() {
		b.Run(p.Name, func(b *testing.B) {
			clock := newHandClock()
			m := p.Defaults()
			if p.Set != nil {
				m = p.Set(common)
			}
			breaker := mustMake(b, m, policies.Host{Clock: clock})
			source := rand.New(rand.NewPCG(1, 2))
			var outcomes [4096]policies.Outcome
			for i := range outcomes {
				if source.Float64() < 0.02 {
					outcomes[i].Err = policies.ErrOther
				}
			}
			b.ReportAllocs()
			for i := range b.N {
				clock.now = clock.now.Add(10 * time.Millisecond)
				if permit, ok := breaker.Allow(); ok {
					breaker.Record(permit, outcomes[i%len(outcomes)])
				}
			}
		})
	}
}

// TestClocksMayJump: a clock that was not set when the breaker was made, or is
// set back, neither stops it nor makes it panic.
func TestClocksMayJump(t *testing.T) {
	eachBreaker(t, func(t *testing.T, _ BreakerPreset, m policies.BreakerMaker) {
		clock := &handClock{}
		b := mustMake(t, m, policies.Host{Clock: clock})
		for _, at := range []time.Time{
			time.Unix(1<<40, 0), time.Unix(946684800, 0), {}, time.Unix(-1<<40, 0), time.Unix(1<<50, 0),
		} {
			clock.now = at
			for i := range 200 {
				if permit, ok := b.Allow(); ok {
					b.Record(permit, policies.Outcome{Err: []error{nil, policies.ErrOther}[i/100]})
				}
				clock.now = clock.now.Add(100 * time.Millisecond)
			}
			b.State()
			b.NextDeadline()
		}
	})
}

// TestOnChangeIsToldInOrder: one change at a time, without the lock, and in
// order, also if OnChange uses the breaker, and after it has panicked.
func TestOnChangeIsToldInOrder(t *testing.T) {
	clock := newHandClock()
	var b policies.CircuitBreaker
	var told []policies.Change
	telling := false
	onChange := func(c policies.Change) {
		if telling {
			t.Error("told while it was being told")
		}
		telling = true
		defer func() { telling = false }()
		told = append(told, c)
		b.State() // would hang under the lock
		if len(told) == 1 {
			clock.now = clock.now.Add(2 * time.Minute)
			if p, ok := b.Allow(); ok { // half-open, and closed again
				b.Record(p, policies.Outcome{})
			}
			if len(told) != 1 {
				t.Error("a change was told inside another")
			}
			panic("of OnChange")
		}
	}
	b = mustMake(t, GobreakerDefaults(), policies.Host{Clock: clock, OnChange: onChange})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic came through")
			}
		}()
		for range 6 {
			p, _ := b.Allow()
			b.Record(p, policies.Outcome{Err: policies.ErrOther})
		}
	}()
	b.State()
	var got []policies.State
	for i, c := range told {
		got = append(got, c.To)
		if i > 0 && (c.From != told[i-1].To || c.At.Before(told[i-1].At)) {
			t.Errorf("change %d: %+v after %+v", i, c, told[i-1])
		}
	}
	if want := []policies.State{policies.Open, policies.HalfOpen, policies.Closed}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestAnyClockWillDo: the mock that other programs test with sees the same
// breaker as a clock of nothing but Now and Since.
func TestAnyClockWillDo(t *testing.T) {
	eachBreaker(t, func(t *testing.T, _ BreakerPreset, m policies.BreakerMaker) {
		hand, mock := newHandClock(), clock.NewMock()
		mock.Set(hand.now)
		drawn := func() policies.Host { return policies.Host{Uniform: policies.NewUniform(rand.NewPCG(1, 2))} }
		h, g := drawn(), drawn()
		h.Clock, g.Clock = hand, mock
		a, b := mustMake(t, m, h), mustMake(t, m, g)
		source := rand.New(rand.NewPCG(3, 4))
		for i := range 400 {
			if i%20 == 0 { // each step of the mock sleeps
				step := time.Duration(source.IntN(4000)) * time.Millisecond
				hand.now = hand.now.Add(step)
				mock.Add(step)
			}
			p, ok := a.Allow()
			q, same := b.Allow()
			if ok != same || a.State() != b.State() {
				t.Fatalf("call %d: %v in state %v, under the mock %v in state %v", i, ok, a.State(), same, b.State())
			}
			if ok {
				o := policies.Outcome{}
				if source.Float64() < []float64{0.02, 0.8}[i/100%2] {
					o.Err = policies.ErrOther
				}
				a.Record(p, o)
				b.Record(q, o)
			}
		}
		if a.Stats() != b.Stats() {
			t.Errorf("%+v, under the mock %+v", a.Stats(), b.Stats())
		}
	})
}
