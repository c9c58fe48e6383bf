package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["amplification"] = drawAmplification }

// drawAmplification shows the attempts that policies make of a request, and
// the requests they save, over the share of attempts that fail.
func drawAmplification(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no bounds")
	}
	bounds := details[0]
	var drawings []Drawing
	styles := retryStyles(summary.Levels("policy"))
	for _, g := range groups(summary, "policy", "failure_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: glued(amplificationTitle(summary, g)),
			Subtitle: fmt.Sprintf("%s requests, each attempt fails at random with the same probability and is repeated at once%s",
				compact(number(key("requests")), 0), g.title()),
			Note:   " · 95 % intervals of the mean (Student t)",
			Height: 900,
			ShareX: true,
			Key: []KeyItem{
				{KeyInterval, Neutral.Member(0), "simulated mean, 95 %"},
				{KeyLine, Neutral.Member(0), "closed form: (1 − pⁿ) / (1 − p), under a budget at most 1 + r"},
			},
		}
		calls := Panel{X: failureAxis, Y: Axis{Label: "attempts per request"}, Marks: []Mark{Rule{At: 1}}}
		success := Panel{X: failureAxis, Y: Axis{Label: "requests answered well, %", Range: [2]float64{0, 100}}, Weight: 0.6}
		var printed, printedSuccess published
		for _, policy := range summary.Levels("policy") {
			rows := g.rows("policy", policy)
			if len(rows) == 0 {
				continue
			}
			label := summary.Label(rows[0], "policy")
			dots := Scatter{Label: label, Style: styles[policy]}
			dots.Style.Size = 4.5
			saved := Line{Style: styles[policy]} // named in the panel above
			for _, r := range rows {
				x := number(summary.Key(r, "failure_ratio"))
				dots.X, dots.Y = append(dots.X, x), append(dots.Y, summary.Value(r, "amplification_ratio_mean"))
				dots.YLo = append(dots.YLo, summary.Value(r, "amplification_ratio_ci95_lo"))
				dots.YHi = append(dots.YHi, summary.Value(r, "amplification_ratio_ci95_hi"))
				saved.X, saved.Y = append(saved.X, x), append(saved.Y, 100*summary.Value(r, "success_ratio_mean"))
				saved.Lo = append(saved.Lo, 100*summary.Value(r, "success_ratio_ci95_lo"))
				saved.Hi = append(saved.Hi, 100*summary.Value(r, "success_ratio_ci95_hi"))
				printed.add(x, summary.Value(r, "amplification_ratio_article"))
				printedSuccess.add(x, 100*summary.Value(r, "success_ratio_article"))
			}
			if !anyWidth(saved.Lo, saved.Hi) {
				saved.Lo, saved.Hi = nil, nil
			}
			if bound := boundLine(bounds, policy); len(bound.X) > 0 {
				bound.Label, bound.Style = label, styles[policy]
				calls.Marks = append(calls.Marks, bound)
			} else {
				calls.Marks = append(calls.Marks, Line{Label: label, X: dots.X, Y: dots.Y, Style: styles[policy]})
			}
			calls.Marks = append(calls.Marks, dots)
			success.Marks = append(success.Marks, saved)
		}
		calls.Marks = append(calls.Marks, printed.marks()...)
		success.Marks = append(success.Marks, printedSuccess.marks()...)
		f.Key = append(f.Key, printed.key()...)
		f.Panels = []Panel{calls, success}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

var failureAxis = Axis{Label: "share of attempts that fail, p"}

// boundLine is the closed form of a policy; empty if it has none.
func boundLine(bounds *table.Table, policy string) (l Line) {
	for _, r := range bounds.Select(map[string]string{"policy": policy}) {
		l.X = append(l.X, number(bounds.Key(r, "failure_ratio")))
		l.Y = append(l.Y, bounds.Value(r, "amplification_ratio"))
	}
	return l
}

// amplificationTitle compares the policies that make the most attempts and the
// fewest beyond one, at the highest and at the lowest failure ratio.
func amplificationTitle(summary *table.Table, g group) string {
	lowest, highest := math.Inf(1), 0.0
	for _, r := range g.members {
		if p := number(summary.Key(r, "failure_ratio")); p > 0 {
			lowest, highest = min(lowest, p), max(highest, p)
		}
	}
	if highest == 0 {
		return "Without failures there is nothing to try again"
	}
	most, least := extremePolicies(summary, g, highest)
	if least.name == "" {
		return fmt.Sprintf("%s %s makes %s attempts of a request", withFailures(highest), most.name, Number(most.value, 2))
	}
	text := fmt.Sprintf("%s %s makes %s attempts of a request, %s makes %s",
		withFailures(highest), most.name, Number(most.value, 2), least.name, Number(least.value, 2))
	if lowest < highest {
		a := policyValue(summary, g, most.policy, lowest, "amplification_ratio_mean")
		b := policyValue(summary, g, least.policy, lowest, "amplification_ratio_mean")
		x, y := Number(a, 2), Number(b, 2)
		if x == y {
			return text + fmt.Sprintf("; with %s %% failures both make %s", compact(100*lowest, 2), x)
		}
		text += fmt.Sprintf("; with %s %% they make %s and %s", compact(100*lowest, 2), x, y)
	}
	return text
}

// withFailures begins a sentence about a failure ratio.
func withFailures(ratio float64) string {
	if ratio == 1 {
		return "In a total outage"
	}
	return fmt.Sprintf("With %s %% failures", compact(100*ratio, 2))
}

// A policyAt is a policy and what it measured.
type policyAt struct {
	policy, name string
	value        float64
}

// extremePolicies returns the policies that make the most and the fewest
// attempts at a failure ratio, of those that retry; least has no name if there
// is only one.
func extremePolicies(summary *table.Table, g group, failure float64) (most, least policyAt) {
	for _, policy := range summary.Levels("policy") {
		v := policyValue(summary, g, policy, failure, "amplification_ratio_mean")
		if math.IsNaN(v) || policy == "none" && len(summary.Levels("policy")) > 2 {
			continue
		}
		at := policyAt{policy, labelOf(summary, "policy", policy), v}
		if most.name == "" || v > most.value {
			most = at
		}
		if least.name == "" || v < least.value {
			least = at
		}
	}
	if most.policy == least.policy {
		least = policyAt{}
	}
	return most, least
}

// policyValue is what a policy measured at a failure ratio; NaN if it did not.
func policyValue(summary *table.Table, g group, policy string, failure float64, column string) float64 {
	for _, r := range g.rows("policy", policy) {
		if number(summary.Key(r, "failure_ratio")) == failure {
			return summary.Value(r, column)
		}
	}
	return math.NaN()
}
