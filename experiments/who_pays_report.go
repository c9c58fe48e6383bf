package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// exactWhoPays knows errors that are answered at once, where threads and
// connections are far from scarce: attempts fail independently.
func exactWhoPays(c Cell, metric string, _ int) (float64, bool) {
	attempts := 1
	switch c.Text("policy") {
	case payNone:
	case payRetry:
		attempts = int(c.Float("attempts"))
	default:
		return 0, false
	}
	p := c.Float("error_ratio")
	calls := c.Float("rate_rps") * retrySeries(p, attempts)
	offered := (calls + c.Float("unrelated_rps")) * c.Float("query_s") / c.Float("pool")
	threads := calls * (c.Float("query_s") + payCaller + 2*c.Float("backoff_s")*math.Pow(2, float64(attempts)))
	if c.Text("fault") != payError || offered > 0.7 || c.Float("pool") < 10 || c.Float("pool_waiting") < 20 ||
		c.Float("timeout_s") < 12*c.Float("query_s") || threads > c.Float("threads")/2 {
		return 0, false
	}
	switch metric {
	case "user_success_ratio":
		return 1 - math.Pow(p, float64(attempts)), true
	case "callee_attempts_rps":
		// Retries of the last requests come after the fault.
		return calls, attempts == 1
	}
	return 0, false
}

func reportWhoPays(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("policy", "attempts", "backoff_s", "ratio", "breaker", "open_s", "probes") {
		c := p.Cells[cells[0]]
		what := "answers nothing"
		if c.Text("fault") == payError {
			what = "fails " + percent(c.Float("error_ratio"), 0) + " of its calls"
		}
		t := table.Text{
			Caption: fmt.Sprintf("Who pays while the dependency %s: means of %s%s", what, r.replications(),
				p.varying(c, "fault", "policy", "attempts", "backoff_s", "ratio", "breaker", "open_s", "probes", "error_ratio")),
			Header: []string{"policy", "caller: threads held", "s/request", "no thread", "callee: attempts/s", "×", "pool busy",
				"unrelated: failed", "p99 s", "users: success", "closed form", "p50 s", "p99 s"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(payWords[p.Cells[i].Text("policy")]+paySetting(p, p.Cells[i]),
				short(get("caller_threads_count").Mean, 1), short(get("caller_held_s").Mean, 3), percent(get("caller_rejected_ratio").Mean, 1),
				short(get("callee_attempts_rps").Mean, 0), short(get("callee_load_ratio").Mean, 2), percent(get("pool_busy_ratio").Mean, 0),
				percent(get("unrelated_failed_ratio").Mean, 2), short(get("unrelated_p99_s").Mean, 3),
				percentCI(get("user_success_ratio"), 1), payExact(get("user_success_ratio")), short(get("user_p50_s").Mean, 3), short(get("user_p99_s").Mean, 2))
		}
		if note := payNote(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		if note := payBrink(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		texts = append(texts, t)
	}
	if n := len(texts); n > 0 {
		late := 0.0 // unrelated queries that the pool took and that were late
		for i := range p.Cells {
			late = max(late, r.Stat(i, "unrelated_failed_ratio").Mean-r.Stat(i, "unrelated_rejected_ratio").Mean)
		}
		how := "The pool rejected all unrelated queries that failed."
		if late > 0 {
			how = "Unrelated queries fail that the pool rejects, or that are late: " + percent(late, 2) + " of them at most."
		}
		texts[n-1].Notes = append(texts[n-1].Notes, how+" The users' p50 and p99 are of requests that got a thread. The fault goes on until the last request has ended.")
	}
	return texts
}

// paySetting names the settings of a cell that vary and that its policy reads.
func paySetting(p *Plan, c Cell) string {
	var others []string
	for _, f := range p.Factors {
		if !slices.Contains(paySettings, f.Name) || !payReads(c.Text("policy"), f.Name) {
			others = append(others, f.Name)
		}
	}
	return p.varying(c, others...)
}

func payExact(s Stat) string {
	if math.IsNaN(s.Exact) {
		return Blank
	}
	return percent(s.Exact, 1)
}

// payNote says in words what retries cost against none, and who is charged. Of
// several settings it takes the first.
func payNote(r *Result, cells []int) string {
	p := r.Plan
	none, retry, retries := -1, -1, 0
	for _, i := range cells {
		switch p.Cells[i].Text("policy") {
		case payNone:
			none = i
		case payRetry:
			if retries++; retries == 1 {
				retry = i
			}
		}
	}
	if none < 0 || retry < 0 {
		return ""
	}
	which := ""
	if retries > 1 {
		which = " (" + strings.TrimPrefix(paySetting(p, p.Cells[retry]), " · ") + ")"
	}
	var bills []string
	add := func(metric, format string, render func(float64) string) {
		from, to := render(r.Stat(none, metric).Mean), render(r.Stat(retry, metric).Mean)
		if from != to {
			bills = append(bills, fmt.Sprintf(format, to, from))
		}
	}
	number := func(decimals int) func(float64) string { return func(v float64) string { return short(v, decimals) } }
	share := func(decimals int) func(float64) string { return func(v float64) string { return percent(v, decimals) } }
	add("caller_threads_count", "the caller holds %s threads instead of %s", number(0))
	add("caller_rejected_ratio", "it has none for %s of the requests instead of %s", share(1))
	add("callee_attempts_rps", "the callee gets %s attempts/s instead of %s", number(0))
	add("unrelated_failed_ratio", "%s of the unrelated work fails instead of %s", share(2))
	add("user_p99_s", "the users' p99 is %s s instead of %s s", number(2))
	from, to := percent(r.Stat(none, "user_success_ratio").Mean, 1), percent(r.Stat(retry, "user_success_ratio").Mean, 1)
	text := fmt.Sprintf("Retries%s change the users' success from %s to %s.", which, from, to)
	if from == to {
		text = fmt.Sprintf("Retries%s change nothing for the users, of whom %s succeed.", which, to)
	}
	if len(bills) > 0 {
		how := " For that "
		if from == to {
			how = " Even so "
		}
		last := len(bills) - 1
		if last > 0 {
			bills[last] = "and " + bills[last]
		}
		text += how + strings.Join(bills, ", ") + "."
	}
	return text
}

// payBrink warns of breakers that open at about the share of calls that fail.
func payBrink(r *Result, cells []int) string {
	const near = 0.05
	for _, i := range cells {
		c := r.Plan.Cells[i]
		if c.Text("fault") != payError || !payReads(c.Text("policy"), "breaker") {
			continue
		}
		spec, err := parsePolicy(c.Text("breaker"))
		if err != nil {
			continue
		}
		if at, fails := spec.rule.FailureRate, c.Float("error_ratio"); math.Abs(at-fails) < near {
			return fmt.Sprintf("The breaker opens when %s of the calls fail, and %s do: when it opens is a matter of chance, and a few points more or less of either change its rows a lot.", percent(at, 0), percent(fails, 0))
		}
	}
	return ""
}
