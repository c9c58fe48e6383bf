package conformance

import (
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var aws = library{
	versions: []string{"v1.48.0", "v1.30.5"},
	kinds:    map[string]replayer{"budget": replayAWSQuota, "limiter": replayAWSAdaptive, "backoff": replayAWSBackoff},
}

// awsQuotas are the defaults by the version.
var awsQuotas = map[string]func() presets.AWSQuotaConfig{
	"v1.48.0": presets.AWSQuotaDefaults,
	"v1.30.5": presets.AWSQuotaLegacyDefaults,
}

// awsErrors are the errors by their names in scripts; those of one family
// stand for all of it.
var awsErrors = map[string]error{
	"ok": nil, "throttle": policies.ErrorCode(429), "timeout": policies.ErrTimeout,
	"e500": policies.ErrorCode(500), "e502": policies.ErrorCode(502), "e503": policies.ErrorCode(503), "e504": policies.ErrorCode(504),
	"fatal": policies.ErrorCode(400),
}

// awsFinals are the ends of calls by their reasons.
var awsFinals = map[policies.Reason]string{
	policies.NotNeeded: "ok", policies.NotRetryable: "not_retryable",
	policies.AttemptsSpent: "max_attempts", policies.BudgetSpent: "quota",
}

func replayAWSQuota(p *replay) {
	var c struct {
		Bucket   int
		Attempts int `json:"max_attempts"`
	}
	p.config(&c)
	quota := awsQuotas[p.version()]()
	quota.Tokens = c.Bucket
	budget, err := presets.NewAWSQuota(quota)
	p.must(err)
	retry, err := policies.NewRetry(policies.RetryConfig{Attempts: c.Attempts, Errors: presets.AWSErrors()}, budget)
	p.must(err)
	for p.next() {
		attempts, reason := p.scripted(retry)
		p.expect("x_attempts", attempts)
		p.expect("x_final", awsFinals[reason])
		p.expect("x_tokens", budget.Tokens())
	}
}

// scripted makes the call of the row, whose script names the outcome of each
// attempt; the last one repeats.
func (p *replay) scripted(retry *policies.Retry) (attempts int, end policies.Reason) {
	script := strings.Split(p.text("script"), ";")
	retry.Start()
	var carry policies.Carry
	for {
		name := script[min(attempts, len(script)-1)]
		err, ok := awsErrors[name]
		if !ok {
			p.fail("outcome %q is unknown", name)
		}
		attempts++
		d := retry.Decide(policies.Attempt{Number: attempts, Outcome: policies.Outcome{Err: err}, Carry: carry})
		if !d.Retry {
			return attempts, d.Reason
		}
		if !retry.Send() {
			p.fail("a retry was refused after its wait")
		}
		carry = d.Carry
	}
}

func replayAWSAdaptive(p *replay) {
	var c struct {
		Beta    float64
		MinFill float64 `json:"min_fill_rate"`
		Cost    int     `json:"request_cost"`
		Scale   float64 `json:"scale_constant"`
		Smooth  float64
	}
	p.config(&c)
	l, err := presets.NewAWSAdaptiveLimiter(presets.AWSAdaptiveConfig{
		Beta: c.Beta, MinFillRate: c.MinFill, RequestCost: c.Cost, ScaleConstant: c.Scale, Smooth: c.Smooth,
	}, p.clock)
	p.must(err)
	for p.next() {
		switch op := p.text("op"); op {
		case "acquire":
			wait, ok := l.Acquire()
			p.expect("x_ok", ok)
			p.expect("x_wait_ns", wait)
		case "ok", "throttle":
			l.Update(op == "throttle")
			p.absent("x_ok", "x_wait_ns")
		default:
			p.fail("op %q is unknown", op)
		}
		r := l.Rates()
		p.expect("x_enabled", r.Enabled)
		p.expect("x_fill_rate", r.FillRate)
		p.expect("x_capacity", r.Capacity)
		p.expect("x_tokens_f", r.Tokens)
		p.expect("x_measured", r.Measured)
		p.expect("x_calculated", r.Calculated)
		p.expect("x_last_max", r.LastMax)
		p.expect("x_window", r.Window)
	}
}
