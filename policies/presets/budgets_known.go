package presets

import "github.com/stormglass/stormglass/policies"

// The budgets here are configurations of what package policies has. None of
// them was recorded: Envoy and Istio were read, and the last two are those of
// articles.

// EnvoyMaxRetries is Envoy's limit of parallel retries, one for each cluster
// and priority: envoyproxy/envoy at 01c2c1fa,
// source/common/upstream/resource_manager_impl.h, and at e78906c5,
// source/common/router/retry_state_impl.cc. The default is 3.
//
// A retry holds its place from the decision, through its back-off, to the end
// of its attempt; the next retry of the request takes the place over.
func EnvoyMaxRetries() policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetConcurrent, Concurrent: 3}
}

// EnvoyRetryBudget is Envoy's retry_budget, which replaces max_retries once it
// is configured: 20 % of the active requests, cut to a whole number, but never
// fewer than 3. The sources are those of EnvoyMaxRetries, and
// api/envoy/config/cluster/v3/circuit_breaker.proto at 01c2c1fa.
//
// Retries that wait for their back-off hold a place, but count for nothing in
// the active requests: long waits shrink the budget. An attempt that failed by
// its answer still counts when its retry is asked for. One that ran into
// Envoy's own timeout does not, which is not told apart here.
func EnvoyRetryBudget() policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetShare, Share: policies.ShareConfig{
		Share: 0.2, Floor: 3, Active: policies.ActiveAttempts,
	}}
}

// IstioBudget is what Istio sets for Envoy: istio/istio at 86c9f01f,
// pilot/pkg/networking/core/cluster_traffic_policy.go. Its max_retries is
// 2^32-1, which is none. What limits retries there is their number, 2 for each
// request.
func IstioBudget() policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetUnlimited}
}

// TokenBucketBudget is the bucket of the first of the articles (S0): a request
// adds 0.1 tokens, of which 10 are held at most, and a retry takes one. It
// starts empty, and nothing decays.
func TokenBucketBudget() policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{
		Ratio: 0.1, Cap: 10, Credit: policies.CreditRequest,
	}}
}

// CounterRatioBudget is the counter of the article on a drill in a Spring Cloud
// chain (S3): a retry is refused if there were more than 100 requests and
// retries are more than 10 % of them. Both counters go to 0 at 10,000 requests.
func CounterRatioBudget() policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetCounter, Counter: policies.CounterConfig{
		Ratio: 0.1, Grace: 100, ResetAt: 10_000,
	}}
}
