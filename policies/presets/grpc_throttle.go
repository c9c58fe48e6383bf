package presets

import (
	"sync"

	"github.com/stormglass/stormglass/policies"
)

// gRPC's retry throttling as grpc-go does it: google.golang.org/grpc v1.85.0,
// clientconn.go (retryThrottler) and stream.go.
//
//   - There is none by default. The values of the defaults here are those of
//     the example in proposal A6 (grpc/proposal, A6-client-retries.md).
//   - One bucket for each server name starts full. An attempt that fails with
//     a retryable status takes one token, though never below 0. A retry is
//     refused if half of the tokens or fewer are left after that.
//   - A call that ends without error adds the ratio once, on whichever attempt.
//   - The token is taken before the limit of attempts is looked at, so the last
//     attempt of an exhausted call costs one too.
//   - Tokens are float64, so ten times 0.1 is not one. C-core counts thousandths:
//     that is [policies.ThrottleBudget].

// A GRPCThrottleConfig is a retryThrottling policy of a service config.
type GRPCThrottleConfig struct {
	MaxTokens  float64 // size of the bucket, above 0, at most 1000
	TokenRatio float64 // tokens for a call without error, above 0
}

// GRPCThrottleDefaults returns the values of proposal A6's example.
func GRPCThrottleDefaults() GRPCThrottleConfig {
	return GRPCThrottleConfig{MaxTokens: 10, TokenRatio: 0.1}
}

// Validate reports the first field that makes no sense.
func (c GRPCThrottleConfig) Validate() error {
	f := fields{library: "grpc throttle"}
	f.above("max tokens", c.MaxTokens, 0)
	f.within("max tokens", c.MaxTokens, 0, 1000)
	f.above("token ratio", c.TokenRatio, 0)
	return f.err
}

// NewBudget implements [policies.BudgetMaker]. The throttle reads no clock.
func (c GRPCThrottleConfig) NewBudget(policies.Clock) (policies.Budget, error) {
	return budget(NewGRPCThrottle(c))
}

// A GRPCThrottle stops all retries to a server name while too many attempts
// fail.
type GRPCThrottle struct {
	c      GRPCThrottleConfig
	mu     sync.Mutex
	tokens float64
}

// NewGRPCThrottle returns a full bucket, or the error of Validate.
func NewGRPCThrottle(c GRPCThrottleConfig) (*GRPCThrottle, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &GRPCThrottle{c: c, tokens: c.MaxTokens}, nil
}

// Tokens returns the tokens held now.
func (b *GRPCThrottle) Tokens() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens
}

// Attempt takes a token for an attempt whose status is retryable, and adds the
// ratio for a success.
func (b *GRPCThrottle) Attempt(c policies.Class) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch c {
	case policies.Success:
		b.tokens = min(b.tokens+b.c.TokenRatio, b.c.MaxTokens)
	case policies.Failure:
		b.tokens = max(b.tokens-1, 0)
	}
}

// TryRetry reports whether more than half of the tokens are there. It takes
// none.
func (b *GRPCThrottle) TryRetry(bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens > b.c.MaxTokens/2
}

// Request implements [policies.Budget]. It does nothing.
func (b *GRPCThrottle) Request() {}

// WaitDone does nothing.
func (b *GRPCThrottle) WaitDone() {}

// Done does nothing.
func (b *GRPCThrottle) Done(_, _ bool) {}
