package experiments

import (
	"fmt"
	"math"
	"strings"

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
	case "refused_count", "breaker_openings_count", "breaker_open_s", "open_ratio":
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

// layerWords says which layers retry.
func layerWords(c Cell) string {
	switch c.Text("retry_at") {
	case retryOutermost:
		return "the client"
	case retryAll:
		return "each layer"
	}
	return "next to C"
}

// guardWords is a retry policy and where the breakers stand.
func guardWords(c Cell) string {
	return c.retry("retry").String() + breakerWords(c)
}

// breakerWords says where the breakers stand.
func breakerWords(c Cell) string {
	text := ", breakers outside"
	switch c.Text("breaker") {
	case breakerNone:
		return ", no breaker"
	case breakerInside:
		text = ", breakers inside"
	}
	if c.retry("retry").retries() && c.Text("retry_refused") == "yes" {
		text += ", refusals retried"
	}
	return text
}

// comboWords names a combination of the grid.
func comboWords(c Cell) string {
	text := c.retry("retry").String()
	if !c.retry("retry").retries() {
		return text + breakerWords(c)
	}
	where := layerWords(c)
	if c.Text("retry_at") != retryInnermost {
		where = "at " + where
	}
	return text + " " + where + breakerWords(c)
}

func reportBudgetBreaker(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("retry", "breaker", "retry_at", "retry_refused") {
		c := p.Cells[cells[0]]
		t := table.Text{
			Caption: fmt.Sprintf("C fails %s of its calls, %s requests a run: means of %s%s", formatPercent(c.Float("error_ratio")),
				formatNumber(chainRequests(c)), r.replications(), p.varying(c, "retry", "breaker", "retry_at", "retry_refused", "error_ratio")),
			Header: []string{"combination", "success", "at A", "at B", "at C", "closed form", "z", "bound", "retries good", "denied", "refused", "openings", "open"},
			Left:   1,
		}
		for _, i := range cells {
			mean := func(metric string, decimals int) string { return short(r.Stat(i, metric).Mean, decimals) }
			last := r.Stat(i, "c_amplification_ratio")
			t.Append(comboWords(p.Cells[i]), mean("success_ratio", 3), mean("a_amplification_ratio", 3), mean("b_amplification_ratio", 3),
				short(last.Mean, 3), exact(last, 3), fixed(last.Z, 1), mean("c_bound_ratio", 3),
				mean("retry_success_ratio", 3), mean("denied_count", 0), mean("refused_count", 0), mean("breaker_openings_count", 0), mean("open_ratio", 2))
		}
		for _, note := range []string{bestNote(r, cells), layerNote(r, cells), refusalNote(r, cells)} {
			if note != "" {
				t.Notes = append(t.Notes, note)
			}
		}
		texts = append(texts, t)
	}
	if n := len(texts); n > 0 {
		texts[n-1].Notes = append(texts[n-1].Notes, "At A, B, C, closed form and bound: attempts per request; closed form and z of those at C. "+
			"Retries good: share of the tries after the first of a call, on all hops, that succeeded; a try is an attempt, or what the caller's own breaker refused in its place. "+
			"Counts of a run, on all hops: denied, retries that budgets refused; refused, calls that breakers refused; openings of breakers, those after a failed probe included. "+
			"Open: share of the run in which the breaker before C was open.")
	}
	return texts
}

// chainLoad is the attempts per request at all nodes together.
func chainLoad(r *Result, cell int) float64 {
	return r.Stat(cell, "a_amplification_ratio").Mean + r.Stat(cell, "b_amplification_ratio").Mean + r.Stat(cell, "c_amplification_ratio").Mean
}

// bestNote says in words which combination is best.
func bestNote(r *Result, cells []int) string {
	best := bestCombination(r, cells)
	if best < 0 || len(cells) < 2 {
		return ""
	}
	name, load := comboWords(r.Plan.Cells[best]), short(chainLoad(r, best), 3)
	success := r.Stat(best, "success_ratio").Mean
	if success == 0 {
		return fmt.Sprintf("Nothing succeeds. Least load: %s, with %s attempts per request at A, B and C together.", name, load)
	}
	return fmt.Sprintf("Best: %s, with a success of %s: none succeeds in more than 0.01 above that, and of those within 0.01 of the highest it makes the fewest attempts at A, B and C together, %s per request.",
		name, short(success, 3), load)
}

// bestCombination is the cell with the fewest attempts at all nodes among those
// whose success ratio is within 0.01 of the highest; -1 if nothing was measured.
func bestCombination(r *Result, cells []int) int {
	top := math.Inf(-1)
	for _, i := range cells {
		if v := r.Stat(i, "success_ratio").Mean; v > top {
			top = v
		}
	}
	best := -1
	for _, i := range cells {
		if !(r.Stat(i, "success_ratio").Mean >= top-0.01) {
			continue
		}
		if load := chainLoad(r, i); best < 0 && !math.IsNaN(load) || best >= 0 && load < chainLoad(r, best)-1e-9 {
			best = i
		}
	}
	return best
}

// layerNote answers which layer should retry: for each policy and place of the
// breakers, the layer whose combination is best.
func layerNote(r *Result, cells []int) string {
	p := r.Plan
	var order []string
	groups := map[string][]int{}
	for _, i := range cells {
		c := p.Cells[i]
		if !c.retry("retry").retries() {
			continue
		}
		key := guardWords(c)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	var parts []string
	for _, key := range order {
		best := bestCombination(r, groups[key])
		if best < 0 || len(groups[key]) < 2 {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s: %s (%s at %s)", key, layerWords(p.Cells[best]),
			short(r.Stat(best, "success_ratio").Mean, 3), short(chainLoad(r, best), 3)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Which layer should retry, by the same rule (success at attempts per request, all nodes together): " + strings.Join(parts, "; ") + "."
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
