package experiments

import (
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// What the experiments with a sidecar share. The application's own policies
// are the stack of its call; those of the proxy beside it are the sidecar.

// meshErrors are the outcomes that a proxy repeats under Envoy's retry_on 5xx:
// a status 5xx and every attempt without an answer (Envoy documentation,
// router filter, x-envoy-retry-on).
var meshErrors = policies.ErrorList{RetryOn: []string{"5xx", "timeout", "connect-failure", "reset"}}

// envoyBackoff is Envoy's wait before a retry: uniform below a bound that
// begins at base and doubles up to ten times that (envoyproxy/envoy,
// source/common/common/backoff_strategy.cc). A base of 0 means no wait.
func envoyBackoff(base time.Duration) policies.BackoffConfig {
	if base == 0 {
		return policies.BackoffConfig{}
	}
	return policies.BackoffConfig{Kind: policies.FullJitter, Base: base, Cap: 10 * base}
}

// retries is a stack that repeats what stands inside it; none without retries.
func retries(n int, backoff policies.BackoffConfig, on policies.ErrorList) model.Stack {
	if n == 0 {
		return nil
	}
	return model.Stack{{Retry: &model.RetryLayer{
		RetryConfig: policies.RetryConfig{Attempts: n + 1, Errors: on, Backoff: backoff},
	}}}
}

// appRetries is the loop around a call that applications have: every error is
// tried again, at once.
func appRetries(n int) model.Stack {
	return retries(n, policies.BackoffConfig{}, policies.ErrorList{})
}
