package conformance

import (
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var resilience4j = library{
	versions: []string{"v2.4.0"},
	kinds:    map[string]replayer{"breaker": replayResilience4j, "ratelimiter": replayResilience4jRateLimiter, "backoff": replayResilience4jBackoff, "retry": replayResilience4jRetry},
}

// resilience4jManual are the commands of an operator other than reset.
var resilience4jManual = map[string]presets.Resilience4jState{
	"to_closed":       presets.Resilience4jClosed,
	"to_open":         presets.Resilience4jOpen,
	"to_half_open":    presets.Resilience4jHalfOpen,
	"to_forced_open":  presets.Resilience4jForcedOpen,
	"to_disabled":     presets.Resilience4jDisabled,
	"to_metrics_only": presets.Resilience4jMetricsOnly,
}

type resilience4jConfig struct {
	Created     int64                               `json:"created_at_ns"`
	Window      presets.Resilience4jWindow          `json:"sliding_window_type"`
	Sync        presets.Resilience4jSynchronization `json:"sliding_window_synchronization"`
	Size        int                                 `json:"sliding_window_size"`
	Min         int                                 `json:"minimum_number_of_calls"`
	FailureRate float32                             `json:"failure_rate_threshold"`
	SlowRate    float32                             `json:"slow_call_rate_threshold"`
	Slow        int64                               `json:"slow_call_duration_threshold_ns"`
	Wait        resilience4jOpenWait                `json:"wait_in_open_state"`
	Permitted   int                                 `json:"permitted_calls_in_half_open"`
	Automatic   bool                                `json:"automatic_transition_from_open"`
	MaxWait     int64                               `json:"max_wait_in_half_open_ms"`
	After       string                              `json:"state_after_half_open_wait"`
	Initial     string                              `json:"initial_state"`
}

type resilience4jOpenWait struct {
	Kind       string
	Fixed      *int64   `json:"wait_ms"`
	Initial    *int64   `json:"initial_ms"`
	Multiplier *float64 `json:"multiplier"`
	Max        *int64   `json:"max_ms"` // null is none
}

// resilience4jOpenWait reads the time in the open state.
func (p *replay) resilience4jOpenWait(c resilience4jOpenWait) (w presets.Resilience4jBackoffConfig) {
	switch {
	case c.Kind == "fixed" && c.Fixed != nil && c.Initial == nil && c.Multiplier == nil && c.Max == nil:
		return presets.Resilience4jBackoffConfig{InitialInterval: ms(*c.Fixed), Multiplier: 1}
	case c.Kind == "exponential" && c.Fixed == nil && c.Initial != nil && c.Multiplier != nil:
		w = presets.Resilience4jBackoffConfig{InitialInterval: ms(*c.Initial), Multiplier: *c.Multiplier}
		if c.Max != nil {
			w.MaxInterval = ms(*c.Max)
		}
		return w
	}
	p.fail("config: wait_in_open_state of kind %q is not understood", c.Kind)
	return w
}

func resilience4jStateOf(name string) presets.Resilience4jState {
	return presets.Resilience4jState(strings.ReplaceAll(strings.ToLower(name), "_", "-"))
}

func replayResilience4j(p *replay) {
	var c resilience4jConfig
	p.config(&c)
	p.clock.set(ns(c.Created))
	b, err := presets.NewResilience4j(presets.Resilience4jConfig{
		SlidingWindowType: c.Window, SlidingWindowSynchronization: c.Sync, SlidingWindowSize: c.Size,
		MinimumNumberOfCalls: c.Min, FailureRateThreshold: c.FailureRate,
		SlowCallRateThreshold: c.SlowRate, SlowCallDurationThreshold: ns(c.Slow),
		WaitInOpenState: p.resilience4jOpenWait(c.Wait), PermittedCallsInHalfOpen: c.Permitted,
		AutomaticTransitionFromOpen: c.Automatic, MaxWaitInHalfOpen: ms(c.MaxWait),
		StateAfterHalfOpenWait: resilience4jStateOf(c.After), InitialState: resilience4jStateOf(c.Initial),
	}, policies.Host{Clock: p.clock, Classify: classify})
	p.must(err)
	under := make(calls)
	for p.next() {
		due, timer := b.NextDeadline()
		timer = timer && !due.After(p.clock.now)
		var m presets.Resilience4jMetrics
		if p.text("op") == "timer" {
			m = p.resilience4jTimer(b, timer, due)
		} else {
			if timer {
				p.mismatch("a timer fires at %v that the library does not have", due)
			}
			p.resilience4jCall(b, under)
			m = b.Metrics()
		}
		p.expect("x_state", string(m.State))
		p.expect("x_failure_rate", m.FailureRate)
		p.expect("x_slow_rate", m.SlowCallRate)
		p.expect("x_buffered", m.Buffered)
		p.expect("x_failed", m.Failed)
		p.expect("x_slow", m.Slow)
		p.expect("x_not_permitted", m.NotPermitted)
	}
}

// resilience4jCall does what a row says that is not a timer.
func (p *replay) resilience4jCall(b *presets.Resilience4j, under calls) {
	switch op := p.text("op"); op {
	case "call":
		p.silent("x_accepted")
		if p.acquire(b, under) {
			p.end(b, under)
		}
	case "acquire":
		p.silent("x_accepted")
		p.acquire(b, under)
	case "result":
		p.silent("x_permitted", "x_accepted")
		p.end(b, under)
	case "probe":
		p.silent("x_permitted", "x_accepted")
	case "manual":
		p.silent("x_permitted")
		switch to, ok := resilience4jManual[p.text("outcome")]; {
		case ok:
			p.expect("x_accepted", b.Transition(to))
		case p.text("outcome") == "reset":
			b.Reset()
			p.expect("x_accepted", true)
		default:
			p.fail("command %q is unknown", p.text("outcome"))
		}
	default:
		p.fail("op %q is unknown", op)
	}
}

// silent notes that the library answers nothing in these columns.
func (p *replay) silent(columns ...string) {
	for _, column := range columns {
		if p.text(column) != "" {
			p.fail("column %s is not understood in such a row", column)
		}
		p.compared(column)
	}
}

// resilience4jTimer fires the timer of the row, which must be due then exactly.
func (p *replay) resilience4jTimer(b *presets.Resilience4j, timer bool, due time.Time) presets.Resilience4jMetrics {
	p.silent("x_permitted")
	if !timer {
		p.compared("x_accepted")
		p.mismatch("no timer is due")
		return b.Metrics()
	}
	f, _ := b.FireTimer()
	if !due.Equal(p.clock.now) || !f.At.Equal(due) {
		p.mismatch("timer of %v, fired %v, in the library at %v", due, f.At, p.clock.now)
	}
	p.expect("x_accepted", f.Accepted)
	return f.Metrics
}

func replayResilience4jRateLimiter(p *replay) {
	var c struct {
		Created int64 `json:"created_at_ns"`
		Limit   int   `json:"limit_for_period"`
		Period  int64 `json:"limit_refresh_period_ns"`
		Timeout int64 `json:"timeout_ns"`
	}
	p.config(&c)
	p.clock.set(ns(c.Created))
	l, err := presets.NewResilience4jRateLimiter(presets.Resilience4jRateLimiterConfig{
		LimitForPeriod: c.Limit, LimitRefreshPeriod: ns(c.Period), Timeout: ns(c.Timeout),
	}, policies.Host{Clock: p.clock})
	p.must(err)
	for p.next() {
		wait, ok := l.Reserve(p.integer("permits"))
		if !ok {
			wait = -1
		}
		p.expect("x_wait_ns", wait)
		p.expect("x_available", l.Available())
		p.expect("x_cycle", l.Cycle())
	}
}
