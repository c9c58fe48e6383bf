package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestAWSDefaults(t *testing.T) {
	same(t, "quota", AWSQuotaDefaults(), AWSQuotaConfig{Tokens: 500, RetryCost: 14, ThrottleCost: 5, Increment: 1})
	same(t, "older quota", AWSQuotaLegacyDefaults(), AWSQuotaConfig{Tokens: 500, RetryCost: 5, TimeoutCost: 10, Increment: 1, IncrementRetries: true})
	same(t, "limiter", AWSAdaptiveDefaults(), AWSAdaptiveConfig{Smooth: 0.8, Beta: 0.7, ScaleConstant: 0.4, MinFillRate: 0.5, RequestCost: 1})
	if err := AWSErrors().Validate(); err != nil {
		t.Error(err)
	}
}

func TestAWSBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*AWSQuotaConfig){
		"tokens":        func(c *AWSQuotaConfig) { c.Tokens = -1 },
		"retry cost":    func(c *AWSQuotaConfig) { c.RetryCost = 0 },
		"timeout cost":  func(c *AWSQuotaConfig) { c.TimeoutCost = -1 },
		"throttle cost": func(c *AWSQuotaConfig) { c.ThrottleCost = -1 },
		"increment":     func(c *AWSQuotaConfig) { c.Increment = -1 },
	} {
		c := AWSQuotaDefaults()
		change(&c)
		badBudget(t, c, field)
	}
	for field, change := range map[string]func(*AWSAdaptiveConfig){
		"smooth":            func(c *AWSAdaptiveConfig) { c.Smooth = 1.1 },
		"beta":              func(c *AWSAdaptiveConfig) { c.Beta = -0.1 },
		"scale constant":    func(c *AWSAdaptiveConfig) { c.ScaleConstant = 0 },
		"minimum fill rate": func(c *AWSAdaptiveConfig) { c.MinFillRate = 0 },
		"request cost":      func(c *AWSAdaptiveConfig) { c.RequestCost = -1 },
	} {
		c := AWSAdaptiveDefaults()
		change(&c)
		badBudget(t, c, field)
	}
}

// The tokens left after calls with these errors, the last of which is nil for
// one that succeeds in the end.
func TestAWSQuota(t *testing.T) {
	busy, throttled := policies.ErrorCode(503), policies.ErrorCode(429)
	for _, test := range []struct {
		name          string
		calls         [][]error
		tokens, older int
	}{
		{"full stays full", [][]error{{nil}}, 500, 500},
		{"failures", [][]error{{busy, busy, busy}}, 472, 490},
		{"one more for the first", [][]error{{busy, busy, busy}, {nil}}, 473, 491},
		{"the last cost back", [][]error{{busy, busy, nil}}, 486, 496},
		{"timeouts", [][]error{{policies.ErrTimeout, policies.ErrConnectTimeout, busy}}, 472, 480},
		{"throttling", [][]error{{throttled, throttled, busy}}, 490, 490},
		{"no retry", [][]error{{policies.ErrorCode(400)}}, 500, 500},
	} {
		for c, want := range map[AWSQuotaConfig]int{AWSQuotaDefaults(): test.tokens, AWSQuotaLegacyDefaults(): test.older} {
			b, err := NewAWSQuota(c)
			madeBudget(t, b, err)
			retry, err := policies.NewRetry(policies.RetryConfig{Attempts: AWSAttempts, Errors: AWSErrors()}, b)
			madeBudget(t, retry, err)
			for _, call := range test.calls {
				var carry policies.Carry
				for i, err := range call {
					d := retry.Decide(policies.Attempt{Number: i + 1, Outcome: policies.Outcome{Err: err}, Carry: carry})
					carry = d.Carry
					same(t, test.name, d.Retry, i+1 < len(call))
				}
			}
			same(t, test.name, b.Tokens(), want)
		}
	}
}

func TestAWSQuotaAlone(t *testing.T) {
	b, err := NewAWSQuota(AWSQuotaConfig{Tokens: 27, RetryCost: 14})
	madeBudget(t, b, err)
	same(t, "retry", b.TryRetry(false), true)
	same(t, "retry", b.TryRetry(true), false)
	b.Refund(14)
	b.Refund(14)
	same(t, "tokens", b.Tokens(), 27)
}

func TestAWSAdaptive(t *testing.T) {
	clock := newBudgetClock()
	l, err := NewAWSAdaptiveLimiter(AWSAdaptiveDefaults(), clock)
	madeBudget(t, l, err)
	ask := func(want time.Duration, permitted bool) {
		t.Helper()
		wait, ok := l.Acquire()
		same(t, "permission", ok, permitted)
		same(t, "wait", wait, want)
	}
	for range 100 { // 10 a second for 10 s, free
		clock.pass(100 * time.Millisecond)
		ask(0, true)
		l.Update(false)
	}
	if r := l.Rates(); r.Enabled || r.Measured < 9.99 || r.Measured > 10 {
		t.Errorf("%+v, want 10 a second and off", r)
	}
	l.Update(true)
	if r := l.Rates(); !r.Enabled || r.FillRate < 6.99 || r.FillRate > 7 || r.Capacity != r.FillRate {
		t.Errorf("%+v, want 7 a second and on", r)
	}
	for range 6 {
		ask(0, true)
	}
	ask(0, false) // short by a rounding error
	clock.pass(1)
	ask(0, true)
	ask(time.Second/7-1, false)
	for range 50 {
		l.Update(true)
	}
	same(t, "floor of the rate", l.Rates().FillRate, 0.5)
	same(t, "floor of the bucket", l.Rates().Capacity, 1)
	if n := testing.AllocsPerRun(100, func() {
		clock.pass(time.Second)
		l.Acquire()
		l.Update(false)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
