package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["detection-delay"] = drawDetection }

// drawDetection shows the delay of each policy over the rate.
func drawDetection(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "rate_rps") {
		var marks []Mark
		var lines []Line
		articles := false
		members := map[Family]int{}
		for _, policy := range summary.Levels("policy") {
			rows := g.rows("policy", policy)
			if len(rows) == 0 {
				continue
			}
			family := familyOf(policy)
			line := Line{Label: summary.Label(rows[0], "policy"), Points: true, Style: family.Member(members[family])}
			members[family]++
			article := Reference{Label: "article"}
			for _, r := range rows {
				x := number(summary.Key(r, "rate_rps"))
				line.X = append(line.X, x)
				y := summary.Value(r, "detection_delay_s_mean")
				if math.IsNaN(y) {
					y = math.Inf(1)
				}
				line.Y = append(line.Y, y)
				line.Lo = append(line.Lo, summary.Value(r, "detection_delay_s_ci95_lo"))
				line.Hi = append(line.Hi, summary.Value(r, "detection_delay_s_ci95_hi"))
				if v := summary.Value(r, "detection_delay_s_article"); !math.IsNaN(v) {
					article.X, article.Y = append(article.X, x), append(article.Y, v)
				}
			}
			if !anyWidth(line.Lo, line.Hi) {
				line.Lo, line.Hi = nil, nil
			}
			marks = append(marks, line)
			if len(article.X) > 0 {
				marks, articles = append(marks, article), true
			}
			lines = append(lines, line)
		}
		f := &Figure{
			Title:    detectionTitle(lines),
			Subtitle: "From the start of an outage of every call to the breaker's opening" + g.title(),
			Note:     " · " + plainText(summary.Key(g.members[0], "arrivals")) + " arrivals",
			Panels: []Panel{{
				X:     Axis{Label: "request rate, 1/s", Kind: Log},
				Y:     Axis{Label: "detection delay, s", Kind: delayScale(lines), Never: "never"},
				Marks: marks,
			}},
		}
		if articles {
			f.Key = []KeyItem{{KeyReference, Style{}, "article"}}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// delayScale is logarithmic, with a place for zero if the first failing call
// opens a breaker.
func delayScale(lines []Line) Kind {
	for _, l := range lines {
		if slices.Contains(l.Y, 0) {
			return LogZero
		}
	}
	return Log
}

// detectionTitle says how two lines of delays run, or which of many is the
// fastest at the lowest and at the highest rate.
func detectionTitle(lines []Line) string {
	if len(lines) <= 2 {
		var phrases []string
		for _, l := range lines {
			phrases = append(phrases, delayPhrase(l))
		}
		return capital(strings.Join(phrases, "; "))
	}
	fastest := func(at func(Line) (x, y float64)) string {
		best, rate, delay := "no breaker", 0.0, math.Inf(1)
		for _, l := range lines {
			if x, y := at(l); y < delay {
				best, rate, delay = shortName(l.Label), x, y
			}
		}
		return fmt.Sprintf("%s at %s/s (%s s)", best, compact(rate, 3), compact(delay, 3))
	}
	text := "Fastest to notice an outage: " + fastest(func(l Line) (x, y float64) { return l.X[0], l.Y[0] })
	if len(lines[0].X) > 1 {
		text += ", " + fastest(func(l Line) (x, y float64) { return l.X[len(l.X)-1], l.Y[len(l.Y)-1] })
	}
	return text
}

// delayPhrase says how a line of delays runs: "count 20 notices an outage after
// 18 s at 0.5/s and 0.018 s at 500/s", "time 10 s after 4 to 5 s, but never at
// 0.5/s".
func delayPhrase(l Line) string {
	name, _, _ := strings.Cut(l.Label, ",")
	first, last := -1, -1
	lo, hi := math.Inf(1), 0.0
	var never []string
	for i, y := range l.Y {
		if math.IsInf(y, 1) {
			never = append(never, compact(l.X[i], 3)+"/s")
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		lo, hi = min(lo, y), max(hi, y)
	}
	var text string
	switch {
	case first < 0:
		return name + " never opens"
	case first == last:
		text = fmt.Sprintf("%s notices an outage after %s s at %s/s", name, compact(lo, 3), compact(l.X[first], 3))
	case hi < 2*lo:
		text = fmt.Sprintf("%s notices an outage after %s to %s s", name, compact(lo, 1), compact(hi, 1))
	default:
		text = fmt.Sprintf("%s notices an outage after %s s at %s/s and %s s at %s/s", name,
			compact(l.Y[first], 3), compact(l.X[first], 3), compact(l.Y[last], 3), compact(l.X[last], 3))
	}
	if len(never) > 0 {
		text += ", but never at " + strings.Join(never, ", ")
	}
	return text
}
