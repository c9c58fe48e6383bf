package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
)

// alone wants nothing but a preset and its parameters.
func (b *builder) alone(at document.Place, preset string, p document.Params, others ...string) {
	switch {
	case preset == "" && p.Given():
		b.add(p.Place, "parameters without a preset, want the preset they belong to")
	case preset != "":
		for _, key := range sortedKeys(at) {
			if key != "preset" && key != "params" && !slices.Contains(others, key) {
				b.add(at.Keys[key], "beside a preset, want it among its params, or no preset")
			}
		}
	}
}

func (b *builder) backoff(o *Backoff, m *policies.RetryConfig) {
	b.alone(o.Place, o.Preset, o.Params)
	if o.Preset != "" {
		p, err := presets.FindBackoff(o.Preset)
		if err != nil {
			b.unknown(o.At("preset"), "back-off", o.Preset, presets.BackoffNames())
			return
		}
		if c, ok := withParams(b, p.Config, o.Params); ok {
			m.Delays, err = c.NewDelays()
			b.must(o.At("params"), nil, err)
		}
		return
	}
	kind := policies.BackoffKind(o.Kind)
	if kind == "" {
		kind = policies.FixedBackoff
		if o.Multiplier != 0 || o.Cap != 0 || o.FirstExponent != 0 {
			kind = policies.ExponentialBackoff
		}
	}
	m.Backoff = policies.BackoffConfig{
		Kind: kind, Base: o.Base.D(), Multiplier: o.Multiplier, FirstExponent: o.FirstExponent, Cap: o.Cap.D(),
		Jitter: float64(o.Jitter), CapLast: o.CapLast,
	}
	b.only(o.Place, string(kind), backoffKeys[kind]...)
	b.must(o.Place, nil, m.Backoff.Validate())
}

// backoffKeys are those that each kind reads.
var backoffKeys = map[policies.BackoffKind][]string{
	policies.FixedBackoff:       {"base", "jitter"},
	policies.ExponentialBackoff: {"base", "multiplier", "first_exponent", "cap", "jitter", "cap_last"},
	policies.FullJitter:         {"base", "multiplier", "first_exponent", "cap"},
	policies.EqualJitter:        {"base", "multiplier", "first_exponent", "cap"},
	policies.DecorrelatedJitter: {"base", "cap"},
}

func (b *builder) budget(o *Budget) *policies.BudgetConfig {
	b.alone(o.Place, o.Preset, o.Params)
	if o.Preset != "" {
		p, err := presets.FindBudget(o.Preset)
		if err != nil {
			b.unknown(o.At("preset"), "budget", o.Preset, presets.BudgetNames())
			return nil
		}
		c := budgetWithParams(b, p.Config, o.Params)
		return &c
	}
	c := policies.BudgetConfig{Kind: policies.BudgetKind(o.Kind)}
	switch c.Kind {
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		c.Tokens = policies.TokenConfig{Ratio: float64(o.Ratio), Cap: o.Cap, Initial: o.Initial, Credit: policies.Credit(o.Credit)}
		b.only(o.Place, o.Kind, "ratio", "cap", "initial", "credit")
	case policies.BudgetCounter:
		c.Counter = policies.CounterConfig{Ratio: float64(o.Ratio), Grace: o.Grace, ResetAt: o.ResetAt}
		b.only(o.Place, o.Kind, "ratio", "grace", "reset_at")
	case policies.BudgetShare:
		c.Share = policies.ShareConfig{Share: float64(o.Ratio), Floor: o.Floor, Active: policies.ActiveRule(o.Active)}
		b.only(o.Place, o.Kind, "ratio", "floor", "active")
	case policies.BudgetConcurrent:
		c.Concurrent = o.Cap
		b.only(o.Place, o.Kind, "cap")
	case policies.BudgetThrottle:
		c.Throttle = policies.ThrottleConfig{MaxTokens: o.MaxTokens, Ratio: float64(o.Ratio)}
		b.only(o.Place, o.Kind, "max_tokens", "ratio")
	case policies.BudgetWindow:
		c.Window = policies.WindowBudgetConfig{Length: o.Length.D(), Ratio: float64(o.Ratio), MinRPS: float64(o.MinRate)}
		b.only(o.Place, o.Kind, "length", "ratio", "min_rate")
	case "":
		b.add(o.Place, "no kind and no preset, want one of them")
		return nil
	default:
		b.only(o.Place, o.Kind)
	}
	b.must(o.Place, wordsOfBudget, c.Validate())
	return &c
}

// only wants no keys but those that a kind reads.
func (b *builder) only(at document.Place, kind string, keys ...string) {
	for _, key := range sortedKeys(at) {
		if key != "kind" && !slices.Contains(keys, key) {
			b.add(at.Keys[key], "not read by kind %s", kind)
		}
	}
}

// The defaults of a breaker.
const (
	defaultOpenFor = time.Minute
	defaultRate    = 0.5
)

func (b *builder) breaker(o *Breaker) *model.BreakerLayer {
	b.alone(o.Place, o.Preset, o.Params, "share", "ignore", "success")
	m := &model.BreakerLayer{Share: string(o.Share)}
	classify := b.classify(o)
	if o.Share != "" {
		counts := fmt.Sprintf("ignore %q, success %q", o.Ignore, o.Success)
		if first, known := b.counts[string(o.Share)]; known && first != counts {
			b.add(o.At("share"), "%q counts %s here and %s before, want the same for all that share it", o.Share, counts, first)
		}
		b.counts[string(o.Share)] = counts
	}
	if o.Preset != "" {
		p, err := presets.FindBreaker(o.Preset)
		if err != nil {
			b.unknown(o.At("preset"), "breaker", o.Preset, presets.BreakerNames())
			return m
		}
		m.Preset, _ = withParams(b, p.Defaults(), o.Params)
		m.Classify = classify
		return m
	}
	c := policies.BreakerConfig{
		Rule: policies.RuleConfig{MinCalls: max(o.Minimum, 1), SlowAfter: o.SlowAfter.D()}, OpenFor: defaultOpenFor, Probes: 1,
		ProbesInFlight: o.ProbesInFlight, HalfOpen: policies.HalfOpenRule(o.HalfOpen), CloseAfter: o.CloseAfter, HalfOpenFor: o.HalfOpenFor.D(),
		InFlightSlow: o.SlowInFlight, Classify: classify,
	}
	if o.Minimum < 0 {
		b.add(o.At("minimum"), "%d, want at least 1", o.Minimum)
	}
	if _, given := o.Keys["open"]; given {
		c.OpenFor = o.Open.D()
	}
	if o.Probes != nil {
		if c.Probes = o.Probes.N; o.Probes.Unlimited {
			c.Probes = policies.Unlimited
		}
	}
	if o.SlowRate != nil {
		c.Rule.SlowRate = float64(*o.SlowRate)
	}
	switch {
	case o.FailureRate != nil:
		c.Rule.FailureRate = float64(*o.FailureRate)
	case o.SlowRate == nil:
		c.Rule.FailureRate = defaultRate
	}
	good := true
	_, consecutive := o.Keys["consecutive"]
	switch w := o.Window; {
	case consecutive && o.Consecutive < 1:
		b.add(o.At("consecutive"), "%d, want at least 1", o.Consecutive)
		return m
	case consecutive:
		for _, key := range []string{"minimum", "failure_rate"} {
			if place, given := o.Keys[key]; given {
				b.add(place, "beside consecutive, want only one of them")
			}
		}
		c.Rule.MinCalls, c.Rule.FailureRate = o.Consecutive, 1
		c.Rule.Window = policies.WindowConfig{Kind: policies.CountWindow, Calls: o.Consecutive}
		if w != nil {
			if c.Rule.Window, good = b.window(w); w.Calls > 0 {
				b.add(w.Place, "%d calls beside consecutive, want a duration in which they come, or no window", w.Calls)
				good = false
			}
		}
	case w == nil:
		b.add(o.Place, "no window, want a number of calls such as 100, a duration such as 10s, or consecutive")
		return m
	default:
		c.Rule.Window, good = b.window(w)
	}
	if good {
		b.must(o.Place, wordsOfBreaker, c.Validate())
	}
	m.BreakerConfig = c
	return m
}

// window makes a window, and reports whether it is a good one.
func (b *builder) window(w *Window) (c policies.WindowConfig, good bool) {
	switch {
	case w.Calls != 0 && w.Length != 0:
		b.add(w.Place, "calls and length, want only one of them")
		return c, false
	case w.Calls == 0 && w.Length == 0:
		b.add(w.Place, "no calls and no length, want one of them above 0")
		return c, false
	case w.Calls != 0:
		c = policies.WindowConfig{Kind: policies.CountWindow, Calls: w.Calls}
		b.only(w.Place, "count", "calls", "length")
	case w.Buckets != 0:
		c = policies.WindowConfig{Kind: policies.BucketWindow, Length: w.Length.D(), Buckets: w.Buckets}
		b.only(w.Place, "buckets", "calls", "length", "buckets")
	default:
		c = policies.WindowConfig{Kind: policies.TimeWindow, Length: w.Length.D(), MaxCalls: w.MaxCalls}
		b.only(w.Place, "time", "calls", "length", "buckets", "max_calls")
	}
	return c, b.must(w.Place, wordsOfWindow, c.Validate())
}

// classify is how a breaker counts errors, nil if each is a failure.
func (b *builder) classify(o *Breaker) func(policies.Outcome) policies.Class {
	if len(o.Ignore) == 0 && len(o.Success) == 0 {
		return nil
	}
	never := func(policies.Outcome) bool { return false }
	ignored, good := never, never
	for _, list := range []struct {
		names []string
		key   string
		match *func(policies.Outcome) bool
	}{{o.Ignore, "ignore", &ignored}, {o.Success, "success", &good}} {
		if len(list.names) == 0 {
			continue
		}
		f, err := policies.ErrorList{RetryOn: list.names}.Func()
		if err != nil {
			b.must(o.At(list.key), nil, err)
			continue
		}
		*list.match = f
	}
	return func(o policies.Outcome) policies.Class {
		switch {
		case o.Err == nil || good(o):
			return policies.Success
		case ignored(o):
			return policies.Ignored
		}
		return policies.Failure
	}
}

func (b *builder) retry(r *Retry) *model.RetryLayer {
	m := &model.RetryLayer{Share: string(r.Share)}
	m.Attempts, m.Deadline = 3, r.Deadline.D()
	if r.Attempts != nil {
		if m.Attempts = r.Attempts.N; r.Attempts.Unlimited {
			m.Attempts = policies.Unlimited
		}
	}
	m.Errors = policies.ErrorList{RetryOn: r.On, NoRetryOn: r.NotOn}
	if len(r.On) == 0 && len(r.NotOn) == 0 {
		m.Errors.NoRetryOn = []string{"breaker-open"}
	}
	b.must(r.Place, wordsOfRetry, m.Errors.Validate())
	if r.Backoff != nil {
		b.backoff(r.Backoff, &m.RetryConfig)
	}
	switch {
	case r.Budget != nil:
		m.Budget = b.budget(r.Budget)
	case r.Share != "":
		b.add(r.At("share"), "%q, want a budget to share", r.Share)
	}
	if len(r.Guard) > 0 {
		m.Guard = &policies.GuardConfig{}
		for _, step := range r.Guard {
			m.Guard.Order = append(m.Guard.Order, policies.GuardStep(step))
		}
		b.must(r.At("guard"), nil, m.Guard.Validate())
	}
	plain := m.RetryConfig
	plain.Backoff, plain.Delays, plain.Errors = policies.BackoffConfig{}, nil, policies.ErrorList{}
	b.must(r.Place, wordsOfRetry, plain.Validate())
	return m
}
