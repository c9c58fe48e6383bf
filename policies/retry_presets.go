package policies

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A RetryPreset is a retry policy that somebody published, as data. Its parts
// may be changed before use.
type RetryPreset struct {
	Name   string
	Doc    string // where it is from, and what had to be read into it
	Retry  RetryConfig
	Budget BudgetConfig
	// Guard is the pipeline before a retry; nil if only the budget is asked.
	Guard *GuardConfig
}

// New returns the policy with a budget of its own on a clock; a nil clock is
// the real one. The breaker is asked by presets with a guard, and ignored by
// the others; without one the guard leaves that step out.
func (p RetryPreset) New(breaker *Breaker, clock Clock) (*Retry, *Guard, error) {
	budget, err := NewBudgetClock(p.Budget, clock)
	if err != nil {
		return nil, nil, err
	}
	retry, err := NewRetry(p.Retry, budget)
	if err != nil || p.Guard == nil {
		return retry, nil, err
	}
	c := *p.Guard
	if breaker == nil {
		c.Order = slices.DeleteFunc(slices.Clone(c.steps()), func(s GuardStep) bool { return s == GuardBreaker })
	}
	guard, err := NewGuard(c, breaker)
	if err != nil {
		return nil, nil, err
	}
	return retry.Guarded(guard), guard, nil
}

// RetryGovernance is the skeleton of a client's retry policy in the article on
// retry governance: three attempts, waits of 120 ms and 240 ms, each ±30 %,
// for failed connections and answers of gateways only, and retries of at most
// 10 % of the requests.
//
// The article does not say how that share is kept. A bucket that is empty at
// first keeps it at every instant; its 10 tokens are ours.
func RetryGovernance() RetryPreset {
	return RetryPreset{
		Name: "retry-governance",
		Doc:  "skeleton of the article on retry governance; the kind of budget is ours: a bucket, empty at first, of at most 10 tokens",
		Retry: RetryConfig{
			Attempts: 3,
			Errors: ErrorList{
				RetryOn:   []string{"connect_timeout", "502", "503", "504"},
				NoRetryOn: []string{"400", "401", "403", "422", "429"},
			},
			Backoff: BackoffConfig{Kind: ExponentialBackoff, Base: 120 * time.Millisecond, Multiplier: 2, Jitter: 0.3},
		},
		Budget: BudgetConfig{Kind: BudgetTokens, Tokens: TokenConfig{Ratio: 0.1, Cap: 10}},
	}
}

// SpringCloudDrill is the retry of the article on a drill in a Spring Cloud
// chain: its settings of Resilience4j, its counter budget and its pipeline of
// guards. Three attempts, waits of 200 ms and 400 ms, each ±50 %.
//
// The exceptions that are retried there are failures to get an answer,
// java.io.IOException and TimeoutException: connections that fail, break or
// time out. An answer with an error status is none of them. Its exception for
// calls that are not idempotent is the last step of the guard.
//
// The article's Java code differs from its settings, which are taken here, and
// from what it says. It waits 200 ms and 400 ms and from 0 to 100 ms more. And it
// counts retries in a predicate, which Resilience4j asks before it looks at the
// number of attempts: so it counts one more when the last attempt has failed,
// which is never made. Here a retry counts if it is made.
func SpringCloudDrill() RetryPreset {
	return RetryPreset{
		Name: "spring-cloud-drill",
		Doc:  "Resilience4j settings, counter budget and guards of the article on a drill in a Spring Cloud chain",
		Retry: RetryConfig{
			Attempts: 3,
			Errors:   ErrorList{RetryOn: []string{"connect-failure", "reset", "timeout"}},
			Backoff:  BackoffConfig{Kind: ExponentialBackoff, Base: 200 * time.Millisecond, Multiplier: 2, Jitter: 0.5},
		},
		Budget: BudgetConfig{Kind: BudgetCounter, Counter: CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000}},
		Guard:  &GuardConfig{Order: []GuardStep{GuardBudget, GuardBreaker, GuardIdempotent}},
	}
}

// RetryPresets lists the presets.
func RetryPresets() []RetryPreset { return []RetryPreset{RetryGovernance(), SpringCloudDrill()} }

// LookupRetryPreset returns the preset of a name. The error of an unknown name
// lists the known ones.
func LookupRetryPreset(name string) (RetryPreset, error) {
	var known []string
	for _, p := range RetryPresets() {
		if p.Name == name {
			return p, nil
		}
		known = append(known, p.Name)
	}
	return RetryPreset{}, fmt.Errorf("policies: retry preset %q, want one of %s", name, strings.Join(known, ", "))
}
