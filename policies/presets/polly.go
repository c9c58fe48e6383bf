package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Polly v8: App-vNext/Polly, src/Polly.Core/CircuitBreaker at 173d6d1d
// (CircuitBreakerConstants.cs, Controller/*, Health/*). It was read, not
// recorded, and follows policy-semantics.md 2.5; what that page leaves open was
// decided by the source.
//
//   - Defaults: 10 % of at least 100 calls within 30 s open it for 5 s.
//   - The window has 10 parts. A part starts at the first result after the one
//     before is a tenth of the window old, and leaves when it is as old as the
//     window, so silence makes no parts. Below 200 ms there is one fixed part,
//     which starts when the breaker is made, closes, or has a result after it has
//     ended. (The library's own options do not allow less than 0.5 s.)
//   - Only failures ask whether to open. Opening does not empty the window,
//     closing does. What ends while it is open counts, without effect.
//   - The first call at or after the end of the break is the only probe; while it
//     is under way all others are refused, if need be for ever. A failure opens
//     for another break and does not count.
//   - Any call that ends in half-open decides, one that started before the break
//     too.
//   - There are handled outcomes, the failures, and others, the successes; a call
//     that was cancelled ends with an exception that is not handled by default. So
//     what is ignored or cancelled here counts as a success, and closes.
//
// The library's clock has units of 100 ns.

// A PollyConfig is a CircuitBreakerStrategyOptions of Polly v8.
type PollyConfig struct {
	FailureRatio      float64       `unit:"ratio"` // share of failures that opens, 0 to 1; reached is too many
	MinimumThroughput int           // calls in the window before it is looked at, at least 2
	SamplingDuration  time.Duration // length of the window, 1 µs or more
	BreakDuration     time.Duration // time open, 1 µs or more
}

// PollyDefaults returns Polly's defaults.
func PollyDefaults() PollyConfig {
	return PollyConfig{FailureRatio: 0.1, MinimumThroughput: 100, SamplingDuration: 30 * time.Second, BreakDuration: 5 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c PollyConfig) Validate() error {
	f := fields{library: "polly"}
	f.within("failure ratio", c.FailureRatio, 0, 1)
	f.count("minimum throughput", c.MinimumThroughput, 2)
	f.duration("sampling duration", c.SamplingDuration, time.Microsecond)
	f.duration("break duration", c.BreakDuration, time.Microsecond)
	return f.err
}

// A Polly is a breaker with the rules of Polly v8.
type Polly struct {
	Breaker
	window pollyWindow
}

// NewCircuitBreaker implements [policies.BreakerMaker].
func (c PollyConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	return circuitBreaker(NewPolly(c, h))
}

// NewPolly returns a closed breaker, or the error of Validate.
func NewPolly(c PollyConfig, h policies.Host) (*Polly, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &Polly{window: newPollyWindow(c.SamplingDuration)}
	b.init(h, 0, stages{
		policies.Closed:   &pollyClosed{c: c, window: &b.window},
		policies.Open:     &pollyOpen{breakFor: int64(c.BreakDuration), window: &b.window},
		policies.HalfOpen: &pollyHalfOpen{},
	})
	return b, nil
}

// Health returns the failures and all calls that the window holds now.
func (b *Polly) Health() (failures, throughput int) {
	now := b.lock()
	defer b.unlock()
	c := b.window.counts(now)
	return c.Failures, c.Calls
}

type pollyClosed struct {
	passive
	c      PollyConfig
	window *pollyWindow
}

func (s *pollyClosed) enter(now int64) { s.window.reset(now) }

func (s *pollyClosed) record(now int64, r result) verdict {
	s.window.add(now, one(r.failed(), false))
	c := s.window.sum
	if r.failed() && c.Calls >= s.c.MinimumThroughput && float64(c.Failures)/float64(c.Calls) >= s.c.FailureRatio {
		return toOpen
	}
	return stay
}

func (s *pollyClosed) cancel(now int64, _ uint64) verdict { return s.record(now, result{}) }

type pollyOpen struct {
	passive
	window          *pollyWindow
	breakFor, until int64
}

func (s *pollyOpen) enter(now int64) { s.until = now + s.breakFor }

func (s *pollyOpen) ask(now int64) (uint64, bool, verdict) {
	if now >= s.until {
		return 0, false, toHalfOpen
	}
	return 0, false, stay
}

func (s *pollyOpen) record(now int64, r result) verdict {
	s.window.add(now, one(r.failed(), false))
	return stay
}

func (s *pollyOpen) cancel(now int64, _ uint64) verdict { return s.record(now, result{}) }

type pollyHalfOpen struct {
	passive
	taken bool
}

func (s *pollyHalfOpen) enter(int64) { s.taken = false }

func (s *pollyHalfOpen) ask(int64) (uint64, bool, verdict) {
	ok := !s.taken
	s.taken = true
	return 0, ok, stay
}

func (s *pollyHalfOpen) record(_ int64, r result) verdict {
	if r.failed() {
		return toOpen
	}
	return toClosed
}

func (s *pollyHalfOpen) cancel(int64, uint64) verdict { return toClosed }

// A pollyWindow is a queue of parts that start with a result.
type pollyWindow struct {
	length int64 // age at which a part leaves
	step   int64 // age at which the next one starts
	fixed  bool
	parts  [11]pollyPart // one more than 10, since a tenth is rounded down
	oldest int
	n      int
	sum    policies.Counts
}

type pollyPart struct {
	start int64
	held  policies.Counts
}

// pollyFixed is the length below which a window has a single part.
const pollyFixed = 200 * time.Millisecond

func newPollyWindow(length time.Duration) pollyWindow {
	w := pollyWindow{length: int64(length), step: int64(length) / 10}
	if length < pollyFixed {
		w.step, w.fixed = w.length, true
	}
	return w
}

func (w *pollyWindow) part(i int) *pollyPart { return &w.parts[(w.oldest+i)%len(w.parts)] }

func (w *pollyWindow) reset(now int64) {
	w.n, w.sum = 0, policies.Counts{}
	if w.fixed {
		w.begin(now)
	}
}

func (w *pollyWindow) begin(now int64) {
	*w.part(w.n) = pollyPart{start: now}
	w.n++
}

func (w *pollyWindow) add(now int64, c policies.Counts) {
	for w.n > 0 && now-w.part(0).start >= w.length {
		minus(&w.sum, w.part(0).held)
		w.oldest = (w.oldest + 1) % len(w.parts)
		w.n--
	}
	if w.n == 0 || now-w.part(w.n-1).start >= w.step {
		w.begin(now)
	}
	plus(&w.part(w.n-1).held, c)
	plus(&w.sum, c)
}

// counts is the sum of the parts that are not too old, and changes nothing.
func (w *pollyWindow) counts(now int64) policies.Counts {
	sum := w.sum
	for i := 0; i < w.n && now-w.part(i).start >= w.length; i++ {
		minus(&sum, w.part(i).held)
	}
	return sum
}
