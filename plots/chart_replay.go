package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["trace-replay"] = drawReplay }

// drawReplay shows, for each node, the error ratio of the trace with the
// injected incidents, and below it the openings of each breaker.
func drawReplay(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) < 2 {
		return nil, fmt.Errorf("no trace and no openings")
	}
	var drawings []Drawing
	for _, g := range groups(summary, "node", "episode", "policy") {
		openings := *details[1]
		openings.Rows = details[1].Select(map[string]string{
			"rate_rps": summary.Key(g.members[0], "rate_rps"), "arrivals": summary.Key(g.members[0], "arrivals")})
		drawings = append(drawings, Drawing{g.suffix(), replayFigure(summary, g, details[0], &openings)})
	}
	return drawings, nil
}

// replayFigure shows the trace and the openings of one group.
func replayFigure(summary *table.Table, g group, records, openings *table.Table) *Figure {
	policies := openedPolicies(summary, openings)
	end := 0.0
	for _, r := range records.Rows {
		end = max(end, records.Value(r, "end_s")/3600)
	}
	nodes := records.Levels("node")
	left := max(0, len(nodes)-maxReplayNodes)
	nodes = nodes[:len(nodes)-left]
	f := &Figure{
		Title:    replayTitle(summary, g),
		Subtitle: "Error ratio of each node of the trace, and below it when each breaker opens (replication 0; a trip empties its window; those that never open have no row)" + g.title(),
		Note:     " · white gaps in the lines: not observed",
		Key:      []KeyItem{{KeySpan, Style{}, "fault injected into this node"}, {KeyLine, Neutral.Member(0), "error ratio"}},
		Columns:  2, ShareX: true,
		Height: 240 + (len(nodes)+1)/2*(200+19*len(policies)),
	}
	if len(nodes) == 1 {
		f.Columns = 1
	}
	if left > 0 {
		f.Note += fmt.Sprintf(" · %d further nodes are not drawn", left)
	}
	letters := policyLetters(summary.Levels("policy"))
	for _, p := range policies {
		style := familyOf(p).Member(0)
		style.Glyph = Tick
		f.Key = append(f.Key, KeyItem{KeyPoint, style, letters[p] + "  " + shortName(policyLabel(summary, p))})
	}
	x := Axis{Label: "time since the trace began, h", Range: [2]float64{0, end}}
	for at := 0; at < len(nodes); at += f.Columns {
		row := nodes[at:min(at+f.Columns, len(nodes))]
		for _, node := range row {
			f.Panels = append(f.Panels, replayErrors(records, node, x))
		}
		for len(policies) > 0 && len(row) < f.Columns {
			row = append(row, "")
			f.Panels = append(f.Panels, f.Panels[len(f.Panels)-1])
		}
		for _, node := range row {
			if len(policies) > 0 {
				f.Panels = append(f.Panels, replayOpenings(records, openings, policies, letters, node, x))
			}
		}
	}
	return f
}

// maxReplayNodes keeps the figure at a height that can be read.
const maxReplayNodes = 16

// openedPolicies lists the policies that opened at all, in the summary's order.
func openedPolicies(summary, openings *table.Table) []string {
	opened := openings.Levels("policy")
	var out []string
	for _, p := range summary.Levels("policy") {
		if slices.Contains(opened, p) {
			out = append(out, p)
		}
	}
	return out
}

func replaySpans(records *table.Table, node string) Spans {
	var spans Spans
	for _, r := range records.Select(map[string]string{"node": node}) {
		if records.Key(r, "injected") == "" {
			continue
		}
		from, to := records.Value(r, "start_s")/3600, records.Value(r, "end_s")/3600
		if n := len(spans); n > 0 && spans[n-1].To == from {
			spans[n-1].To = to
			continue
		}
		spans = append(spans, Span{From: from, To: to})
	}
	return spans
}

func replayErrors(records *table.Table, node string, x Axis) Panel {
	line := Line{Style: Style{Color: Neutral.Color(), Width: 1.5}, Step: true}
	last := math.NaN()
	for _, r := range records.Select(map[string]string{"node": node}) {
		from, to := records.Value(r, "start_s")/3600, records.Value(r, "end_s")/3600
		if from > last {
			line.X, line.Y = append(line.X, last), append(line.Y, math.NaN())
		}
		line.X = append(line.X, from, to)
		line.Y = append(line.Y, records.Value(r, "error_ratio"), records.Value(r, "error_ratio"))
		last = to
	}
	return Panel{
		Title: node, X: x,
		Y:     Axis{Label: "failed ÷ calls"},
		Marks: []Mark{replaySpans(records, node), line},
	}
}

func replayOpenings(records, openings *table.Table, policies []string, letters map[string]string, node string, x Axis) Panel {
	p := Panel{X: x, Weight: 0.2 + 0.14*float64(len(policies))}
	if spans := replaySpans(records, node); len(spans) > 0 {
		p.Marks = append(p.Marks, spans)
	}
	for i, policy := range policies {
		e := Events{Label: policy, Style: familyOf(policy).Member(0)}
		for _, r := range openings.Select(map[string]string{"node": node, "policy": policy}) {
			e.At = append(e.At, openings.Value(r, "t_s")/3600)
			e.Rows = append(e.Rows, float64(i))
		}
		p.Y.Rows = append(p.Y.Rows, letters[policy])
		e.Style.Glyph, e.Style.Size = Tick, 4.5
		p.Marks = append(p.Marks, e)
	}
	return p
}

// replayTitle says how many incidents the best and the worst breaker notice in
// most replications.
func replayTitle(summary *table.Table, g group) string {
	noticed := map[string]int{}
	incidents := map[string]bool{}
	for _, r := range g.members {
		n := summary.Value(r, "n")
		missed := summary.Value(r, "undetected_count")
		if math.IsNaN(missed) {
			continue // not an incident of this node
		}
		incidents[summary.Key(r, "node")+summary.Key(r, "episode")] = true
		if 2*missed < n {
			noticed[summary.Key(r, "policy")]++
		}
	}
	if len(incidents) == 0 {
		return "The trace has no injected incidents: every opening is a false trip or a finding"
	}
	best, worst := "", ""
	for _, p := range summary.Levels("policy") {
		if best == "" || noticed[p] > noticed[best] {
			best = p
		}
		if worst == "" || noticed[p] < noticed[worst] {
			worst = p
		}
	}
	if best == worst {
		return fmt.Sprintf("%s notices %d of %d injected incidents", policyLabel(summary, best), noticed[best], len(incidents))
	}
	return fmt.Sprintf("Of %d injected incidents the best breaker (%s) notices %d, the worst (%s) %d",
		len(incidents), shortName(policyLabel(summary, best)), noticed[best], shortName(policyLabel(summary, worst)), noticed[worst])
}

// policyLetters are A, B, C … in the order of the policies, as in the printed
// table; after Z come A1, B1, ….
func policyLetters(policies []string) map[string]string {
	letters := map[string]string{}
	for i, p := range policies {
		letters[p] = string(rune('A' + i%26))
		if i >= 26 {
			letters[p] += strconv.Itoa(i / 26)
		}
	}
	return letters
}

func policyLabel(summary *table.Table, policy string) string {
	for _, c := range summary.Keys {
		if c.Name == "policy" {
			return c.Label(policy)
		}
	}
	return policy
}
