package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

// maxDetailed is how many cells a report lists one by one.
const maxDetailed = 24

// reportAmplification shows two tables of failure ratio by policy, and lists
// the cells that the article has, or all if they are few.
func reportAmplification(r *Result) []table.Text {
	var texts []table.Text
	x := newCross(r.Plan, "failure_ratio", "policy")
	for _, o := range x.others {
		texts = append(texts,
			x.text("Attempts per request: means of "+r.replications(), o, []crossRow{
				{"", func(i int) string { return fixed(r.Stat(i, "amplification_ratio").Mean, 3) }},
			}),
			x.text("Requests answered well, %", o, []crossRow{
				{"", func(i int) string { return fixed(100*r.Stat(i, "success_ratio").Mean, 1) }},
			}))
	}
	texts[len(texts)-1].Notes = append(bindingNotes(r.Plan), idleNotes(r.Plan)...)
	if d := amplificationCells(r); len(d.Rows) > 0 {
		texts = append(texts, d)
	}
	return texts
}

// amplificationCells sets means beside closed forms and the article.
func amplificationCells(r *Result) table.Text {
	t := table.Text{
		Caption: "Beside the closed form: means of " + r.replications(),
		Header:  []string{"failure ratio", "policy", "attempts per request [95 %]", "closed form", "z", "article", "success %", "closed form", "article"},
		Left:    2,
	}
	all := len(r.Plan.Cells) <= maxDetailed
	for i, c := range r.Plan.Cells {
		a, s := r.Stat(i, "amplification_ratio"), r.Stat(i, "success_ratio")
		if !all && math.IsNaN(a.Article) {
			continue
		}
		t.Append(c.Text("failure_ratio")+r.Plan.varying(c, "failure_ratio", "policy"), c.retry("policy").String(),
			meanCI(a, 4), exact(a, 4), fixed(a.Z, 1), article(a, 3),
			fixed(100*s.Mean, 2), fixed(100*s.Exact, 2), fixed(100*s.Article, 1))
	}
	return t
}

// idleNotes names the policies that bound retries in progress where attempts
// take no time, so that none is ever in progress.
func idleNotes(p *Plan) []string {
	var names []string
	for _, level := range p.level("policy") {
		switch s := mustParseRetry(level); s.budget.Kind {
		case policies.BudgetShare, policies.BudgetConcurrent:
			names = append(names, s.String())
		}
	}
	if len(names) == 0 || !slices.Contains(p.level("service_s"), "0") {
		return nil
	}
	return []string{"With service_s = 0 no attempt takes time, so none is in progress when a retry is asked for, and a bound on retries in progress that allows one never binds: " +
		strings.Join(names, "; ") + ". Set service_s above 0, so that requests overlap."}
}

// bindingNotes says from which failure ratio on the budgets bind.
func bindingNotes(p *Plan) []string {
	var binding []string
	float := false
	for _, level := range p.level("policy") {
		s := mustParseRetry(level)
		if b := s.binds(); !math.IsNaN(b) {
			binding = append(binding, fmt.Sprintf("%s from p = %s", s, fixed(b, 3)))
		}
		float = float || strings.HasSuffix(level, "-float")
	}
	var notes []string
	if len(binding) > 0 {
		notes = append(notes, "A budget binds once more retries are wanted than it earns in the long run: "+strings.Join(binding, ", ")+
			". It then makes 1 + r attempts of a request in the long run; in a run of so many requests the tokens held at first come on top, and those not yet spent are missing. The success is always (1 − p) × attempts per request.")
	}
	if float {
		notes = append(notes, "Float tokens: 0.1 added ten times is 0.9999999999999999 in float64, so the first retry waits for the eleventh request.")
	}
	return notes
}
