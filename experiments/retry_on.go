package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// The policies of retry-on besides the presets: which errors they retry.
const (
	retryOnNone   = "none"
	retryOnAny    = "any"
	retryOnBut429 = "any-but-429"
	retryOn5xx    = "5xx"
)

// retryOnWords says what each policy retries.
func retryOnWords(policy string) string {
	switch policy {
	case retryOnNone:
		return "no retry"
	case retryOnAny:
		return "any error"
	case retryOnBut429:
		return "any error but 429"
	case retryOn5xx:
		return "5xx only"
	}
	return policy + " as given"
}

// The answers of the node's errors.
const (
	permanentCode = policies.ErrorCode(400)
	limitCode     = policies.ErrorCode(429)
)

// transientCodes are the errors that may pass, by name.
var transientCodes = map[string]policies.ErrorCode{
	"500": 500, "502": 502, "503": 503, "504": 504,
	"timeout": policies.ErrTimeout, "reset": policies.ErrReset,
	"connect-failure": policies.ErrConnect, "connect-timeout": policies.ErrConnectTimeout,
}

func retryOnExperiment() *Experiment {
	given := policies.RetryGovernance()
	known := append([]string{retryOnNone, retryOnAny, retryOnBut429, retryOn5xx}, presetNames()...)
	policy := choice("policy", "which errors are retried: none, any, any-but-429, 5xx; or a published policy as given, with its own attempts, waits and budget: retry-governance, spring-cloud-drill",
		known, len(known))
	policy.label = retryOnWords
	return &Experiment{
		Name: "retry-on",
		Doc: `What does it cost to retry errors that a retry cannot mend?
A node answers 400 to a share of the requests, at every attempt; 429 to attempts
above a limit of its own, which the retries themselves may exceed; and to a share
of the other attempts an error that may pass. Every attempt takes a place in the
limit and a service. Policies differ in the errors that they retry; the presets
are those of the articles on retry governance and on a drill in a Spring Cloud
chain, run as given. Closed form: with q the share of attempts limited, g the
share of wanted retries granted, and c the chance that an attempt is followed by
another, g times that of an error which is retried, a request makes
(1 − cⁿ)/(1 − c) attempts; q = 1 − limit/attempts per second, and g such that the
budget is kept. It holds in the long run.`,
		Factors: []Factor{
			policy,
			number("budget_ratio", "retries per request, from a bucket that is empty at first; 0 for no budget. Presets have their own", 0, 1, 0, 0.1),
			number("permanent_ratio", "share of the requests whose attempts are all answered 400", 0, 1, 0, 0.1, 0.2, 0.4),
			number("limit_rps", "attempts per second above which the node answers 429; 0 for no limit", 0, 1e6, 0, 110),
			whole("limit_burst", "attempts that may come at a time within the limit", 1, 1e6, 10),
			number("transient_ratio", "share of the attempts that fail, each at random, of those that fail for no other reason", 0, 1, 0.1),
			choice("transient", "their error: 503, timeout, 500, 502, 504, connect-timeout, connect-failure, reset",
				[]string{"503", "timeout", "500", "502", "504", "connect-timeout", "connect-failure", "reset"}, 2),
			whole("attempts", "most attempts of a request, the first included", 1, 100, float64(given.Retry.Attempts)),
			number("base_s", "first wait before a retry, which doubles and varies by 30 %, s; 0 for none", 0, 1e4, given.Retry.Backoff.Base.Seconds()),
			positive("rate_rps", "offered load, Poisson arrivals, requests/s", 1e6, 100),
			number("service_s", "service time, s", 0, 100, 0.01),
			number("horizon_s", "time in which requests come, s", 0.1, 1e6, 60),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts at the node per request"},
			{Name: "success_ratio", Doc: "share of the requests that succeeded"},
			{Name: "good_success_ratio", Doc: "share of the requests that succeeded, of those not answered 400"},
			{Name: "wasted_ratio", Doc: "retries that did not succeed ÷ all attempts"},
			{Name: "limited_ratio", Doc: "share of the attempts answered 429"},
			{Name: "denied_count", Doc: "retries that the budget refused, in the whole run"},
			{Name: "not_retryable_count", Doc: "failed attempts whose error is not retried"},
		}, retryMeasures...),
		Reps:    5,
		Valid:   validRetryOn,
		Check:   checkRetryOn,
		Measure: measureRetryOn,
		Exact:   exactRetryOn,
		Logs:    everyCell,
		Report:  reportRetryOn,
	}
}

// validRetryOn leaves out budgets of policies that have their own, or none to
// keep.
func validRetryOn(c Cell) bool {
	p := c.Text("policy")
	return p != retryOnNone && !slices.Contains(presetNames(), p) || c.first("budget_ratio")
}

func checkRetryOn(c Cell) error {
	if n := c.Float("rate_rps") * c.Float("horizon_s") * float64(max(c.Float("attempts"), 3)); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: retry-on: rate_rps × horizon_s × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	return retryOnSystem(c).Validate()
}

// retryOnLayer is the retry of a cell, nil if there is none.
func retryOnLayer(c Cell) *model.RetryLayer {
	var errors policies.ErrorList
	switch p := c.Text("policy"); p {
	case retryOnNone:
		return nil
	case retryOnAny:
	case retryOnBut429:
		errors.NoRetryOn = []string{"429"}
	case retryOn5xx:
		errors.RetryOn = []string{"5xx"}
	default:
		preset, err := policies.LookupRetryPreset(p)
		if err != nil {
			panic(err) // the factor has checked it
		}
		return presetLayer(preset, false)
	}
	l := &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: int(c.Float("attempts")), Errors: errors}}
	if base := c.Float("base_s"); base > 0 {
		l.Backoff = policies.RetryGovernance().Retry.Backoff
		l.Backoff.Base = seconds(base)
	}
	if r := c.Float("budget_ratio"); r > 0 {
		l.Budget = &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: r, Cap: defaultTokens}}
	}
	return l
}

func retryOnSystem(c Cell) model.Config {
	node := model.Node{Name: "node", Workers: model.Unlimited, Service: model.Law{Mean: seconds(c.Float("service_s"))}}
	if limit := c.Float("limit_rps"); limit > 0 {
		node.Shed = model.Shed{RateRPS: limit, Burst: int(c.Float("limit_burst")), Code: limitCode}
	}
	if p := c.Float("permanent_ratio"); p > 0 {
		node.Faults = append(node.Faults, model.Fault{Kind: model.FaultError, Client: badClient, Code: permanentCode})
	}
	if p := c.Float("transient_ratio"); p > 0 {
		node.Faults = append(node.Faults, model.Fault{Kind: model.FaultError, Ratio: p, Code: transientCodes[c.Text("transient")]})
	}
	call := model.Call{To: "node"}
	if l := retryOnLayer(c); l != nil {
		if l.Budget != nil {
			l.Share = "budget"
		}
		call.Stack = model.Stack{{Retry: l}}
	}
	end := seconds(c.Float("horizon_s"))
	config := model.Config{Nodes: []model.Node{node}, Horizon: end + retryOnRest(c)}
	for _, v := range []struct {
		name  string
		share float64
	}{{goodClient, 1 - c.Float("permanent_ratio")}, {badClient, c.Float("permanent_ratio")}} {
		if v.share > 0 {
			config.Clients = append(config.Clients, model.Client{
				Name:     v.name,
				Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: v.share * c.Float("rate_rps")},
				Steps:    calls(call), End: end,
			})
		}
	}
	return config
}

// One program makes the requests of both, those that can be answered well and
// those that cannot, and has one budget for them.
const goodClient, badClient = "good", "bad"

// retryOnRest is longer than a request lasts.
func retryOnRest(c Cell) time.Duration {
	wait := time.Second
	attempts := 1
	if l := retryOnLayer(c); l != nil {
		attempts = l.Attempts
		if l.Backoff.Kind != "" {
			growth := math.Pow(2, float64(min(attempts, 62)))
			wait += seconds(min(growth*l.Backoff.Base.Seconds()*(1+l.Backoff.Jitter), 1e6))
		}
	}
	return wait + seconds(float64(attempts)*c.Float("service_s"))
}

func measureRetryOn(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, retryOnSystem(c))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	node := l.Node("node")
	var requests, succeeded, retries, well, denied, other uint64
	for i := range l.Clients {
		requests += l.Clients[i].Requests
		succeeded += l.Clients[i].Succeeded
		call := &l.Calls[i] // each client has one
		retries += call.Retries
		well += call.RetriesSucceeded
		denied += call.Denied
		other += call.NotRetryable
	}
	good := math.NaN()
	if c.Float("permanent_ratio") < 1 {
		good = quotient(succeeded, l.Client(goodClient).Requests)
	}
	return [][]float64{withMeasures(l,
		quotient(node.Attempts, requests), quotient(succeeded, requests), good,
		quotient(retries-well, node.Attempts), quotient(node.Rejected, node.Attempts),
		float64(denied), float64(other),
	)}, nil
}
