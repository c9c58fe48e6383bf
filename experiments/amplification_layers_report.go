package experiments

import "github.com/stormglass/stormglass/table"

// reportLayers shows the calls at every depth of the longest chain, and those
// at the end of each chain.
func reportLayers(r *Result) []table.Text {
	t := table.Text{
		Caption: "Calls at each service of a chain whose last one fails: " + r.replications(),
		Header:  []string{"layers", "policy", "service", "calls", "closed form", "article", "per request", "bound", "success %"},
		Left:    3,
	}
	longest := ""
	if l := r.Plan.level("layers"); len(l) > 0 {
		longest = l[len(l)-1]
	}
	few := len(r.Plan.Cells) <= maxDetailed
	float := false
	for i, c := range r.Plan.Cells {
		last := c.Float("depth") == c.Float("layers")
		if !few && !last && c.Text("layers") != longest {
			continue
		}
		calls, ratio := r.Stat(i, "calls_count"), r.Stat(i, "amplification_ratio")
		bound := Blank
		if b, ok := layersBound(c); ok {
			bound = short(b, 4)
		}
		t.Append(c.Text("layers")+r.Plan.varying(c, "layers", "policy", "depth"), c.retry("policy").String(), serviceName(int(c.Float("depth"))),
			meanCI(calls, 1), exact(calls, 1), article(calls, 0), short(ratio.Mean, 3), bound, short(100*r.Stat(i, "success_ratio").Mean, 1))
		float = float || calls.Article == 263 && calls.Mean == 266
	}
	t.Notes = append(t.Notes, "Bound: in the long run, as the product over the layers of 1 + r under a budget and (1 − pⁿ) / (1 − p) without.")
	if float {
		t.Notes = append(t.Notes, "Float tokens (budget-10-float) give the article's 263: 0.1 added ten times is less than 1.")
	}
	return []table.Text{t}
}
