package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// The policies of who-pays, between the caller and the callee.
const (
	payNone          = "none"
	payRetry         = "retry"
	payBudget        = "budget"
	payBreaker       = "breaker"
	payBudgetBreaker = "budget-breaker"
)

var (
	payPolicies = []string{payNone, payRetry, payBudget, payBreaker, payBudgetBreaker}
	payWords    = map[string]string{
		payNone: "no retry", payRetry: "retries", payBudget: "retries + budget",
		payBreaker: "retries + breaker", payBudgetBreaker: "retries + budget + breaker",
	}
)

// The faults of who-pays.
const (
	payError = "error"
	payStall = "stall"
)

func whoPays() *Experiment {
	policy := choice("policy", "what the caller does: none, retry, budget (retries within ratio of its requests), breaker and budget-breaker (retries of what the breaker lets through)",
		payPolicies, len(payPolicies))
	policy.label = func(level string) string { return payWords[level] }
	return &Experiment{
		Name: "who-pays",
		Doc: `Who pays for retries while a fault is on, and who is better off?
Users ask a caller, which has a thread for each request; it calls a callee, which
takes a connection of a shared pool for a query and then calls a dependency. In the
fault the dependency answers error_ratio of its calls with an error (error), or
none at all (stall). The pool is healthy all the time; a client of its own,
unrelated work, uses it too. Retries wait 120 ms, doubled, ± 30 %. All figures are
of the fault: requests that start in its fault_s, with what becomes of them, and
loads and measures of retries in that time. After it no more requests come, and the
fault goes on until the last has ended: none is saved by its end. Source: retry
governance, first table.`,
		Factors: []Factor{
			choice("fault", "what the dependency does: "+payError+" or "+payStall, []string{payError, payStall}, 2),
			policy,
			number("error_ratio", "share of the calls that the dependency fails in a fault of kind error", 0.001, 1, 0.5, 1),
			positive("rate_rps", "requests of users per second, Poisson", 1e6, 300),
			positive("unrelated_rps", "unrelated queries per second, Poisson", 1e6, 100),
			whole("threads", "threads of the caller", 1, 1e6, 200),
			whole("waiting", "requests that may wait for a thread of the caller", 0, 1e6, 100),
			whole("pool", "connections of the shared pool", 1, 1e6, 20),
			whole("pool_waiting", "queries that may wait for a connection", 0, 1e6, 20),
			number("query_s", "mean time of a query, exponential, s", 1e-6, 1e4, 0.03),
			number("timeout_s", "timeout of an attempt, and of an unrelated query, s", 1e-6, 1e4, 0.5),
			whole("attempts", "attempts of a request at most; policy none makes one", 2, maxRetries+1, 3),
			number("backoff_s", "first wait before a retry, s; 0 for none", 0, 1e4, 0.12),
			number("ratio", "tokens that a request earns, of a bucket of 10", 0, 1, 0.1),
			breakerFactor("breaker", "time-5s-20-50"),
			number("open_s", "time the breaker stays open, s", 1e-6, 1e5, 2),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
			number("warmup_s", "time before the fault, s", 1, 1e5, 10),
			number("fault_s", "time of the fault in which requests come, s", 0.1, 1e5, 20),
		},
		Metrics: append([]Metric{
			{Name: "caller_threads_count", Doc: "threads of the caller that are held, mean over the fault"},
			{Name: "caller_held_s", Doc: "the same for each request that was let in, thread-seconds"},
			{Name: "caller_rejected_ratio", Doc: "share of the users' requests for which the caller has no thread"},
			{Name: "callee_attempts_rps", Doc: "attempts at the callee, per second"},
			{Name: "callee_load_ratio", Doc: "attempts at the callee ÷ those before the fault"},
			{Name: "pool_busy_ratio", Doc: "share of the pool's connections that are in use"},
			{Name: "unrelated_rejected_ratio", Doc: "share of the unrelated queries that the pool rejects"},
			{Name: "unrelated_failed_ratio", Doc: "share of them that fail: rejected or not in time"},
			{Name: "unrelated_p99_s", Doc: "latency that 99 % of them stay below, s"},
			{Name: "user_success_ratio", Doc: "share of the users' requests that succeed"},
			{Name: "user_p50_s", Doc: "latency that half of the users' requests for which there is a thread stay below, those that fail included, s"},
			{Name: "user_p99_s", Doc: "latency that 99 % of those stay below, s"},
		}, ofTheFault(retryMeasures)...),
		Reps:    10,
		Check:   checkWhoPays,
		Valid:   validWhoPays,
		Measure: measureWhoPays,
		Logs:    everyCell,
		Exact:   exactWhoPays,
		Report:  reportWhoPays,
	}
}

// validWhoPays leaves out what a fault or policy does not read, but for the
// first levels.
func validWhoPays(c Cell) bool {
	if c.Text("fault") != payError && !c.first("error_ratio") {
		return false
	}
	for _, name := range paySettings {
		if !payReads(c.Text("policy"), name) && !c.first(name) {
			return false
		}
	}
	return true
}

// paySettings are the factors that some policies alone read.
var paySettings = []string{"attempts", "backoff_s", "ratio", "breaker", "open_s", "probes"}

// payReads reports whether a policy reads a setting.
func payReads(policy, setting string) bool {
	switch setting {
	case "attempts", "backoff_s":
		return policy != payNone
	case "ratio":
		return policy == payBudget || policy == payBudgetBreaker
	}
	return policy == payBreaker || policy == payBudgetBreaker
}

func checkWhoPays(c Cell) error {
	length := c.Float("warmup_s") + c.Float("fault_s")
	if n := length * (c.Float("rate_rps")*c.Float("attempts") + c.Float("unrelated_rps")); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: who-pays: (warmup_s + fault_s) × (rate_rps × attempts + unrelated_rps) = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	if h := whoPaysHorizon(c); h > float64(maxSeconds) {
		return fmt.Errorf("experiments: who-pays: a run may take %s s, want at most %s", formatNumber(h), formatNumber(float64(maxSeconds)))
	}
	return whoPaysSystem(c).Validate()
}

// whoPaysHorizon is the length of a run, s: by then most requests of the fault
// have ended, those that waited for a thread included.
func whoPaysHorizon(c Cell) float64 {
	attempts := c.Float("attempts")
	if c.Text("policy") == payNone {
		attempts = 1
	}
	longest := attempts * (c.Float("timeout_s") + 2*c.Float("backoff_s")*attempts)
	rounds := 1 + c.Float("waiting")/c.Float("threads")
	return c.Float("warmup_s") + c.Float("fault_s") + min(longest, 1e6)*(rounds+1) + 1
}

// payStack is what stands between caller and callee: retries, breaker, timeout.
func payStack(c Cell) model.Stack {
	timeout := model.Layer{Timeout: seconds(c.Float("timeout_s"))}
	policy := c.Text("policy")
	if policy == payNone {
		return model.Stack{timeout}
	}
	retry := &model.RetryLayer{RetryConfig: policies.RetryConfig{
		Attempts: int(c.Float("attempts")),
		Errors:   policies.ErrorList{NoRetryOn: []string{"breaker-open"}},
	}}
	if base := c.Float("backoff_s"); base > 0 {
		retry.Backoff = policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: seconds(base), Jitter: 0.3}
	}
	if policy == payBudget || policy == payBudgetBreaker {
		retry.Budget = &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: c.Float("ratio"), Cap: defaultTokens}}
	}
	s := model.Stack{{Retry: retry}}
	if policy == payBreaker || policy == payBudgetBreaker {
		spec, err := parsePolicy(c.Text("breaker"))
		if err != nil {
			panic(err) // the factor has checked it
		}
		s = append(s, model.Layer{Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
			Rule: spec.rule, OpenFor: seconds(c.Float("open_s")), Probes: int(c.Float("probes")), InFlightSlow: spec.inFlight, Unshared: true,
		}}})
	}
	return append(s, timeout)
}

// payCaller is the time of a thread of the caller before its call, s.
const payCaller = 0.005

func whoPaysSystem(c Cell) model.Config {
	start := seconds(c.Float("warmup_s"))
	end := start + seconds(c.Float("fault_s"))
	horizon := seconds(whoPaysHorizon(c))
	fault := model.Fault{Kind: model.FaultError, Ratio: c.Float("error_ratio"), Start: start, End: horizon}
	if c.Text("fault") == payStall {
		fault = model.Fault{Kind: model.FaultStall, Start: start, End: horizon}
	}
	return model.Config{
		Horizon: horizon,
		Warmup:  start,
		Nodes: []model.Node{
			{Name: "caller", Workers: int(c.Float("threads")), Queue: model.Queue{Limit: model.Known(int(c.Float("waiting")))},
				Service: model.Law{Mean: seconds(payCaller)}, Steps: calls(model.Call{To: "callee", Stack: payStack(c)})},
			{Name: "callee", Workers: model.Unlimited,
				Steps: []model.Step{{Calls: []model.Call{{To: "pool"}}}, {Calls: []model.Call{{To: "dependency"}}}}},
			{Name: "pool", Workers: int(c.Float("pool")), Queue: model.Queue{Limit: model.Known(int(c.Float("pool_waiting")))},
				Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("query_s"))}},
			{Name: "dependency", Workers: model.Unlimited, Service: model.Law{Mean: seconds(payCaller)}, Faults: []model.Fault{fault}},
		},
		Clients: []model.Client{
			{Name: "users-before", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")}, End: start,
				Steps: calls(model.Call{To: "caller"})},
			{Name: "users", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")}, Start: start, End: end,
				Steps: calls(model.Call{To: "caller"})},
			{Name: "unrelated", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("unrelated_rps")}, End: end,
				Steps: calls(model.Call{To: "pool", Stack: model.Stack{{Timeout: seconds(c.Float("timeout_s"))}}})},
		},
	}
}

// paySnapshot is what who-pays reads at an instant.
type paySnapshot struct {
	users, unrelated             model.ClientLedger
	caller, callee, pool         model.NodeLedger
	unrelatedRejected, noThreads uint64
	measures                     model.Measures // of the caller's calls to the callee
}

func snapshotPay(s *model.System) paySnapshot {
	l := s.Ledger()
	p := paySnapshot{
		users: *l.Client("users"), unrelated: *l.Client("unrelated"),
		caller: *l.Node("caller"), callee: *l.Node("callee"), pool: *l.Node("pool"), measures: (&model.Ledger{Calls: []model.CallLedger{*l.Call("caller", "callee")}}).Measures(),
	}
	p.unrelatedRejected, p.noThreads = p.unrelated.ByCode[503], p.caller.Rejected
	return p
}

func measureWhoPays(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := newSystem(j, whoPaysSystem(c))
	if err != nil {
		return nil, err
	}
	warm, length := c.Float("warmup_s"), c.Float("fault_s")
	var at [2]paySnapshot
	for i, t := range []float64{warm, warm + length} {
		if err := s.RunUntil(ctx, sim.Time(seconds(t))); err != nil {
			return nil, err
		}
		at[i] = snapshotPay(s)
	}
	if err := s.Run(ctx); err != nil {
		return nil, err
	}
	logPending(j, s)
	before, during, after := at[0], at[1], snapshotPay(s)
	good, bad := after.users.Succeeded, after.users.Failed
	// Unrelated queries that were under way when the fault began count as in
	// it; they are few.
	ended := after.unrelated.Succeeded + after.unrelated.Failed - before.unrelated.Succeeded - before.unrelated.Failed
	held := (during.caller.Held - before.caller.Held).Seconds()
	calls := float64(during.callee.Attempts-before.callee.Attempts) / length
	refused := quotient(after.noThreads-before.noThreads, good+bad)
	latency := func(q float64) float64 { // of those not refused, which end at once
		if !(refused < 1) {
			return math.NaN()
		}
		return s.LatencyQuantile("users", refused+q*(1-refused)).Seconds()
	}
	return [][]float64{append([]float64{
		held / length,
		quotient(held, float64(during.caller.Begun-before.caller.Begun)),
		refused,
		calls,
		quotient(calls, float64(before.callee.Attempts)/warm),
		quotient((during.pool.Busy - before.pool.Busy).Seconds(), length*c.Float("pool")),
		quotient(after.unrelatedRejected-before.unrelatedRejected, ended),
		quotient(after.unrelated.Failed-before.unrelated.Failed, ended),
		s.LatencyQuantile("unrelated", 0.99).Seconds(),
		quotient(good, good+bad),
		latency(0.5),
		latency(0.99),
	}, measuresSince(before.measures, during.measures)...)}, nil
}

// measuresSince are the measures of a stretch of a run, from those at its ends;
// the most tries of a call are those of the run so far.
func measuresSince(from, to model.Measures) []float64 {
	m := to
	m.Tries -= from.Tries
	m.Repeats -= from.Repeats
	m.RepeatsSucceeded -= from.RepeatsSucceeded
	m.RefusedOpen -= from.RefusedOpen
	m.Openings -= from.Openings
	m.OpenTime -= from.OpenTime
	return []float64{m.RetryRatio(), m.RetrySuccessRatio(), float64(m.MostAttempts), float64(m.Openings), m.OpenTime.Seconds(), float64(m.RefusedOpen)}
}

// ofTheFault are the measures of retries as those of one link in the fault.
func ofTheFault(all []Metric) []Metric {
	all = slices.Clone(all)
	for i := range all {
		all[i].Doc += "; of the caller's calls to the callee, in the fault"
	}
	return all
}
