package experiments

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/table"
)

// reportTimeline shows calls and success, policy by second, with the article's
// values below ours.
func reportTimeline(r *Result) []table.Text {
	var texts []table.Text
	var others []string
	for _, c := range r.Plan.Cells {
		if o := r.Plan.varying(c, "policy", "second"); !slices.Contains(others, o) {
			others = append(others, o)
		}
	}
	for _, o := range others {
		calls := secondsText(r, "Calls at the server, second by second", o, "calls_count", 1)
		success := secondsText(r, "Requests answered well, %, by the second they were made in", o, "success_ratio", 100)
		calls.Notes = extraCalls(r, o)
		texts = append(texts, calls, success)
	}
	return texts
}

// secondsText is a table of means, policy by second, of the cells whose other
// factors read as given.
func secondsText(r *Result, what, others, metric string, factor float64) table.Text {
	t := table.Text{
		Caption: fmt.Sprintf("%s: %s%s", what, r.replications(), others),
		Header:  []string{"policy"},
		Left:    1,
	}
	for _, s := range r.Plan.level("second") {
		t.Header = append(t.Header, s)
	}
	for _, policy := range r.Plan.level("policy") {
		ours, theirs := []string{mustParseRetry(policy).String()}, []string{"  article"}
		printed := false
		for i, c := range r.Plan.Cells {
			if c.Text("policy") != policy || r.Plan.varying(c, "policy", "second") != others {
				continue
			}
			s := r.Stat(i, metric)
			ours = append(ours, short(factor*s.Mean, 1))
			theirs = append(theirs, fixed(factor*s.Article, 0))
			printed = printed || !math.IsNaN(s.Article)
		}
		t.Append(ours...)
		if printed {
			t.Append(theirs...)
		}
	}
	return t
}

// extraCalls says how many retries each policy made, and how many it was
// refused.
func extraCalls(r *Result, others string) []string {
	var notes []string
	for _, policy := range r.Plan.level("policy") {
		retries, denied := 0.0, 0.0
		for i, c := range r.Plan.Cells {
			if c.Text("policy") == policy && r.Plan.varying(c, "policy", "second") == others {
				retries += r.Stat(i, "retries_count").Mean
				denied += r.Stat(i, "denied_count").Mean
			}
		}
		if s := mustParseRetry(policy); s.retries() {
			note := fmt.Sprintf("%s: %s retries", s, short(retries, 1))
			if s.budget.Kind != "" {
				note += fmt.Sprintf(", %s refused", short(denied, 1))
			}
			notes = append(notes, note+".")
		}
	}
	return notes
}
