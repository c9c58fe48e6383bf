package conformance

import (
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var grpc = library{
	versions: []string{"v1.85.0"},
	kinds:    map[string]replayer{"budget": replayGRPC, "backoff": replayGRPCBackoff},
}

// grpcConfig is that of a client and one of its methods.
type grpcConfig struct {
	ClientMax  int     `json:"client_max_attempts"`
	Initial    int64   `json:"initial_backoff_ns"`
	Attempts   int     `json:"max_attempts"`
	Max        int64   `json:"max_backoff_ns"`
	Tokens     float64 `json:"max_tokens"`
	Multiplier float64 `json:"multiplier"`
	Retryable  string
	Ratio      float64 `json:"token_ratio"`
}

// rule returns the retries of the recording, and their throttle: nil if there
// is none. A recording in which all waits are push-backs has no back-off.
func (c grpcConfig) rule(p *replay) (*presets.GRPCRetry, *presets.GRPCThrottle) {
	retry := presets.GRPCRetryConfig{MaxAttempts: c.Attempts, ClientMaxAttempts: c.ClientMax}
	for _, name := range strings.FieldsFunc(c.Retryable, func(r rune) bool { return strings.ContainsRune(", ;|/+", r) }) {
		retry.Retryable = append(retry.Retryable, p.grpcCode(name))
	}
	if c.Initial != 0 || c.Max != 0 || c.Multiplier != 0 {
		delays, err := presets.GRPCBackoffConfig{
			InitialBackoff: ns(c.Initial), MaxBackoff: ns(c.Max), BackoffMultiplier: c.Multiplier,
		}.NewDelays()
		p.must(err)
		retry.Delays = delays
	}
	var budget policies.Budget
	var throttle *presets.GRPCThrottle
	if c.Tokens > 0 {
		var err error
		throttle, err = presets.NewGRPCThrottle(presets.GRPCThrottleConfig{MaxTokens: c.Tokens, TokenRatio: c.Ratio})
		p.must(err)
		budget = throttle
	}
	rule, err := presets.NewGRPCRetry(retry, budget)
	p.must(err)
	return rule, throttle
}

func (p *replay) grpcCode(name string) presets.GRPCCode {
	code, ok := presets.LookupGRPCCode(name)
	if !ok {
		p.fail("status %q is unknown", name)
	}
	return code
}

// replayGRPC replays calls that run one after another, or overlap.
func replayGRPC(p *replay) {
	var c grpcConfig
	p.config(&c)
	rule, throttle := c.rule(p)
	if p.has("op") {
		replayGRPCOverlap(p, rule, throttle)
		return
	}
	for p.next() {
		script := p.grpcScript()
		rule.Start()
		var a presets.GRPCAttempt
		for {
			a = script.attempt(a.Number+1, a.Backoffs)
			d := rule.Decide(a)
			if !d.Retry {
				break
			}
			a.Backoffs = d.Backoffs
			rule.Send()
		}
		p.expect("x_attempts", a.Number)
		p.expect("x_code", a.Code.String())
		p.expectTokens(throttle)
	}
}

// expectTokens compares the tokens, which are there only with a throttle.
func (p *replay) expectTokens(throttle *presets.GRPCThrottle) {
	if throttle == nil {
		p.absent("x_tokens")
		return
	}
	p.expect("x_tokens", throttle.Tokens())
}

// A grpcScript says how the attempts of a call end; the last end repeats.
type grpcScript []grpcEnd

type grpcEnd struct {
	presets.GRPCAttempt
	after time.Duration // time in the server
}

// attempt returns the end of an attempt.
func (s grpcScript) attempt(number, backoffs int) presets.GRPCAttempt {
	a := s.end(number).GRPCAttempt
	a.Number, a.Backoffs = number, backoffs
	return a
}

func (s grpcScript) end(number int) grpcEnd { return s[min(number, len(s))-1] }

// grpcScript reads the script of the row: for each attempt a status, which may
// have "+hdr" if the response sent headers, "@" and a push-back, and "/" and
// the time in the server in ns.
func (p *replay) grpcScript() grpcScript {
	var s grpcScript
	for _, text := range strings.Split(p.text("script"), ";") {
		var e grpcEnd
		text, after, timed := strings.Cut(text, "/")
		if timed {
			d, err := time.ParseDuration(after + "ns")
			p.must(err)
			e.after = d
		}
		if at := strings.Index(text, "+hdr"); at >= 0 {
			e.Committed = true
			text = text[:at] + text[at+len("+hdr"):]
		}
		name, pushbacks, pushed := strings.Cut(text, "@")
		if pushed {
			e.Pushback = strings.Split(pushbacks, "@")
		}
		e.Code = p.grpcCode(name)
		s = append(s, e)
	}
	return s
}
