package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	{"user_p99_s", "Users pay", "99 % with a thread end within, s", 1, 2},
	{"caller_rejected_ratio", "Users turned away", "requests without a thread, %", 100, 1},
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

// payReads reports whether a policy reads a setting.
func payReads(policy, setting string) bool {
	switch setting {
	case "attempts", "backoff_s":
		return policy != "none"
	case "ratio":
		return policy == "budget" || policy == "budget-breaker"
	}
	return policy == "breaker" || policy == "budget-breaker"
}

// payRow names a row: the policy, and below it the settings that vary.
func payRow(t *table.Table, r table.Row) string {
	text, more := labelOf(t, "policy", t.Key(r, "policy")), ""
	for _, name := range paySettings {
		if len(t.Levels(name)) > 1 && payReads(t.Key(r, "policy"), name) {
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
		if key("fault") == "stall" { // which does not read error_ratio
			g.varying = slices.DeleteFunc(slices.Clone(g.varying), func(name string) bool { return name == "error_ratio" })
		}
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
	none, retries := g.rows("policy", "none"), g.rows("policy", "retry")
	if len(none) == 0 || len(retries) == 0 {
		return "What each policy costs while the fault is on, and whom"
	}
	var bills []string
	changes := func(metric, format string, render func(float64) string) (from, to float64, differ bool) {
		from, to = g.table.Value(none[0], metric+"_mean"), g.table.Value(retries[0], metric+"_mean")
		a, b := render(from), render(to)
		if a != b && format != "" {
			bills = append(bills, fmt.Sprintf(format, a, b))
		}
		return from, to, a != b
	}
	count := func(v float64) string { return compact(v, 0) }
	tenths := func(v float64) string { return share(v, 1) }
	changes("caller_threads_count", "the caller's threads go from %s to %s", count)
	changes("callee_attempts_rps", "the callee's attempts from %s/s to %s/s", count)
	failed, fails, _ := changes("unrelated_failed_ratio", "", tenths)
	crowded, crowds, _ := changes("caller_rejected_ratio", "", tenths)
	if crowds-crowded > fails-failed {
		changes("caller_rejected_ratio", "requests without a thread from %s to %s", tenths)
	} else {
		changes("unrelated_failed_ratio", "failed unrelated work from %s to %s", tenths)
	}
	who := "Retries"
	if len(retries) > 1 {
		_, settings, _ := strings.Cut(payRow(g.table, retries[0]), "\n")
		who += " (" + settings + ")"
	}
	from, to, differ := changes("user_success_ratio", "", tenths)
	text := fmt.Sprintf("%s bring users from %s to %s success", who, share(from, 1), share(to, 1))
	if !differ {
		text = fmt.Sprintf("%s leave users at %s success", who, share(to, 1))
	}
	if len(bills) > 0 {
		text += "; " + strings.Join(bills, ", ")
	}
	return text
}
