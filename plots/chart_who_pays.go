package plots

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["who-pays"] = drawWhoPays }

// payMetrics are the bills of who-pays, and what they buy.
var payMetrics = []struct {
	metric, title, label string
	scale                float64 // of the value as it is drawn
	decimals             int
}{
	{"user_success_ratio", "Users get", "requests that succeed, %", 100, 1},
	{"caller_threads_count", "The caller pays", "threads held", 1, 0},
	{"callee_attempts_rps", "The callee pays", "attempts per second", 1, 0},
	{"user_p99_s", "Users pay", "99 % of the requests end within, s", 1, 2},
	{"caller_rejected_ratio", "The caller's pool pays", "requests without a thread, %", 100, 1},
	{"unrelated_failed_ratio", "Unrelated work pays", "queries that fail, %", 100, 2},
}

// payStyles are those of the policies.
var payStyles = map[string]Style{
	"none":           NoRetry.Member(0),
	"retry":          Unlimited.Member(0),
	"budget":         Budget.Member(0),
	"breaker":        TimeWindow.Member(0),
	"budget-breaker": BudgetBreaker.Member(0),
}

// paySettings are the factors that some policies alone read.
var paySettings = []string{"attempts", "backoff_s", "ratio", "breaker", "open_s", "probes"}

// payRow names a row: the policy, and below it the settings that vary.
func payRow(t *table.Table, r table.Row) string {
	text, more := labelOf(t, "policy", t.Key(r, "policy")), ""
	for _, name := range paySettings {
		if len(t.Levels(name)) > 1 {
			more += ", " + name + " " + t.Key(r, name)
		}
	}
	if more != "" {
		text += "\n" + more[2:]
	}
	return text
}

// drawWhoPays shows all bills of the policies, a figure for each fault.
func drawWhoPays(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, append([]string{"policy"}, paySettings...)...) {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: payTitle(g),
			Subtitle: fmt.Sprintf("%s for %s s; %s users' requests and %s unrelated queries per second, %s threads at the caller, a shared pool of %s",
				payFault(g), key("fault_s"), key("rate_rps"), key("unrelated_rps"), key("threads"), key("pool")),
			Note:    " · whiskers: 95 % intervals of the mean (Student t)",
			Columns: 3, ShareY: true,
			Height: 260 + 2*(110+48*len(g.members)),
		}
		for _, m := range payMetrics {
			p := Panel{Title: m.title, X: Axis{Label: m.label}}
			e := Estimates{Label: m.label, Horizontal: true}
			for i, r := range g.members {
				policy := summary.Key(r, "policy")
				p.Y.Rows = append(p.Y.Rows, payRow(summary, r))
				v := func(column string) float64 { return m.scale * summary.Value(r, m.metric+column) }
				e.Points = append(e.Points, Estimate{
					At: float64(i), Mean: v("_mean"), Lo: max(0, v("_ci95_lo")), Hi: v("_ci95_hi"), Style: payStyles[policy],
					Text: compact(v("_mean"), m.decimals),
				})
			}
			if slices.ContainsFunc(e.Points, func(x Estimate) bool { return !math.IsNaN(x.Mean) }) {
				p.Marks = []Mark{e}
				f.Panels = append(f.Panels, p)
			}
		}
		if len(f.Panels) > 0 {
			drawings = append(drawings, Drawing{g.suffix(), f})
		}
	}
	return drawings, nil
}

// payFault says in words what is wrong.
func payFault(g group) string {
	if g.table.Key(g.members[0], "fault") == "stall" {
		return "a dependency of the callee answers nothing"
	}
	return "a dependency of the callee fails " + share(number(g.table.Key(g.members[0], "error_ratio")), 0) + " of its calls"
}

// payTitle says what retries buy the users and cost the others.
func payTitle(g group) string {
	get := func(policy, metric string) (float64, bool) {
		for _, r := range g.rows("policy", policy) {
			return g.table.Value(r, metric+"_mean"), true
		}
		return 0, false
	}
	type change struct{ from, to float64 }
	read := func(metric string) (c change, ok bool) {
		from, ok1 := get("none", metric)
		to, ok2 := get("retry", metric)
		return change{from, to}, ok1 && ok2
	}
	success, ok := read("user_success_ratio")
	if !ok {
		return "What each policy costs while the fault is on, and whom"
	}
	threads, _ := read("caller_threads_count")
	calls, _ := read("callee_attempts_rps")
	unrelated, _ := read("unrelated_failed_ratio")
	crowded, _ := read("caller_rejected_ratio")
	bill, what := unrelated, "failed unrelated work"
	if crowded.to-crowded.from > unrelated.to-unrelated.from {
		bill, what = crowded, "requests without a thread"
	}
	return fmt.Sprintf("Retries bring users from %s to %s success; the caller's threads go from %s to %s, the callee's attempts from %s/s to %s/s, %s from %s to %s",
		share(success.from, 1), share(success.to, 1), compact(threads.from, 0), compact(threads.to, 0),
		compact(calls.from, 0), compact(calls.to, 0), what, share(bill.from, 1), share(bill.to, 1))
}
