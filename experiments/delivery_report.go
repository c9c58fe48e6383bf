package experiments

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// thousand renders a ratio as a number per 1,000.
func thousand(s Stat, decimals int) string {
	s.Mean, s.Lo, s.Hi = 1e3*s.Mean, 1e3*s.Lo, 1e3*s.Hi
	return meanCI(s, decimals)
}

func reportDelivery(r *Result) []table.Text {
	p := r.Plan
	shown := []string{"guarantee", "dedup", "owner_every_s"}
	var texts []table.Text
	for _, cells := range p.cellGroups(shown...) {
		c := p.Cells[cells[0]]
		trouble := "no outage"
		if c.Float("outage_s") > 0 {
			trouble = "an outage of " + c.Text("outage_s") + " s"
		}
		t := table.Text{
			Caption: fmt.Sprintf("Effects per 1,000 intents with %s: means of %s%s", trouble, r.replications(),
				p.varying(c, append(shown, "outage_s")...)),
			Header: []string{"delivery", "consumer", "owner looks every", "effected", "closed form", "exactly once", "twice or more often", "closed form", "lost", "closed form",
				"dead", "closed form", "compensated", "dead letters", "settled after s"},
			Left: 3,
		}
		for _, i := range cells {
			c := p.Cells[i]
			owner, dedup := Blank, Blank
			if c.Text("guarantee") == model.AtLeastOnce {
				dedup = p.column("dedup").Label(c.Text("dedup"))
				if owner = c.Text("owner_every_s") + " s"; c.Float("owner_every_s") == 0 {
					owner = "nobody looks"
				}
			}
			duplicates, lost := r.Stat(i, "duplicate_ratio"), r.Stat(i, "lost_ratio")
			t.Append(p.column("guarantee").Label(c.Text("guarantee")), dedup, owner,
				short(1e3*r.Stat(i, "effected_ratio").Mean, 1), short(1e3*r.Stat(i, "effected_ratio").Exact, 1), short(1e3*r.Stat(i, "exactly_once_ratio").Mean, 1),
				thousand(duplicates, 2), short(1e3*duplicates.Exact, 2), thousand(lost, 2), short(1e3*lost.Exact, 2),
				short(1e3*r.Stat(i, "dead_ratio").Mean, 2), short(1e3*r.Stat(i, "dead_ratio").Exact, 2), short(1e3*r.Stat(i, "compensated_ratio").Mean, 2),
				short(r.Stat(i, "dead_letters_count").Mean, 1), reached(r.Stat(i, "settled_s"), 0))
		}
		t.Notes = deliveryNotes(r, cells)
		texts = append(texts, t)
	}
	return append(texts, deliveryCauses(r))
}

// deliveryNotes says in words what was lost, and what it takes to lose nothing
// and do nothing twice.
func deliveryNotes(r *Result, cells []int) []string {
	var notes []string
	for _, i := range cells {
		c := r.Plan.Cells[i]
		lost, twice, dead := 1e3*r.Stat(i, "lost_ratio").Mean, 1e3*r.Stat(i, "duplicate_ratio").Mean, 1e3*r.Stat(i, "dead_ratio").Mean
		owned := c.Float("owner_every_s") > 0
		switch {
		case c.Text("guarantee") == model.AtMostOnce:
			notes = append(notes, fmt.Sprintf("At most once does nothing twice and loses %s of 1,000.", short(lost, 1)))
		case c.Text("dedup") == model.NoDedup && owned:
			notes = append(notes, fmt.Sprintf("At least once loses nothing; %s of 1,000 effects come once too often where consumers are not idempotent.", short(twice, 1)))
		case c.Text("dedup") == model.DedupMessageID && owned:
			notes = append(notes, fmt.Sprintf("The queue's own number of a message misses what was published twice, and what was replayed: %s of 1,000.", short(twice, 1)))
		case c.Text("dedup") == model.DedupKey && owned:
			notes = append(notes, fmt.Sprintf("With the business key every intent has its effect once or is compensated: %s of 1,000 are left over.",
				short(math.Abs(1e3*(1-r.Stat(i, "exactly_once_ratio").Mean-r.Stat(i, "compensated_ratio").Mean)), 2)))
		case c.Text("dedup") == model.DedupKey && dead > 0:
			notes = append(notes, fmt.Sprintf("Dead letters that nobody looks at are a silent loss: %s of 1,000.", short(dead, 1)))
		}
	}
	return notes
}

// deliveryCauses is the table of what brings about a second effect.
func deliveryCauses(r *Result) table.Text {
	t := table.Text{
		Caption: "Second effects per 1,000 intents, by what brought them about",
		Header:  []string{"consumer", "outage s", "acknowledgement to producer lost", "closed form", "visibility timeout", "closed form", "consumer's acknowledgement lost", "closed form", "rebalance", "closed form", "failed after the effect", "left out", "deliveries"},
		Left:    1,
	}
	owner := r.Plan.level("owner_every_s")
	for i, c := range r.Plan.Cells {
		if c.Text("guarantee") == model.AtMostOnce || c.Text("owner_every_s") != owner[len(owner)-1] {
			continue
		}
		row := []string{r.Plan.column("dedup").Label(c.Text("dedup")) + r.Plan.varying(c, "guarantee", "dedup", "owner_every_s", "outage_s"), c.Text("outage_s")}
		for _, cause := range []string{"publish", "visibility", "ack", "rebalance"} {
			s := r.Stat(i, "duplicate_"+cause+"_ratio")
			row = append(row, thousand(s, 2), short(1e3*s.Exact, 2))
		}
		t.Append(append(row, short(1e3*r.Stat(i, "duplicate_unknown_ratio").Mean, 1), short(1e3*r.Stat(i, "suppressed_ratio").Mean, 1),
			short(1e3*r.Stat(i, "deliveries_ratio").Mean, 0))...)
	}
	t.Notes = append(t.Notes, "Closed forms: copies 1 ÷ (1 − ack loss); a delivery comes again with P(processing + time to commit ≥ visibility timeout), with what is lost of the rest, and if its consumer leaves first.")
	return t
}
