package presets

import "github.com/stormglass/stormglass/policies"

// A BudgetPreset is a retry budget under its real name, with its defaults.
type BudgetPreset struct {
	Name    string
	Library string // empty if it is not from a library
	Version string // version or commit
	Source  string // repository and file
	Doc     string // what it does, in a sentence

	// Recorded says that recordings of the library are replayed against it. The
	// others follow a source that was read.
	Recorded bool

	Config policies.BudgetConfig
}

// New returns a budget of its own on a clock; a nil clock is the real one.
func (p BudgetPreset) New(clock policies.Clock) (policies.Budget, error) {
	return policies.NewBudgetClock(p.Config, clock)
}

// madeBy is the configuration of a budget that this package makes.
func madeBy(m policies.BudgetMaker) policies.BudgetConfig {
	return policies.BudgetConfig{Kind: policies.BudgetPreset, Preset: m}
}

// Budgets returns all retry budgets, in the order in which they are shown.
func Budgets() []BudgetPreset {
	return []BudgetPreset{
		{
			Name: "finagle", Library: "Finagle RetryBudget", Version: "4feb34cb",
			Source:   "twitter/finagle, finagle-core/src/main/scala/com/twitter/finagle/service/RetryBudget.scala",
			Doc:      "20 % of the requests of 10 s and 10 per second more; requests deposit when they start",
			Recorded: true, Config: madeBy(FinagleDefaults()),
		}, {
			Name: "linkerd", Library: "linkerd2-proxy", Version: "29637b64, tower 8358ee71",
			Source:   "linkerd/linkerd2-proxy, linkerd/app/outbound/src/http/retry.rs",
			Doc:      "tower's budget, into which only attempts deposit that end not retryable",
			Recorded: true, Config: madeBy(LinkerdDefaults()),
		}, {
			Name: "tower", Library: "tower TpsBudget", Version: "8358ee71",
			Source:   "tower-rs/tower, tower/src/retry/budget/tps_budget.rs",
			Doc:      "20 % of the requests of 10 s and 10 per second more; requests deposit when they start",
			Recorded: true, Config: madeBy(TowerDefaults()),
		}, {
			Name: "envoy-max-retries", Library: "Envoy", Version: "01c2c1fa",
			Source: "envoyproxy/envoy, source/common/upstream/resource_manager_impl.h",
			Doc:    "3 retries at a time, those in back-off included",
			Config: EnvoyMaxRetries(),
		}, {
			Name: "envoy-retry-budget", Library: "Envoy", Version: "01c2c1fa",
			Source: "envoyproxy/envoy, source/common/upstream/resource_manager_impl.h",
			Doc:    "retries at a time up to 20 % of the active requests, and 3 at least",
			Config: EnvoyRetryBudget(),
		}, {
			Name: "istio", Library: "Istio", Version: "86c9f01f",
			Source: "istio/istio, pilot/pkg/networking/core/cluster_traffic_policy.go",
			Doc:    "no limit: Envoy's is raised to 2^32-1",
			Config: IstioBudget(),
		}, {
			Name: "grpc-throttle", Library: "grpc-go", Version: "v1.85.0",
			Source:   "grpc/grpc-go, clientconn.go and stream.go; values of grpc/proposal, A6-client-retries.md",
			Doc:      "10 tokens: an attempt that fails takes one, a call without error adds 0.1; no retry at half of them or fewer",
			Recorded: true, Config: madeBy(GRPCThrottleDefaults()),
		}, {
			Name: "aws-standard", Library: "aws-sdk-go-v2", Version: "v1.48.0",
			Source:   "aws/aws-sdk-go-v2, aws/retry/standard.go",
			Doc:      "500 tokens: a retry takes 14, or 5 after throttling, and gives them back if it succeeds; a good first attempt adds 1",
			Recorded: true, Config: madeBy(AWSQuotaDefaults()),
		}, {
			Name: "aws-standard-legacy", Library: "aws-sdk-go-v2", Version: "v1.30.5",
			Source:   "aws/aws-sdk-go-v2, aws/retry/standard.go",
			Doc:      "500 tokens: a retry takes 5, or 10 after a timeout, and gives them back if it succeeds; every good attempt adds 1",
			Recorded: true, Config: madeBy(AWSQuotaLegacyDefaults()),
		}, {
			Name: "failsafe", Library: "failsafe-go", Version: "v0.9.8",
			Source:   "failsafe-go/failsafe-go, budget/budget.go",
			Doc:      "running retries up to 20 % of what is in flight, and 3 at least; asked after the wait",
			Recorded: true, Config: madeBy(FailsafeBudgetDefaults()),
		}, {
			Name:   "token-bucket",
			Source: "the first of the articles (S0)",
			Doc:    "a request adds 0.1 tokens up to 10, a retry takes one; empty at first",
			Config: TokenBucketBudget(),
		}, {
			Name:   "counter-ratio",
			Source: "the article on a drill in a Spring Cloud chain (S3)",
			Doc:    "retries up to 10 % of the requests, after 100 of them; counted anew every 10,000",
			Config: CounterRatioBudget(),
		},
	}
}

// BudgetNames returns their names.
func BudgetNames() []string { return namesOf(Budgets(), BudgetPreset.name) }

// FindBudget returns the preset of that name, or an error that lists all.
func FindBudget(name string) (BudgetPreset, error) {
	return find("budget", name, Budgets(), BudgetPreset.name)
}

func (p BudgetPreset) name() string { return p.Name }
