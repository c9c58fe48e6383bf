package experiments

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// exactBudgetBreaker knows chains without breakers: with retries that nothing
// bounds, and with buckets when every call fails.
func exactBudgetBreaker(c Cell, metric string, _ int) (float64, bool) {
	if metric == "c_bound_ratio" {
		return chainBound(c), true
	}
	spec, p := c.retry("retry"), c.Float("error_ratio")
	if c.Text("breaker") != breakerNone || c.Float("fail_s") != 0 {
		return 0, false
	}
	var received [3]float64 // attempts per request, by node
	var success float64
	switch {
	case spec.budget.Kind == "":
		received, success = chainAttempts(c, spec.attempts, p)
	case spec.bucket() && spec.budget.Kind == "tokens" && spec.budget.Tokens.Initial == 0 && p == 1:
		received = chainTokens(c, spec.budget.Tokens.Ratio)
	default:
		return 0, false
	}
	switch metric {
	case "success_ratio":
		return success, true
	case "a_amplification_ratio":
		return received[0], true
	case "b_amplification_ratio":
		return received[1], true
	case "c_amplification_ratio":
		return received[2], true
	case "refused_count", "openings_count", "open_ratio":
		return 0, true
	}
	return 0, false
}

// chainAttempts is the attempts per request at each node, and the share of
// requests that succeed, if the last node fails a share p of its calls: seen
// from above, a hop that makes n attempts turns p into pⁿ.
func chainAttempts(c Cell, attempts int, p float64) (received [3]float64, success float64) {
	for hop := len(chainHops) - 1; hop >= 0; hop-- {
		received[hop] = 1
		if retriesAt(c, hop) {
			received[hop], _ = theory.RetryAttempts(p, attempts) // p and attempts were checked
			p = math.Pow(p, float64(attempts))
		}
	}
	for hop := 1; hop < len(chainHops); hop++ {
		received[hop] *= received[hop-1]
	}
	return received, 1 - p
}

// chainTokens is the same for buckets that are empty at first, if every call
// fails: each hop grants the whole tokens it has earned.
func chainTokens(c Cell, ratio float64) (received [3]float64) {
	requests := math.Ceil(c.Float("rate_rps") * c.Float("horizon_s"))
	calls := requests
	for hop := range chainHops {
		if retriesAt(c, hop) {
			calls += math.Floor(calls*ratio + 1e-9)
		}
		received[hop] = calls / requests
	}
	return received
}

// comboWords names a combination of the grid.
func comboWords(c Cell) string {
	text := c.retry("retry").String()
	if c.retry("retry").retries() {
		switch c.Text("retry_at") {
		case layerClient:
			text += " at the client"
		case layerEach:
			text += " at each layer"
		default:
			text += " next to C"
		}
	}
	switch c.Text("breaker") {
	case breakerNone:
		return text + ", no breaker"
	case breakerInside:
		text += ", breakers inside"
	default:
		text += ", breakers outside"
	}
	if c.retry("retry").retries() && c.Text("retry_refused") == "yes" {
		text += ", refusals retried"
	}
	return text
}

func reportBudgetBreaker(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("retry", "breaker", "retry_at", "retry_refused") {
		c := p.Cells[cells[0]]
		t := table.Text{
			Caption: fmt.Sprintf("C fails %s of its calls: means of %s%s", formatPercent(c.Float("error_ratio")), r.replications(),
				p.varying(c, "retry", "breaker", "retry_at", "retry_refused", "error_ratio")),
			Header: []string{"combination", "success", "at A", "at B", "at C", "closed form", "bound", "retries good", "denied", "refused", "openings", "open"},
			Left:   1,
		}
		for _, i := range cells {
			mean := func(metric string, decimals int) string { return short(r.Stat(i, metric).Mean, decimals) }
			t.Append(comboWords(p.Cells[i]), mean("success_ratio", 3), mean("a_amplification_ratio", 3), mean("b_amplification_ratio", 3),
				mean("c_amplification_ratio", 3), short(r.Stat(i, "c_amplification_ratio").Exact, 3), mean("c_bound_ratio", 3),
				mean("retry_success_ratio", 3), mean("denied_count", 0), mean("refused_count", 0), mean("openings_count", 0), mean("open_ratio", 2))
		}
		if note := bestNote(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		if note := refusalNote(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		texts = append(texts, t)
	}
	return texts
}

// bestNote says in words which combination is best.
func bestNote(r *Result, cells []int) string {
	best := bestCombination(r, cells)
	if best < 0 {
		return ""
	}
	name, load := comboWords(r.Plan.Cells[best]), short(r.Stat(best, "c_amplification_ratio").Mean, 3)
	success := r.Stat(best, "success_ratio").Mean
	if success == 0 {
		return fmt.Sprintf("Nothing succeeds; what troubles C least is %s, with %s attempts per request.", name, load)
	}
	return fmt.Sprintf("Best: %s. No success ratio is more than 0.01 above its %s, and of the combinations as near to the highest it has the fewest attempts at C, %s per request.",
		name, short(success, 3), load)
}

// bestCombination is the cell with the fewest attempts at C among those whose
// success ratio is within 0.01 of the highest; -1 if nothing was measured.
func bestCombination(r *Result, cells []int) int {
	top := math.Inf(-1)
	for _, i := range cells {
		if v := r.Stat(i, "success_ratio").Mean; v > top {
			top = v
		}
	}
	best := -1
	for _, i := range cells {
		if r.Stat(i, "success_ratio").Mean < top-0.01 {
			continue
		}
		load := r.Stat(i, "c_amplification_ratio").Mean
		if best < 0 && !math.IsNaN(load) || best >= 0 && load < r.Stat(best, "c_amplification_ratio").Mean-1e-9 {
			best = i
		}
	}
	return best
}

// refusalNote compares a budget that is asked about refusals with the same one
// that is not, where they differ most in the retries that budgets deny.
func refusalNote(r *Result, cells []int) string {
	p := r.Plan
	text, most := "", 0.0
	for _, i := range cells {
		c := p.Cells[i]
		if c.Text("retry_refused") != "no" || c.Text("breaker") != breakerInside || c.retry("retry").budget.Kind == "" {
			continue
		}
		for _, k := range cells {
			o := p.Cells[k]
			if o.Text("retry_refused") != "yes" || !sameBut(c, o, "retry_refused") {
				continue
			}
			seen, unseen := r.Stat(k, "denied_count").Mean, r.Stat(i, "denied_count").Mean
			if d := seen - unseen; d > most {
				most = d
				text = fmt.Sprintf("A budget hears of a breaker's refusals only if its own layer retries them: with %s it denies %s retries if it does and %s if not; "+
					"further up, a refusal is a status 503 like any other.", comboWords(c), short(seen, 0), short(unseen, 0))
			}
		}
	}
	return text
}
