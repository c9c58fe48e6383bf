package experiments

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

// reportTimeline shows calls and success, policy by second, with the article's
// values below ours.
func reportTimeline(r *Result) []table.Text {
	var texts []table.Text
	x := newCross(r.Plan, "policy", "second")
	for _, o := range x.others {
		calls := x.text("Calls at the server, second by second: "+r.replications(), o, []crossRow{
			{"", func(i int) string { return short(r.Stat(i, "calls_count").Mean, 1) }},
			{"  article", func(i int) string { return fixed(r.Stat(i, "calls_count").Article, 0) }},
		})
		calls.Notes = extraCalls(r, x, o)
		texts = append(texts, calls, x.text("Requests answered well, %, by the second they were made in", o, []crossRow{
			{"", func(i int) string { return short(100*r.Stat(i, "success_ratio").Mean, 1) }},
			{"  article", func(i int) string { return fixed(100*r.Stat(i, "success_ratio").Article, 0) }},
		}))
	}
	return texts
}

// extraCalls says how many retries each policy made, and how many it was
// refused.
func extraCalls(r *Result, x cross, others string) []string {
	var notes []string
	for _, policy := range r.Plan.level("policy") {
		s := mustParseRetry(policy)
		if !s.retries() {
			continue
		}
		retries, denied := 0.0, 0.0
		for _, second := range r.Plan.level("second") {
			if i := x.cell(others, policy, second); i >= 0 {
				retries += r.Stat(i, "retries_count").Mean
				denied += r.Stat(i, "denied_count").Mean
			}
		}
		note := fmt.Sprintf("%s: %s retries", s, short(retries, 1))
		if s.budget.Kind != "" {
			note += fmt.Sprintf(", %s refused", short(denied, 1))
		}
		notes = append(notes, note+".")
	}
	return notes
}
