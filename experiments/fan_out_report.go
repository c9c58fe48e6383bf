package experiments

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

func reportFanOut(r *Result) []table.Text {
	t := table.Text{
		Caption: "Calls at the end of the chain for each request: means of " + r.replications(),
		Header: []string{"who retries", "layers", "copies", "calls fail", "at the end", "closed form", "article", "at all services",
			"attempts of a last call", "1 + (n−1)·retry share", "1 + (n−1)·p", "success", "closed form"},
		Left: 1,
	}
	for i, c := range r.Plan.Cells {
		last, all, per, share, ok := r.Stat(i, "amplification_ratio"), r.Stat(i, "all_calls_ratio"), r.Stat(i, "last_layer_ratio"),
			r.Stat(i, "last_layer_retry_ratio"), r.Stat(i, "success_ratio")
		formula, bound := 1.0, 1.0
		if n := float64(attemptsAt(c, int(c.Float("layers")))); n > 1 {
			formula, bound = 1+(n-1)*share.Mean, 1+(n-1)*c.Float("failure_ratio")
		}
		t.Append(r.Plan.column("retrying").Label(c.Text("retrying"))+r.Plan.varying(c, "retrying", "layers", "fan_out", "failure_ratio"),
			c.Text("layers"), c.Text("fan_out"), c.Text("failure_ratio"),
			meanCI(last, 2), exact(last, 3), article(last, 0), short(all.Mean, 2), short(per.Mean, 3), short(formula, 3), short(bound, 3),
			meanCI(ok, 4), exact(ok, 4))
	}
	t.Notes = append(t.Notes, "At the end, at all services: calls there for each request. Attempts of a last call: attempts ÷ calls of the layer before the end; n is the most of them.",
		"1 + (n − 1)·share holds with the retries made ÷ those possible as the share; with the share p of calls that are tried again at all it is a bound, reached at p = 1 or n = 2.")
	t.Notes = append(t.Notes, oneLayerNotes(r)...)
	return []table.Text{t}
}

// oneLayerNotes compares one layer of retries, nearest the user, with all of
// them, in the longest chain.
func oneLayerNotes(r *Result) []string {
	var notes []string
	for _, cells := range r.Plan.cellGroups("retrying", "layers") {
		one, every := -1, -1
		for _, i := range cells {
			switch r.Plan.Cells[i].Text("retrying") {
			case firstLayer:
				one = i
			case everyLayer:
				every = i
			}
		}
		if one < 0 || every < 0 || r.Plan.Cells[one].Text("layers") == "1" {
			continue
		}
		c := r.Plan.Cells[one]
		copies := c.Text("fan_out") + " copies"
		if c.Text("fan_out") == "1" {
			copies = "1 copy"
		}
		notes = append(notes, fmt.Sprintf("%s layers, %s, %s %% of the calls fail%s: the layer nearest the user alone brings %s calls and %s success, every layer %s calls and %s.",
			c.Text("layers"), copies, short(100*c.Float("failure_ratio"), 2), r.Plan.varying(c, "retrying", "layers", "fan_out", "failure_ratio"),
			short(r.Stat(one, "amplification_ratio").Mean, 2), short(r.Stat(one, "success_ratio").Mean, 4),
			short(r.Stat(every, "amplification_ratio").Mean, 2), short(r.Stat(every, "success_ratio").Mean, 4)))
	}
	return notes
}
