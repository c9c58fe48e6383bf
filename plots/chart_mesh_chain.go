package plots

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["mesh-chain"] = drawMeshChain }

// chainStyles tell those who retry apart.
var chainStyles = map[string]Style{
	"nobody": NoRetry.Member(0), "client": Budget.Member(0), "sidecars": BudgetBreaker.Member(1),
	"applications": FixedRetry.Member(0), "applications-and-sidecars": Unlimited.Member(0),
}

// drawMeshChain shows how calls multiply from service to service.
func drawMeshChain(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no calls of each hop")
	}
	hops := details[0]
	var drawings []Drawing
	for _, g := range groups(hops, "retrying", "service") {
		key := func(name string) string { return hops.Key(g.members[0], name) }
		f := &Figure{
			Subtitle: fmt.Sprintf("Chain of %s services whose last one is down; whoever retries makes %s retries, at once%s", key("services"), key("retries"), g.title()),
			Note:     fmt.Sprintf(" · %s requests", key("requests")),
		}
		p := Panel{X: Axis{Label: "service", Kind: Linear}, Y: Axis{Label: "calls at the service per request", Kind: Log}, Marks: []Mark{Rule{At: 1}}}
		ref := Reference{Label: "article"}
		for _, who := range hops.Levels("retrying") {
			rows := g.rows("retrying", who)
			if len(rows) == 0 {
				continue
			}
			line := Line{Label: hops.Label(rows[0], "retrying"), Points: true, Style: chainStyles[who]}
			if p.X.Rows == nil {
				for _, r := range rows {
					p.X.Rows = append(p.X.Rows, hops.Key(r, "service"))
				}
			}
			for i, r := range rows {
				line.X, line.Y = append(line.X, float64(i)), append(line.Y, hops.Value(r, "amplification_ratio"))
			}
			line.Label += ": " + compact(line.Y[len(line.Y)-1], 2) + "×"
			p.Marks = append(p.Marks, line)
			if v := chainArticle(summary, g, who); v == v {
				ref.X, ref.Y = append(ref.X, float64(len(rows)-1)), append(ref.Y, v)
			}
		}
		if len(ref.X) > 0 {
			p.Marks = append(p.Marks, ref)
			f.Key = []KeyItem{{KeyReference, Style{}, "article"}}
		}
		f.Panels = []Panel{p}
		f.Title = chainTitle(hops, g)
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// chainArticle is the article's number of calls at the last service for each
// request; NaN if it has none.
func chainArticle(summary *table.Table, g group, who string) float64 {
	want := map[string]string{"retrying": who}
	for _, name := range []string{"retries", "services", "requests"} {
		want[name] = g.table.Key(g.members[0], name)
	}
	rows := summary.Select(want)
	if len(rows) == 0 {
		return number("")
	}
	return summary.Value(rows[0], "last_calls_count_article") / number(want["requests"])
}

// chainTitle says what the last service gets if everybody retries and if the
// least do.
func chainTitle(hops *table.Table, g group) string {
	last := map[string]float64{}
	most := ""
	for _, r := range g.members {
		last[hops.Key(r, "retrying")] = hops.Value(r, "amplification_ratio")
	}
	for _, who := range hops.Levels("retrying") {
		if _, ok := last[who]; ok && (most == "" || last[who] > last[most]) {
			most = who
		}
	}
	text := fmt.Sprintf("%s retries each: %s make %s calls of one request at the end of a dead chain",
		hops.Key(g.members[0], "retries"), hops.Label(g.rows("retrying", most)[0], "retrying"), compact(last[most], 2))
	if v, ok := last["client"]; ok && most != "client" {
		text += fmt.Sprintf(", the client alone %s", compact(v, 2))
	}
	return text
}
