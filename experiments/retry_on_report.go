package experiments

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

func reportRetryOn(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("policy", "budget_ratio", "permanent_ratio") {
		c := p.Cells[cells[0]]
		limit := "no limit"
		if c.Float("limit_rps") > 0 {
			limit = "429 above " + c.Text("limit_rps") + " attempts/s"
		}
		t := table.Text{
			Caption: fmt.Sprintf("%s requests/s, %s of the attempts end in %s, %s: means of %s%s", c.Text("rate_rps"), formatPercent(c.Float("transient_ratio")),
				c.Text("transient"), limit, r.replications(), p.varying(c, "policy", "budget_ratio", "permanent_ratio", "limit_rps", "transient", "transient_ratio")),
			Header: []string{"retried", "budget", "400s", "attempts/request", "closed form", "success of the rest", "closed form", "wasted", "closed form", "429s", "closed form", "no budget"},
			Left:   2,
		}
		for _, i := range cells {
			c := p.Cells[i]
			s := func(metric string) Stat { return r.Stat(i, metric) }
			t.Append(retryOnWords(c.Text("policy")), budgetWords(c), formatPercent(c.Float("permanent_ratio")),
				short(s("amplification_ratio").Mean, 3), exact(s("amplification_ratio"), 3),
				short(s("good_success_ratio").Mean, 3), exact(s("good_success_ratio"), 3),
				short(s("wasted_ratio").Mean, 3), exact(s("wasted_ratio"), 3),
				short(s("limited_ratio").Mean, 3), exact(s("limited_ratio"), 3), short(s("denied_count").Mean, 0))
		}
		if note := retryOnNote(r, cells); note != "" {
			t.Notes = append(t.Notes, note)
		}
		texts = append(texts, t)
	}
	if n := len(texts); n > 0 {
		texts[n-1].Notes = append(texts[n-1].Notes, "Wasted: retries that did not succeed ÷ all attempts. 429s: share of the attempts. No budget: retries that the budget refused in a run.")
	}
	return texts
}

// budgetWords is the budget of a cell.
func budgetWords(c Cell) string {
	l := retryOnLayer(c)
	switch {
	case l == nil:
		return Blank
	case l.Budget == nil:
		return "none"
	}
	return formatPercent(l.Budget.Tokens.Ratio + l.Budget.Counter.Ratio)
}

// retryOnNote compares retries of any error with retries of 5xx, where the most
// requests are answered 400.
func retryOnNote(r *Result, cells []int) string {
	p := r.Plan
	of := func(policy string) int {
		best := -1
		for _, i := range cells {
			c := p.Cells[i]
			if c.Text("policy") == policy && (best < 0 || c.Float("permanent_ratio") > p.Cells[best].Float("permanent_ratio")) && c.first("budget_ratio") {
				best = i
			}
		}
		return best
	}
	any, some := of(retryOnAny), of(retryOn5xx)
	if any < 0 || some < 0 || p.Cells[any].Text("permanent_ratio") != p.Cells[some].Text("permanent_ratio") {
		return ""
	}
	get := func(i int, metric string) float64 { return r.Stat(i, metric).Mean }
	text := fmt.Sprintf("With %s of the requests answered 400, retrying any error makes %s attempts per request where retrying 5xx makes %s; %s of its attempts are wasted, against %s, and %s of the other requests succeed, against %s.",
		shareText(p.Cells[any].Float("permanent_ratio")), short(get(any, "amplification_ratio"), 2), short(get(some, "amplification_ratio"), 2),
		shareText(get(any, "wasted_ratio")), shareText(get(some, "wasted_ratio")), shareText(get(any, "good_success_ratio")), shareText(get(some, "good_success_ratio")))
	if but := of(retryOnBut429); but >= 0 && p.Cells[but].Text("permanent_ratio") == p.Cells[any].Text("permanent_ratio") &&
		get(but, "good_success_ratio") < get(any, "good_success_ratio")-0.005 {
		text += fmt.Sprintf(" To leave out 429 alone is worse, %s: the 400s still fill the limit, and whom it turns away does not come back.", shareText(get(but, "good_success_ratio")))
	}
	return text
}
