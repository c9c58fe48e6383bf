package experiments

import (
	"fmt"

	"github.com/stormglass/stormglass/policies"
)

// The scenes of drill.
const (
	drillStalled = "stalled" // gateway → A → B, and no call to B is answered in time
	drillDelayed = "delayed" // A → B, and some calls to B are delayed
)

// What the article's drill prints: calls a second at B and the share of the
// requests that succeed, without guards and with budget and jitter. It is
// marked there as an illustration, not a measurement.
var drillTargets = []drillTarget{
	{"plain_rps", "no guard, calls/s at B", 1500},
	{"plain_success_ratio", "no guard, success", 0.002},
	{"guarded_rps", "budget + jitter, calls/s at B", 545},
	{"guarded_success_ratio", "budget + jitter, success", 0.885},
}

type drillTarget struct {
	metric, words string
	article       float64
}

// error is how far a value is from the article's: relative for a rate, the
// difference for a share.
func (t drillTarget) error(v float64) float64 {
	if t.article < 1 {
		return v - t.article
	}
	return v/t.article - 1
}

// drillClose is the largest error with which a figure counts as having come
// out: 1 % of a rate, one point of a share.
const drillClose = 0.01

// What it prints of B's processors. It is not fitted, and compared with the
// share of B's workers that are busy.
const drillPlainCPU, drillGuardedCPU = 0.98, 0.62

func drill() *Experiment {
	scene := choice("scene", drillStalled+": gateway, A and B, where B is slower than A waits; "+drillDelayed+": A and B, where some calls to B are delayed",
		[]string{drillStalled, drillDelayed}, 2)
	guard := retryFactor("guard", "budget-10-success", "budget-10", "counter-10")
	guard.Doc = "retry policy of the guarded row, with back-off and jitter: " + retryGrammar
	guard.Panel = true
	delay := choice("delay", "how long a delayed call is delayed: "+delayConstant+", delay_s; "+delayUniform+", from 0 to delay_s; "+delayExponential+", delay_s on average",
		[]string{delayConstant, delayUniform, delayExponential}, 2)
	search := new(drillSearch)
	return &Experiment{
		Name: "drill",
		Doc: `Can one system give both rows of the published drill: 1,500 calls/s and 0.2 % success without guards, 545 calls/s and 88.5 % with budget and jitter?
Stalled: a gateway that retries calls A, which retries its calls to B; B takes
stalled_s, longer than A waits. Every layer multiplies.
Delayed: 500 requests/s, each a call to B with a timeout of 800 ms. A share of
the calls at B takes longer; B has workers for capacity_rps and a queue of
queue_s at that rate. The same system runs twice: with plain retries, at once,
and with the guard. Searched are late_ratio (the share of the calls that are too
late even on an idle B), capacity_rps and queue_s. The nearest cell of each delay is
refined, at each capacity, and measured again with another seed. Distance is the root mean
square of the four errors: relative ones of the calls/s, points of the shares. The article's CPU, 98 % and
62 %, is not fitted: B's workers are as busy with a B for 880 calls/s that a pause
makes fall (-set scene=delayed -set delay=uniform -set capacity_rps=880 -set
pause_s=3 -set queue_s=1.5). Source: Spring Cloud drill, where the figures are
marked as an illustration.`,
		Factors: []Factor{
			scene,
			whole("gateway_retries", "retries of the gateway when stalled", 0, 20, 0, 2),
			whole("retries", "retries of A: when stalled, and without guards", 0, 20, 2),
			delay,
			number("late_ratio", "share of the calls that B alone answers after the timeout", 0, 1, 0.18, 0.2),
			positive("capacity_rps", "calls/s that all workers of B can serve, to the nearest worker", 1e6, 580),
			number("queue_s", "time in which B serves a full queue, s", 0, 1e4, 0.85, 0.95),
			guard,
			number("backoff_s", "first wait of the guard before a retry, doubled each time, s; 0 for none", 0, 1e4, 0.2),
			number("jitter_ratio", "share by which that wait is shorter or longer", 0, 1, 0.5),
			positive("rate_rps", "requests/s, Poisson", 1e6, 500),
			number("timeout_s", "time that A waits for an attempt, s", 1e-6, 1e4, 0.8),
			number("service_s", "time that B takes for a call that is not delayed, s", 0, 1e4, 0.05),
			positive("delay_s", "delay of a delayed call, s", 1e4, 2),
			number("pause_s", "pause of B, as for the collection of garbage, 5 s after the start of a delayed run, s; 0 for none", 0, 1e4, 0),
			positive("stalled_s", "time that B takes when stalled, s", 1e4, 2),
			number("warmup_s", "time before the measurement, s", 0, 1e5, 40),
			number("measure_s", "time of the measurement, s", 1, 1e5, 40),
		},
		Metrics: append([]Metric{
			{Name: "calls_at_b_per_request_count", Doc: "stalled: calls at B ÷ requests"},
			{Name: "plain_rps", Doc: "no guard: calls at B, per second"},
			{Name: "plain_success_ratio", Doc: "no guard: share of the requests that succeed"},
			{Name: "guarded_rps", Doc: "guarded: calls at B, per second"},
			{Name: "guarded_success_ratio", Doc: "guarded: share of the requests that succeed"},
			{Name: "plain_busy_ratio", Doc: "no guard: share of B's workers that are busy"},
			{Name: "guarded_busy_ratio", Doc: "guarded: share of B's workers that are busy"},
			{Name: "delayed_ratio", Doc: "share of the calls at B that are delayed"},
			{Name: "workers_count", Doc: "workers of B"},
			{Name: "queue_count", Doc: "calls that may wait at B"},
			{Name: "plain_retry_ratio", Doc: "no guard: retries ÷ all calls at B; the measures below are those of the guarded run, or the stalled one"},
			{Name: "plain_retry_success_ratio", Doc: "no guard: share of the retries that succeed"},
		}, retryMeasures...),
		Reps:    3,
		Valid:   validDrill,
		Check:   checkDrill,
		Measure: measureDrill,
		Exact:   exactDrill,
		Article: articleDrill,
		Report:  search.report,
		Detail:  search.detail,
	}
}

// validDrill leaves out what a scene does not read, but for the first levels.
func validDrill(c Cell) bool {
	if c.Text("scene") == drillDelayed {
		return c.first("gateway_retries") && c.first("stalled_s")
	}
	for _, f := range c.factors {
		switch f.Name {
		case "scene", "gateway_retries", "retries", "stalled_s":
		default:
			if !c.first(f.Name) {
				return false
			}
		}
	}
	return true
}

func checkDrill(c Cell) error {
	if c.Text("scene") == drillStalled {
		if s := c.Float("stalled_s"); s < drillStallTimeout.Seconds() {
			return fmt.Errorf("experiments: drill: stalled_s %s, want at least the %v that A waits", formatNumber(s), drillStallTimeout)
		}
		return nil
	}
	b, err := newDrillService(c)
	if err != nil {
		return err
	}
	length := c.Float("warmup_s") + c.Float("measure_s")
	if n := length * c.Float("rate_rps") * max(c.Float("retries")+1, float64(c.retry("guard").attempts)); n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: drill: (warmup_s + measure_s) × rate_rps × attempts = %s, want at most %g", formatNumber(n), float64(maxAttemptsPerRun))
	}
	if err := b.system(c, b.plain(c)).Validate(); err != nil {
		return err
	}
	return b.system(c, b.guarded(c)).Validate()
}

// drillBackoff is the guard's wait before a retry.
func drillBackoff(c Cell) policies.BackoffConfig {
	if c.Float("backoff_s") == 0 {
		return policies.BackoffConfig{}
	}
	return policies.BackoffConfig{
		Kind: policies.ExponentialBackoff, Base: seconds(c.Float("backoff_s")), Jitter: c.Float("jitter_ratio"),
	}
}

// exactDrill knows the stalled chain; and the calls that a bucket lets through
// which credits requests and binds, since more calls are late than it grants.
func exactDrill(c Cell, metric string, _ int) (float64, bool) {
	if c.Text("scene") == drillDelayed {
		g := c.retry("guard")
		t := g.budget.Tokens
		if metric == "guarded_rps" && g.budget.Kind == policies.BudgetTokens && t.Credit != policies.CreditSuccess &&
			c.Float("late_ratio") >= 1.5*t.Ratio && c.Float("warmup_s") >= 10 {
			return c.Float("rate_rps") * (1 + t.Ratio), true
		}
		return 0, false
	}
	if metric == "calls_at_b_per_request_count" {
		return (1 + c.Float("gateway_retries")) * (1 + c.Float("retries")), true
	}
	return 0, false
}

func articleDrill(c Cell, metric string) (string, string, string) {
	if c.Text("scene") != drillStalled || metric != "calls_at_b_per_request_count" ||
		c.Text("gateway_retries") != "2" || c.Text("retries") != "2" {
		return "", "", ""
	}
	return "T3a", "gateway 2 retries x A 2 retries, B stalled", "calls_at_b_per_request"
}
