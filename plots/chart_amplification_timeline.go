package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["amplification-timeline"] = drawTimeline }

// drawTimeline shows the calls that a server in trouble gets over time, and
// the requests that are answered.
func drawTimeline(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no series")
	}
	series := details[0]
	runs := groups(series, "policy", "replication", "t_s")
	styles := retryStyles(summary.Levels("policy"))
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "second") {
		run := sameGroup(runs, g)
		key := func(name string) string { return summary.Key(g.members[0], name) }
		start := number(key("trouble_start_s"))
		end := start + number(key("trouble_s"))
		f := &Figure{
			Title:    glued(timelineTitle(summary, g)),
			Subtitle: fmt.Sprintf("%s requests/s; what fails is repeated at once%s%s", compact(number(key("rate_rps")), 1), timeoutText(key), g.title()),
			Note:     " · below: by the second a request was made in",
			Height:   900,
			ShareX:   true,
			Key:      []KeyItem{{KeySpan, Style{}, "server in trouble"}, {KeyPoint, Neutral.Member(0), "calls in a whole second, mean"}, {KeyLine, Neutral.Member(0), "rate in 0.1 s, replication 0"}},
		}
		calls := Panel{X: Axis{Label: "time, s"}, Y: Axis{Label: "calls at the server per second"},
			Marks: []Mark{Spans{{From: start, To: end, Label: troubleText(key)}}}}
		success := Panel{X: Axis{Label: "time, s"}, Y: Axis{Label: "requests answered well, %", Range: [2]float64{0, 100}},
			Weight: 0.6, Marks: []Mark{Spans{{From: start, To: end}}}}
		var printed, printedSuccess published
		var answers []Line
		for _, policy := range summary.Levels("policy") {
			label := labelOf(summary, "policy", policy)
			line := Line{Label: label, Style: styles[policy], Step: true}
			for _, r := range run.rows("policy", policy) {
				line.X, line.Y = append(line.X, number(series.Key(r, "t_s"))), append(line.Y, series.Value(r, "calls_rps"))
			}
			dots := Scatter{Label: label, Style: styles[policy]}
			dots.Style.Size = 4.5
			answered := Line{Style: styles[policy], Step: true} // named in the panel above
			for _, r := range g.rows("policy", policy) {
				second := number(summary.Key(r, "second"))
				x, share := second+0.5, 100*summary.Value(r, "success_ratio_mean")
				dots.X, dots.Y = append(dots.X, x), append(dots.Y, summary.Value(r, "calls_count_mean"))
				dots.YLo = append(dots.YLo, summary.Value(r, "calls_count_ci95_lo"))
				dots.YHi = append(dots.YHi, summary.Value(r, "calls_count_ci95_hi"))
				if n := len(answered.X); n > 0 && answered.X[n-1] != second {
					answered.X, answered.Y = append(answered.X, second), append(answered.Y, math.NaN()) // seconds left out
				}
				answered.X, answered.Y = append(answered.X, second, second+1), append(answered.Y, share, share)
				printed.add(x, summary.Value(r, "calls_count_article"))
				printedSuccess.add(x, 100*summary.Value(r, "success_ratio_article"))
			}
			if len(dots.X) == 0 {
				continue
			}
			calls.Marks = append(calls.Marks, line, dots)
			answers = append(answers, answered)
		}
		for i, a := range answers {
			if sameLines(answers) {
				if a.Label = "all " + countWord(len(answers)); len(answers) == 1 {
					a.Label = ""
				}
				if i < len(answers)-1 {
					a.Label = ""
				}
			}
			success.Marks = append(success.Marks, a)
		}
		calls.Marks = append(calls.Marks, printed.marks()...)
		success.Marks = append(success.Marks, printedSuccess.marks()...)
		f.Key = append(f.Key, printed.key()...)
		f.Panels = []Panel{calls, success}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// sameLines reports whether lines are near enough to hide each other: within a
// hundredth of the axis everywhere.
func sameLines(lines []Line) bool {
	for _, l := range lines {
		if len(l.Y) != len(lines[0].Y) {
			return false
		}
		for i, y := range l.Y {
			if math.Abs(y-lines[0].Y[i]) > 1 {
				return false
			}
		}
	}
	return true
}

// countWord is a small number in words.
func countWord(n int) string {
	if words := []string{"none", "one", "two", "three", "four", "five", "six"}; n < len(words) {
		return words[n]
	}
	return compact(float64(n), 0)
}

// troubleText says what happens to the server.
func troubleText(key func(string) string) string {
	limit := compact(number(key("limit_rps")), 1)
	switch key("trouble") {
	case "limit":
		return "serves " + limit + " calls/s and rejects the rest at once"
	case "error":
		return compact(100*(1-number(key("limit_rps"))/number(key("rate_rps"))), 1) + " % of the attempts fail at random"
	case "queue":
		return "serves " + limit + " instead of " + compact(number(key("capacity_rps")), 1) + " calls/s"
	}
	return ""
}

// timeoutText names the timeout where there is one.
func timeoutText(key func(string) string) string {
	if key("trouble") != "queue" {
		return ""
	}
	return "; attempts time out after " + key("timeout_s") + " s"
}

// timelineTitle compares the busiest seconds of the policies, and the worst
// ones for their requests.
func timelineTitle(summary *table.Table, g group) string {
	var busiest, worst []string
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, policy := range summary.Levels("policy") {
		most, least := math.NaN(), math.NaN()
		for _, r := range g.rows("policy", policy) {
			if v := summary.Value(r, "calls_count_mean"); !(v <= most) {
				most = v
			}
			if v := 100 * summary.Value(r, "success_ratio_mean"); !(v >= least) && !math.IsNaN(v) {
				least = v
			}
		}
		if math.IsNaN(most) || math.IsNaN(least) {
			continue
		}
		unit := ""
		if len(busiest) == 0 {
			unit = "calls "
		}
		name := labelOf(summary, "policy", policy)
		busiest = append(busiest, fmt.Sprintf("%s %swith %s", compact(most, 0), unit, name))
		worst = append(worst, fmt.Sprintf("%s %% with %s", compact(least, 0), name))
		lowest, highest = min(lowest, least), max(highest, least)
	}
	if len(busiest) == 0 {
		return "No request was made in the seconds measured"
	}
	text := "In its busiest second the server gets " + strings.Join(busiest, ", ") + "; the worst one answers "
	if highest-lowest < 1 && len(worst) > 1 {
		return text + fmt.Sprintf("%s %% of the requests with any of them", compact((lowest+highest)/2, 0))
	}
	return text + strings.Join(worst, ", ")
}
