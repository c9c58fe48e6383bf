package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["budget-instances"] = drawInstances }

// drawInstances shows the attempts per request over the number of programs
// that each have a bucket.
func drawInstances(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no bounds")
	}
	bounds := details[0]
	limits := groups(bounds, "policy", "instances", "failure_ratio")
	styles := retryStyles(summary.Levels("policy"))
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "instances", "failure_ratio") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: glued(instancesTitle(summary, g)),
			Subtitle: fmt.Sprintf("%s requests in all, %s/s, shared in turn by programs with a bucket each%s",
				compact(number(key("requests")), 0), compact(number(key("rate_rps")), 1), g.title()),
			Note:   " · 95 % intervals of the mean (Student t)",
			ShareX: true,
			Key: []KeyItem{
				{KeyPoint, Neutral.Member(0), "means simulated, joined; 95 % intervals as bands"},
				{KeyLine, boundLook, "bound: 1 + r + tokens held at first ÷ requests"},
				{KeyLine, Style{Color: ruleInk, Dashes: []float64{6, 4}, Width: 1.5}, "1: no retry"},
			},
		}
		if len(summary.Levels("failure_ratio")) > 1 {
			f.Height = 900
		}
		for _, failure := range summary.Levels("failure_ratio") {
			p := Panel{
				Title: percent(failure) + " % of the attempts fail",
				X:     Axis{Label: "programs with a bucket each", Kind: Log},
				Y:     Axis{Label: "attempts per request"},
				Marks: []Mark{Rule{At: 1}},
			}
			for _, policy := range summary.Levels("policy") {
				label := labelOf(summary, "policy", policy)
				limit := Line{Style: boundLook}
				for _, r := range sameGroup(limits, g).rows("policy", policy) {
					if bounds.Key(r, "failure_ratio") == failure {
						limit.X, limit.Y = append(limit.X, number(bounds.Key(r, "instances"))), append(limit.Y, bounds.Value(r, "amplification_ratio"))
					}
				}
				var rows []table.Row
				for _, r := range g.rows("policy", policy) {
					if summary.Key(r, "failure_ratio") == failure {
						rows = append(rows, r)
					}
				}
				if len(rows) == 0 {
					continue
				}
				if len(limit.X) > 0 {
					p.Marks = append(p.Marks, limit)
				}
				means := metricLine(summary, rows, "instances", "amplification_ratio", label, styles[policy])
				means.Style.Width = 1.5
				p.Marks = append(p.Marks, means)
			}
			if len(p.Marks) > 1 {
				f.Panels = append(f.Panels, p)
			}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// boundLook is the look of all bounds, so that the policies keep the colour and
// the dashes of their family.
var boundLook = Style{Color: ruleInk, Dashes: []float64{1, 3}, Width: 1.5, Glyph: NoGlyph}

// instancesTitle compares the fewest programs with the most, at the highest
// failure ratio, for the policy that then makes the most attempts.
func instancesTitle(summary *table.Table, g group) string {
	failure, fewest, most := 0.0, math.Inf(1), 0.0
	for _, r := range g.members {
		failure = max(failure, number(summary.Key(r, "failure_ratio")))
		n := number(summary.Key(r, "instances"))
		fewest, most = min(fewest, n), max(most, n)
	}
	at := func(policy string, instances float64) float64 {
		for _, r := range g.rows("policy", policy) {
			if number(summary.Key(r, "instances")) == instances && number(summary.Key(r, "failure_ratio")) == failure {
				return summary.Value(r, "amplification_ratio_mean")
			}
		}
		return math.NaN()
	}
	policy := ""
	for _, p := range summary.Levels("policy") {
		if v := at(p, most); !math.IsNaN(v) && (policy == "" || v > at(policy, most)) {
			policy = p
		}
	}
	if policy == "" {
		return "Attempts per request where every program has a bucket of its own"
	}
	label := labelOf(summary, "policy", policy)
	text := fmt.Sprintf("%s %s makes %s attempts of a request", withFailures(failure), programs(fewest), Number(at(policy, fewest), 2))
	if fewest != 1 {
		text = fmt.Sprintf("%s %s make %s attempts of a request", withFailures(failure), programs(fewest), Number(at(policy, fewest), 2))
	}
	if fewest < most {
		text += fmt.Sprintf(", %s %s", programs(most), Number(at(policy, most), 2))
	}
	return text + " (" + label + ")"
}

func programs(n float64) string {
	if n == 1 {
		return "one program"
	}
	return compact(n, 0) + " programs"
}
