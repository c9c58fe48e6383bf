package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// The loads of budget-presets.
const (
	loadSteady = "steady" // a share of the attempts fails all the time
	loadBursty = "bursty" // the same, and bursts of requests in which more fail
	loadOutage = "outage" // for a time all attempts fail
)

var loadWords = map[string]string{
	loadSteady: "a share of the attempts fails all the time",
	loadBursty: "bursts of requests, in which more attempts fail",
	loadOutage: "for a time every attempt fails",
}

func budgetPresets() *Experiment {
	load := choice("load", "what the callee goes through: "+loadSteady+" (error_ratio of the attempts fail), "+loadBursty+
		" (the same, and each every_s ends in a burst of burst_factor times the requests, of whose attempts burst_error_ratio fail) or "+
		loadOutage+" (all attempts fail for outage_s, calm_error_ratio before and after)", []string{loadSteady, loadBursty, loadOutage}, 3)
	load.label = func(level string) string { return loadWords[level] }
	names := budgetNames()
	return &Experiment{
		Name: "budget-presets",
		Doc: `What do the retry budgets of well-known libraries, each with its own defaults, make of the same loads?
One client calls a server that is never busy, with the same retry policy and
another budget in each cell; arrivals and the luck of the first attempts are the
same for all. The number of attempts is the same too, though Istio itself would
retry twice; and Finagle's further limit on the retries of one request, a share
of its balance, is not applied. Retries are counted when they are sent. Shut off: start of the
outage to the first instant, in tenths of a second, from which on until its end
no second brings more than shut_ratio retries per request of that second; never,
if one in the last quarter of the outage does. Late: the second half of the
outage, which says what a budget grants for good. Back: end of the outage to the
last refusal before ten retries in a row are sent. Closed forms: what a budget
earns per request in the long run; the loss system M/G/c/c (Erlang B) of a cap on
retries in progress, which hold their place through back-off and attempt; none
at all in the long run where only good answers earn. Beside windows of slices
stands what their rule says: percent × rate and the minimum per second.`,
		Factors: []Factor{
			load,
			choice("budget", "retry budget, with the library's own defaults", names, len(names)),
			choice("arrivals", "requests independent (poisson) or evenly spaced (fixed)", []string{"poisson", "fixed"}, 1),
			positive("rate_rps", "original requests per second", 1e5, 100),
			whole("attempts", "most attempts of a request, the first included", 1, 100, 4),
			number("base_s", "bound of the first wait, which is uniform from 0 and whose bound doubles each time, s; 0: no wait", 0, 1e4, 0.1),
			number("service_s", "time an attempt takes, s", 0, 1e4, 0.05),
			number("error_ratio", "share of the attempts that fail in steady, and between bursts", 0, 1, 0.05),
			number("burst_error_ratio", "share of the attempts that fail in a burst", 0, 1, 0.3),
			number("burst_factor", "requests in a burst, for each one without", 1, 1e4, 10),
			number("burst_s", "length of a burst, s", 1, 1e4, 2),
			number("every_s", "time from burst to burst, s", 2, 1e4, 20),
			number("calm_error_ratio", "share of the attempts that fail before and after the outage", 0, 1, 0.02),
			number("outage_at_s", "start of the outage, s", 0, 1e4, 60),
			number("outage_s", "length of the outage, s", 4, 1e4, 60),
			number("shut_ratio", "retries per request above which a budget counts as not shut off", 0, 100, 0.5),
			number("length_s", "length of a run, s", 4, 1e4, 180),
		},
		Metrics: append([]Metric{
			{Name: "amplification_ratio", Doc: "attempts per request, whole run"},
			{Name: "trouble_amplification_ratio", Doc: "attempts per request in the outage, or in the bursts"},
			{Name: "success_ratio", Doc: "share of the requests that were answered well, whole run"},
			{Name: "trouble_success_ratio", Doc: "share of the requests started in the outage, or in the bursts, that were answered well"},
			{Name: "denied_ratio", Doc: "share of the retries asked for that the budget refused"},
			{Name: "first_second_retries_count", Doc: "retries sent in the first second of the outage, or of a burst: the mean of all bursts"},
			{Name: "late_retry_ratio", Doc: "retries sent per request in the second half of the outage"},
			{Name: "shut_off_s", Doc: "start of the outage to the first instant from which on until its end no second brings more than shut_ratio retries per request, s; never, if one in its last quarter does", Censored: "not_shut_off_count"},
			{Name: "come_back_s", Doc: "end of the outage to the last refused retry before ten in a row are sent, s; undefined if fewer than ten are asked for", Censored: "not_back_count"},
		}, retryMeasures...),
		Reps:    20,
		Check:   checkBudgetPresets,
		Measure: measureBudgetPresets,
		Logs:    everyCell,
		Exact:   exactBudgetPresets,
		Report:  reportBudgetPresets,
		Detail:  budgetPresetsSeries,
	}
}

func checkBudgetPresets(c Cell) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("experiments: budget-presets: "+format, args...)
	}
	for _, name := range []string{"burst_s", "every_s", "outage_at_s", "outage_s", "length_s"} {
		if tenths := 10 * c.Float(name); math.Abs(tenths-math.Round(tenths)) > 1e-6 {
			return fail("factor %s: %s s, want tenths of a second", name, c.Text(name))
		}
	}
	length := c.Float("length_s")
	switch c.Text("load") {
	case loadBursty:
		if b, e := c.Float("burst_s"), c.Float("every_s"); b >= e || e > length {
			return fail("burst_s = %s s, every_s = %s s, want a burst below every_s, and that at most length_s = %s s", c.Text("burst_s"), c.Text("every_s"), c.Text("length_s"))
		}
	case loadOutage:
		if end := c.Float("outage_at_s") + c.Float("outage_s"); end > length+1e-9 {
			return fail("outage_at_s + outage_s = %s s, want at most length_s = %s s", short(end, 1), c.Text("length_s"))
		}
	}
	rate := c.Float("rate_rps")
	if c.Text("load") == loadBursty {
		rate *= 1 + (c.Float("burst_factor")-1)*c.Float("burst_s")/c.Float("every_s")
	}
	if n := rate * length * c.Float("attempts"); n > maxAttemptsPerRun {
		return fail("requests × attempts = %s, want at most %g", formatNumber(math.Round(n)), float64(maxAttemptsPerRun))
	}
	return budgetPresetsConfig(c).Validate()
}

// A window is a stretch of time, in tenths of a second: [from, to).
type window struct{ from, to int }

// tenths is a time in tenths of a second.
func tenths(s float64) int { return int(math.Round(10 * s)) }

// trouble lists the bursts, or the outage, that lie inside the run.
func trouble(c Cell) []window {
	var w []window
	switch c.Text("load") {
	case loadBursty:
		every, burst := tenths(c.Float("every_s")), tenths(c.Float("burst_s"))
		for end := every; end <= tenths(c.Float("length_s")); end += every {
			w = append(w, window{end - burst, end})
		}
	case loadOutage:
		at := tenths(c.Float("outage_at_s"))
		w = append(w, window{at, at + tenths(c.Float("outage_s"))})
	}
	return w
}

const budgetStep = 100 * time.Millisecond // of the series

// budgetPresetsConfig describes the system of a cell.
func budgetPresetsConfig(c Cell) model.Config {
	calm, bad := c.Float("error_ratio"), c.Float("burst_error_ratio")
	if c.Text("load") == loadOutage {
		calm, bad = c.Float("calm_error_ratio"), 1
	}
	node := model.Node{Name: "server", Workers: model.Unlimited, Service: model.Law{Mean: seconds(c.Float("service_s"))}}
	fault := func(from, to int, ratio float64) {
		if ratio > 0 && from < to {
			node.Faults = append(node.Faults, model.Fault{Kind: model.FaultError, Ratio: ratio,
				Start: time.Duration(from) * budgetStep, End: time.Duration(to) * budgetStep})
		}
	}
	at := 0
	for _, w := range trouble(c) {
		fault(at, w.from, calm)
		fault(w.from, w.to, bad)
		at = w.to
	}
	fault(at, tenths(c.Float("length_s")), calm)
	budget := c.budget().Config
	return model.Config{
		Nodes: []model.Node{node},
		Clients: []model.Client{{
			Name:     "client",
			Arrivals: budgetArrivals(c),
			Steps: calls(model.Call{To: "server", Stack: model.Stack{{Retry: &model.RetryLayer{
				RetryConfig: policies.RetryConfig{Attempts: int(c.Float("attempts")), Backoff: budgetBackoff(c)},
				Budget:      &budget,
			}}}}),
		}},
		Horizon:  seconds(c.Float("length_s")),
		Interval: budgetStep,
	}
}

func budgetBackoff(c Cell) policies.BackoffConfig {
	if c.Float("base_s") == 0 || c.Float("attempts") == 1 {
		return policies.BackoffConfig{}
	}
	return policies.BackoffConfig{Kind: policies.FullJitter, Base: max(1, seconds(c.Float("base_s")))}
}

// budgetArrivals are those of a load; a burst is at the end of its time.
func budgetArrivals(c Cell) model.Arrivals {
	random := c.Text("arrivals") == "poisson"
	a := model.Arrivals{Kind: model.Fixed, RateRPS: c.Float("rate_rps")}
	if random {
		a.Kind = model.Poisson
	}
	if c.Text("load") == loadBursty {
		a.Kind, a.Random = model.Bursts, random
		a.OffRPS = a.RateRPS * c.Float("burst_factor")
		a.Off = seconds(c.Float("burst_s"))
		a.On = seconds(c.Float("every_s")) - a.Off
	}
	return a
}

func measureBudgetPresets(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	s, err := runSystem(ctx, j, budgetPresetsConfig(c))
	if err != nil {
		return nil, err
	}
	l := s.Ledger()
	link, client := l.Call("client", "server"), l.Client("client")
	f := readFlow(s.Series())
	bad := trouble(c)
	inTrouble := f.over(bad)
	first, late, shut, back := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if len(bad) > 0 {
		first = f.firstSecond(bad)
	}
	if c.Text("load") == loadOutage {
		late = f.lateRetries(bad[0])
		shut = f.shutOff(bad[0], c.Float("shut_ratio"))
		back = f.comeBack(bad[0].to)
	}
	sent := link.Attempts - min(link.Calls, link.Attempts)
	return [][]float64{withMeasures(l,
		quotient(link.Attempts, client.Requests),
		1+quotient(inTrouble.retries, inTrouble.requests),
		quotient(client.Succeeded, client.Succeeded+client.Failed),
		quotient(inTrouble.good, inTrouble.good+inTrouble.failed),
		quotient(link.Denied, link.Denied+sent),
		first, late, shut, back,
	)}, nil
}
