package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// The policies of metastable. All but the first retry at once, after a timeout.
const (
	metaNone          = "none"
	metaUnlimited     = "unlimited"
	metaBudgetRequest = "budget-request"
	metaBudgetSuccess = "budget-success"
	metaBreaker       = "breaker"
	metaLIFO          = "lifo"
	metaDeadline      = "deadline"
	metaCancel        = "cancel"
)

var metaPolicies = []string{metaNone, metaUnlimited, metaBudgetRequest, metaBudgetSuccess, metaBreaker, metaLIFO, metaDeadline, metaCancel}

// metaWords says what each policy is.
var metaWords = map[string]string{
	metaNone:          "no retry",
	metaUnlimited:     "retries, no budget",
	metaBudgetRequest: "retries, budget credited per request",
	metaBudgetSuccess: "retries, budget credited per success",
	metaBreaker:       "retries + breaker",
	metaLIFO:          "retries + LIFO queue",
	metaDeadline:      "retries + expired calls dropped",
	metaCancel:        "retries + cancellation",
}

// metaName is the policy of a cell in words, with its number of retries.
func metaName(c Cell) string {
	text := metaWords[c.Text("policy")]
	rest, ok := strings.CutPrefix(text, "retries")
	switch n := c.Float("attempts") - 1; {
	case !ok:
		return text
	case n == 1:
		return "1 retry" + rest
	default:
		return formatNumber(n) + " retries" + rest
	}
}

func metastable() *Experiment {
	policy := choice("policy", "what is done about retries: "+metaNone+", "+metaUnlimited+", "+metaBudgetRequest+" and "+metaBudgetSuccess+
		" (a bucket of cap tokens, full, that earns ratio per request or per success); "+metaUnlimited+" has no budget: what bounds it is attempts; and, also without a budget, "+
		metaBreaker+", "+metaLIFO+" (the node serves the newest call first), "+
		metaDeadline+" (it drops calls whose caller has timed out when it gets to them), "+metaCancel+" (it stops their work too)",
		metaPolicies, len(metaPolicies))
	policy.label = func(level string) string { return metaWords[level] }
	return &Experiment{
		Name: "metastable",
		Doc: `At which load, and after how long a stall, does a system stay down although the fault has gone?
One node with an unbounded queue, Poisson arrivals, clients that time out and try
again at once, and work that is done even if its caller has gone. The node stands
still for trigger_s and then is as good as before. Each run has recovered, is
stuck, or had collapsed before the trigger: goodput in the last judge_s below 90 %
of the offered load, or in the ten seconds before trigger_at_s. With trigger_s = 0
the criterion is the same, and a run that is stuck has collapsed by itself, later.
Vulnerable are loads above capacity ÷ attempts per request (Bronson et al., HotOS
2021: half the capacity for one retry). The simulation known for the way a budget
is credited: -set policy=budget-request,budget-success -set rate_rps=250,265,280
-set ratio=0.1,0.2 -set trigger_s=10 -set trigger_at_s=30 -set horizon_s=400
-set judge_s=30 -reps 10.`,
		Factors: []Factor{
			policy,
			positive("rate_rps", "offered load, requests/s", 1e6, 100, 130, 160, 200, 240, 275, 300, 330),
			number("trigger_s", "length of the stall, s; 0 for none", 0, 1e5, 0, 1, 2, 5),
			whole("workers", "calls the node serves at a time", 1, 1e6, 30),
			number("service_s", "mean service time, exponential, s", 1e-6, 1e4, 0.1),
			number("timeout_s", "timeout of an attempt, s", 1e-6, 1e4, 1),
			whole("attempts", "most attempts of a request, the first included; policy none makes one", 2, 100, 2),
			number("ratio", "tokens that a request or a success earns", 0, 1, 0.1),
			whole("cap", "most tokens of the bucket, full at first", 1, 1e9, 10),
			breakerFactor("breaker", "time-10s-20-50"),
			number("open_s", "time the breaker stays open, s", 1e-6, 1e5, 5),
			whole("probes", "calls let through when half-open", 1, 1e6, 10),
			number("trigger_at_s", "start of the stall, s", 1, 1e5, 15),
			number("horizon_s", "length of a run, s", 2, 1e5, 100),
			number("judge_s", "time at the end by which a run is judged, s", 1, 1e5, 15),
		},
		Metrics: append([]Metric{
			{Name: "recovered_ratio", Doc: "share of runs that were well before trigger_at_s and at the end: goodput at least 90 % of the offered load", Proportion: true},
			{Name: "stuck_ratio", Doc: "share of runs that were well in the ten seconds before trigger_at_s and not at the end; with trigger_s = 0 they collapsed by themselves", Proportion: true},
			{Name: "collapsed_before_ratio", Doc: "share of runs that were not well in the ten seconds before trigger_at_s", Proportion: true},
			{Name: "recovery_s", Doc: "end of the stall to the end of the last second of whose requests, by the time they started, over 10 % failed, s; 0: no second after the stall lost as many", Censored: "stuck_count"},
			{Name: "collapse_s", Doc: "start to the first ten seconds in a row in which over half of the requests fail, without a trigger, s", Censored: "uncollapsed_count"},
			{Name: "goodput_rps", Doc: "requests answered in time in the last judge_s, requests/s"},
			{Name: "amplification_ratio", Doc: "attempts at the node per request in the last judge_s"},
			{Name: "abandoned_ratio", Doc: "share of all service that was done for a caller that had gone"},
		}, retryMeasures...),
		Reps:    5,
		Check:   checkMetastable,
		Measure: measureMetastable,
		Logs:    everyCell,
		Exact:   exactMetastable,
		Report:  reportMetastable,
		Detail:  hysteresisTable,
	}
}

// breakerFactor declares the rule of a breaker that acts on its traffic.
func breakerFactor(name, rule string) Factor {
	f := policyFactor(rule)
	f.Name, f.Panel = name, false
	return f
}

// maxAttemptsPerRun bounds a run's attempts and so its time and memory: about
// half a minute and 10 GB if all of them are queued.
const maxAttemptsPerRun = 1e8

func checkMetastable(c Cell) error {
	need := c.Float("trigger_at_s") + c.Float("trigger_s") + c.Float("judge_s")
	if h := c.Float("horizon_s"); need > h {
		return fmt.Errorf("experiments: metastable: trigger_at_s + trigger_s + judge_s = %s s, want at most horizon_s = %s s", formatNumber(need), formatNumber(h))
	}
	if n := c.Float("rate_rps") * c.Float("horizon_s") * metaAttempts(c); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: metastable: rate_rps × horizon_s × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	return metaConfig(c).Validate()
}

// metaAttempts is the most attempts that a request makes.
func metaAttempts(c Cell) float64 {
	if c.Text("policy") == metaNone {
		return 1
	}
	return c.Float("attempts")
}

// metaConfig describes the system of a cell.
func metaConfig(c Cell) model.Config {
	policy := c.Text("policy")
	node := model.Node{
		Name:    "node",
		Workers: int(c.Float("workers")),
		Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
		Cancel:  policy == metaCancel,
	}
	switch policy {
	case metaLIFO:
		node.Queue.Order = model.LIFO
	case metaDeadline:
		node.Queue.DropExpired = true
	}
	if length := c.Float("trigger_s"); length > 0 {
		start := seconds(c.Float("trigger_at_s"))
		node.Faults = []model.Fault{{Kind: model.FaultStall, Start: start, End: start + seconds(length)}}
	}
	return model.Config{
		Nodes: []model.Node{node},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps: calls(model.Call{
				To:                "node",
				Stack:             metaStack(c),
				PropagateDeadline: policy == metaDeadline,
			}),
		}},
		Horizon:  seconds(c.Float("horizon_s")),
		Interval: time.Second,
	}
}

// metaStack is retry, breaker and timeout, as far as the policy has them.
func metaStack(c Cell) model.Stack {
	timeout := model.Layer{Timeout: seconds(c.Float("timeout_s"))}
	retry := &model.RetryLayer{RetryConfig: policies.RetryConfig{
		Attempts: int(c.Float("attempts")),
		Errors:   policies.ErrorList{NoRetryOn: []string{"breaker-open"}},
	}}
	tokens := func(credit policies.Credit) *policies.BudgetConfig {
		n := int(c.Float("cap"))
		return &policies.BudgetConfig{
			Kind:   policies.BudgetTokens,
			Tokens: policies.TokenConfig{Ratio: c.Float("ratio"), Cap: n, Initial: n, Credit: credit},
		}
	}
	switch c.Text("policy") {
	case metaNone:
		return model.Stack{timeout}
	case metaBudgetRequest:
		retry.Budget = tokens(policies.CreditRequest)
	case metaBudgetSuccess:
		retry.Budget = tokens(policies.CreditSuccess)
	case metaBreaker:
		spec, err := parsePolicy(c.Text("breaker"))
		if err != nil {
			panic(err) // the factor has checked it
		}
		return model.Stack{{Retry: retry}, {Breaker: &model.BreakerLayer{BreakerConfig: policies.BreakerConfig{
			Rule:         spec.rule,
			OpenFor:      seconds(c.Float("open_s")),
			Probes:       int(c.Float("probes")),
			InFlightSlow: spec.inFlight,
			Unshared:     true,
		}}}, timeout}
	}
	return model.Stack{{Retry: retry}, timeout}
}

// capacity is the most calls that the node of a cell can serve, per second.
func (c Cell) capacity() float64 { return c.Float("workers") / c.Float("service_s") }

// attemptsWhenAllFail is the number of attempts per request in the long run
// if none succeeds, and false where the policy leaves it open or work for
// callers that have gone is not done.
func attemptsWhenAllFail(c Cell) (float64, bool) {
	switch c.Text("policy") {
	case metaNone, metaBudgetSuccess: // a bucket that no success fills runs dry
		return 1, true
	case metaBudgetRequest:
		return 1 + min(c.Float("ratio"), c.Float("attempts")-1), true
	case metaUnlimited:
		return c.Float("attempts"), true
	}
	return 0, false
}

// stuckAbove is the load above which a system that is down stays down:
// capacity ÷ attempts per request when all fail. NaN where it is not known.
func stuckAbove(c Cell) float64 {
	if a, ok := attemptsWhenAllFail(c); ok {
		return c.capacity() / a
	}
	return math.NaN()
}

// drainsBelow is the load below which the backlog of the trigger, taken as a
// fluid, is gone by the time the run is judged. During the trigger the queue
// grows by load × attempts, after it by the same less the capacity; the system
// is back when a new call waits less than the timeout.
func drainsBelow(c Cell) float64 {
	a, ok := attemptsWhenAllFail(c)
	if !ok {
		return math.NaN()
	}
	trigger := c.Float("trigger_s")
	left := c.Float("horizon_s") - c.Float("judge_s") - c.Float("trigger_at_s") - trigger
	return c.capacity() / a * min(1, (left+c.Float("timeout_s"))/(left+trigger))
}

// exactMetastable knows what does not depend on the outcome.
func exactMetastable(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("policy") == metaNone && metric == "amplification_ratio" {
		return 1, true
	}
	return 0, false
}

// cellGroups lists the cells of each group that shares all factors but the named
// ones, in order.
func (p *Plan) cellGroups(but ...string) [][]int {
	var groups [][]int
	index := map[string]int{}
	for i, c := range p.Cells {
		key := ""
		for f := range c.factors {
			if !slices.Contains(but, c.factors[f].Name) {
				key += c.levels[f] + "\x00"
			}
		}
		g, seen := index[key]
		if !seen {
			g = len(groups)
			index[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}
