package presets

import (
	"sync/atomic"

	"github.com/stormglass/stormglass/policies"
)

// The retry quota of the AWS SDK for Go: aws/aws-sdk-go-v2, aws/retry/standard.go,
// aws/retry/middleware.go and aws/ratelimit/token_bucket.go, at v1.48.0 and at
// v1.30.5, the older rules.
//
//   - A bucket of 500 tokens starts full. A retry takes its cost: 14, or 5 after
//     a throttling error; at v1.30.5 5, or 10 after a timeout.
//   - A retry that succeeds gives its whole cost back, one that fails nothing.
//   - A first attempt that succeeds adds one token. At v1.30.5 every attempt
//     that succeeds does, so a retry gives back one more than it took.
//   - The quota is asked after the limit of attempts, 3 by default, and before
//     the wait. A retry it refuses ends the call with the quota's error.
//   - An error is a throttling one by its code in AWS's protocols, and since
//     v1.48.0 with status 429. Here status 429 stands for all of them, and the
//     two timeouts of package policies for timeouts.

// An AWSQuotaConfig configures an AWSQuota. The versions differ in it alone.
type AWSQuotaConfig struct {
	Tokens       int // size of the bucket, 0 or more
	RetryCost    int // tokens for a retry, at least 1
	TimeoutCost  int // tokens for a retry after a timeout; 0 means RetryCost
	ThrottleCost int // tokens for a retry after a throttling error; 0 means RetryCost
	Increment    int // tokens for an attempt that succeeds, 0 or more
	// IncrementRetries adds Increment for retries that succeed, too.
	IncrementRetries bool
}

// AWSQuotaDefaults returns the defaults of v1.48.0.
func AWSQuotaDefaults() AWSQuotaConfig {
	return AWSQuotaConfig{Tokens: 500, RetryCost: 14, ThrottleCost: 5, Increment: 1}
}

// AWSQuotaLegacyDefaults returns the defaults of v1.30.5.
func AWSQuotaLegacyDefaults() AWSQuotaConfig {
	return AWSQuotaConfig{Tokens: 500, RetryCost: 5, TimeoutCost: 10, Increment: 1, IncrementRetries: true}
}

// AWSAttempts is how many attempts the SDK makes unless told otherwise.
const AWSAttempts = 3

// AWSErrors lists what the SDK retries: failed connections, timeouts, four
// statuses, and throttling errors.
func AWSErrors() policies.ErrorList {
	return policies.ErrorList{RetryOn: []string{"timeout", "connect-failure", "reset", "429", "500", "502", "503", "504"}}
}

// Validate reports the first field that makes no sense.
func (c AWSQuotaConfig) Validate() error {
	f := fields{library: "aws quota"}
	f.count("tokens", c.Tokens, 0)
	f.count("retry cost", c.RetryCost, 1)
	f.count("timeout cost", c.TimeoutCost, 0)
	f.count("throttle cost", c.ThrottleCost, 0)
	f.count("increment", c.Increment, 0)
	return f.err
}

// NewBudget implements [policies.BudgetMaker]. The quota reads no clock.
func (c AWSQuotaConfig) NewBudget(policies.Clock) (policies.Budget, error) {
	return budget(NewAWSQuota(c))
}

// An AWSQuota is the retry quota of a client of the AWS SDK for Go.
type AWSQuota struct {
	tokens atomic.Int64
	c      AWSQuotaConfig
}

// NewAWSQuota returns a full bucket, or the error of Validate.
func NewAWSQuota(c AWSQuotaConfig) (*AWSQuota, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.TimeoutCost == 0 {
		c.TimeoutCost = c.RetryCost
	}
	if c.ThrottleCost == 0 {
		c.ThrottleCost = c.RetryCost
	}
	b := &AWSQuota{c: c}
	b.tokens.Store(int64(c.Tokens))
	return b, nil
}

// Tokens returns the tokens in the bucket.
func (b *AWSQuota) Tokens() int { return int(b.tokens.Load()) }

// take takes n tokens, if they are there.
func (b *AWSQuota) take(n int) bool {
	for {
		tokens := b.tokens.Load()
		if tokens < int64(n) {
			return false
		}
		if b.tokens.CompareAndSwap(tokens, tokens-int64(n)) {
			return true
		}
	}
}

// add adds n tokens, as far as they fit.
func (b *AWSQuota) add(n int64) {
	for {
		tokens := b.tokens.Load()
		more := min(tokens+n, int64(b.c.Tokens))
		if more == tokens || b.tokens.CompareAndSwap(tokens, more) {
			return
		}
	}
}

// TryCost takes the cost of a retry after an attempt with this outcome.
func (b *AWSQuota) TryCost(o policies.Outcome) (cost int32, ok bool) {
	n := b.c.RetryCost
	switch policies.CodeOf(o.Err) {
	case policies.ErrTimeout, policies.ErrConnectTimeout:
		n = b.c.TimeoutCost
	case 429:
		n = b.c.ThrottleCost
	}
	return int32(n), b.take(n)
}

// Refund gives back what a retry that succeeded has cost, or adds the increment
// for a first attempt.
func (b *AWSQuota) Refund(cost int32) {
	n := int64(cost)
	if cost == 0 || b.c.IncrementRetries {
		n += int64(b.c.Increment)
	}
	b.add(n)
}

// Request implements [policies.Budget]. It does nothing.
func (b *AWSQuota) Request() {}

// TryRetry takes the cost of a retry after an error that is neither a timeout
// nor a throttling one.
func (b *AWSQuota) TryRetry(bool) bool { return b.take(b.c.RetryCost) }

// WaitDone does nothing.
func (b *AWSQuota) WaitDone() {}

// Done does nothing.
func (b *AWSQuota) Done(_, _ bool) {}
