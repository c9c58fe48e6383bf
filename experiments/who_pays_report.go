package experiments

import (
	"fmt"
	"math"

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
				"unrelated: rejected", "failed", "p99 s", "users: success", "closed form", "p50 s", "p99 s"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(payWords[p.Cells[i].Text("policy")]+p.varying(p.Cells[i], payOthers(p)...),
				short(get("caller_threads_count").Mean, 1), short(get("caller_held_s").Mean, 3), percent(get("caller_rejected_ratio").Mean, 1),
				short(get("callee_attempts_rps").Mean, 0), short(get("callee_load_ratio").Mean, 2), percent(get("pool_busy_ratio").Mean, 0),
				percent(get("unrelated_rejected_ratio").Mean, 2), percent(get("unrelated_failed_ratio").Mean, 2), short(get("unrelated_p99_s").Mean, 3),
				percentCI(get("user_success_ratio"), 1), payExact(get("user_success_ratio")), short(get("user_p50_s").Mean, 3), short(get("user_p99_s").Mean, 2))
		}
		if note := payNote(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		texts = append(texts, t)
	}
	return texts
}

// payOthers are the factors that a row of the report does not name.
func payOthers(p *Plan) []string {
	var names []string
	for _, f := range p.Factors {
		switch f.Name {
		case "attempts", "backoff_s", "ratio", "breaker", "open_s", "probes":
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

func payExact(s Stat) string {
	if math.IsNaN(s.Exact) {
		return Blank
	}
	return percent(s.Exact, 1)
}

// payNote says in words what retries cost against none, and who is charged.
func payNote(r *Result, cells []int) string {
	none, retry := -1, -1
	for _, i := range cells {
		switch r.Plan.Cells[i].Text("policy") {
		case payNone:
			none = i
		case payRetry:
			retry = i
		}
	}
	if none < 0 || retry < 0 {
		return ""
	}
	v := func(i int, metric string) float64 { return r.Stat(i, metric).Mean }
	return fmt.Sprintf("Retries change the users' success from %s to %s. For that the caller holds %s threads instead of %s and has none for %s of the requests instead of %s, the callee gets %s attempts/s instead of %s, "+
		"%s of the unrelated work fails instead of %s, and the users' p99 is %s s instead of %s s.",
		percent(v(none, "user_success_ratio"), 1), percent(v(retry, "user_success_ratio"), 1),
		short(v(retry, "caller_threads_count"), 0), short(v(none, "caller_threads_count"), 0),
		percent(v(retry, "caller_rejected_ratio"), 1), percent(v(none, "caller_rejected_ratio"), 1),
		short(v(retry, "callee_attempts_rps"), 0), short(v(none, "callee_attempts_rps"), 0),
		percent(v(retry, "unrelated_failed_ratio"), 2), percent(v(none, "unrelated_failed_ratio"), 2),
		short(v(retry, "user_p99_s"), 2), short(v(none, "user_p99_s"), 2))
}
