package plots

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["detection-delay"] = drawDetection }

// drawDetection shows the delay of each policy over the rate.
func drawDetection(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "policy", "rate_rps") {
		var marks []Mark
		var phrases []string
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
			phrases = append(phrases, delayPhrase(line))
		}
		f := &Figure{
			Title:    capital(strings.Join(phrases, "; ")),
			Subtitle: "From the start of an outage of every call to the breaker's opening" + g.title(),
			Note:     " · " + plainText(summary.Key(g.members[0], "arrivals")) + " arrivals",
			Panels: []Panel{{
				X:     Axis{Label: "request rate, 1/s", Kind: Log},
				Y:     Axis{Label: "detection delay, s", Kind: Log, Never: "never"},
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

// delayPhrase says how a line of delays runs: "count 20 needs 18 s at 0.5/s
// and 0.018 s at 500/s", "time 10 s needs about 5 s, but never opens at 0.5/s".
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
	if first < 0 {
		return name + " never opens"
	}
	text := fmt.Sprintf("%s notices after %s s at %s/s and %s s at %s/s", name,
		compact(l.Y[first], 3), compact(l.X[first], 3), compact(l.Y[last], 3), compact(l.X[last], 3))
	if hi < 2*lo {
		text = fmt.Sprintf("%s needs %s to %s s at any rate", name, compact(lo, 1), compact(hi, 1))
	}
	if len(never) > 0 {
		text += " but never opens at " + strings.Join(never, ", ")
	}
	return text
}
