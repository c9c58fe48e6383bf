package experiments

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// perThousandCI renders a ratio as a number per 1,000 with half of its 95 %
// interval, "27.45 ± 0.93"; the half is left out where nothing varies.
func perThousandCI(s Stat) string {
	half := 1e3 * math.Max(s.Hi-s.Mean, s.Mean-s.Lo)
	if s.N == 0 || !(half > 0) {
		return perThousand(s.Mean)
	}
	return fmt.Sprintf("%s ± %s", fixed(1e3*s.Mean, 2), fixed(half, 2))
}

// perThousandExact renders the closed form of a ratio per 1,000 with how many
// standard errors the mean is off it, "27.53 (z −0.2)".
func perThousandExact(s Stat) string {
	text := perThousand(s.Exact)
	if math.IsNaN(s.Exact) || s.SD == 0 || math.IsNaN(s.Z) || math.IsInf(s.Z, 0) {
		return text
	}
	return fmt.Sprintf("%s (z %s)", text, strings.Replace(fixed(s.Z, 1), "-", "−", 1))
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
			Caption: fmt.Sprintf("Effects per 1,000 intents with %s: means of %s ± half of the 95 %% interval%s", trouble, r.replications(),
				p.varying(c, append(shown, "outage_s")...)),
			Header: []string{"delivery", "consumer", "owner looks every", "effected", "closed form", "exactly once", "effects beyond the first", "closed form", "lost", "closed form",
				"dead", "closed form", "compensated", "dead letters of a run", "last effect s"},
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
			effected, twice, lost, dead := r.Stat(i, "effected_ratio"), r.Stat(i, "duplicate_ratio"), r.Stat(i, "lost_ratio"), r.Stat(i, "dead_ratio")
			t.Append(p.column("guarantee").Label(c.Text("guarantee")), dedup, owner,
				perThousandCI(effected), perThousandExact(effected), perThousandCI(r.Stat(i, "exactly_once_ratio")),
				perThousandCI(twice), perThousandExact(twice), perThousandCI(lost), perThousandExact(lost),
				perThousandCI(dead), perThousandExact(dead), perThousandCI(r.Stat(i, "compensated_ratio")),
				short(r.Stat(i, "dead_letters_count").Mean, 1), reached(r.Stat(i, "settled_s"), 0))
		}
		t.Notes = deliveryNotes(r, cells)
		texts = append(texts, t)
	}
	if causes := deliveryCauses(r); len(causes.Rows) > 0 {
		texts = append(texts, causes)
	}
	return texts
}

// deliveryNotes says what the columns mean, which share of the intents comes in
// the outage, what was lost, and what it takes to lose nothing and do nothing
// twice.
func deliveryNotes(r *Result, cells []int) []string {
	notes := []string{"Lost: without effect, and nothing is left that could have it. Dead: only a dead letter is left, which somebody could replay. " +
		"Last effect: its time after the last intent, if at last all intents have had theirs or are compensated. z: standard errors between mean and closed form."}
	share := outageShare(r.Plan.Cells[cells[0]], 0)
	if share > 0 {
		c := r.Plan.Cells[cells[0]]
		notes = append(notes, fmt.Sprintf("%s of 1,000 intents come in the outage (outage_s=%s, publish_s=%s); what the outage does per 1,000 of all is mostly this share.",
			short(1e3*share, 0), c.Text("outage_s"), c.Text("publish_s")))
	}
	for _, i := range cells {
		c := r.Plan.Cells[i]
		twice, dead := r.Stat(i, "duplicate_ratio").Mean, r.Stat(i, "dead_ratio").Mean
		if math.IsNaN(twice) {
			continue // no intents
		}
		owned := c.Float("owner_every_s") > 0
		who := "At least once with an owner who looks every " + c.Text("owner_every_s") + " s"
		if !owned {
			who = "At least once without an owner"
		}
		switch {
		case c.Text("guarantee") == model.AtMostOnce:
			lost := r.Stat(i, "lost_ratio").Mean
			notes = append(notes, fmt.Sprintf("At most once %s and loses %s of 1,000%s.", repeatWords(r.Stat(i, "duplicate_ratio").Mean), short(1e3*lost, 1), outageExcess(r, i, "lost_ratio", share)))
		case c.Text("dedup") == model.NoDedup:
			notes = append(notes, fmt.Sprintf("%s %s; consumers that are not idempotent repeat %s of 1,000 effects%s.",
				who, lossWords(r, i), short(1e3*twice, 1), outageExcess(r, i, "duplicate_ratio", share)))
		case c.Text("dedup") == model.DedupMessageID && owned:
			notes = append(notes, fmt.Sprintf("The queue's own number of a message misses what was published twice, and what was replayed: %s of 1,000.", short(1e3*twice, 1)))
		case c.Text("dedup") == model.DedupKey && owned:
			left := math.Abs(1e3 * (1 - r.Stat(i, "exactly_once_ratio").Mean - r.Stat(i, "compensated_ratio").Mean))
			if left < 1 {
				notes = append(notes, fmt.Sprintf("With the business key and an owner every intent has its effect once or is compensated: %s of 1,000 are left over.", short(left, 2)))
			} else {
				notes = append(notes, fmt.Sprintf("With the business key and an owner nothing is done twice, but %s of 1,000 intents wait for their effect at the end of the run: it is too short, or the consumers too few.", short(left, 1)))
			}
		case c.Text("dedup") == model.DedupKey && dead > 0:
			notes = append(notes, fmt.Sprintf("The business key without an owner repeats nothing and leaves %s of 1,000 dead: what nobody replays is not done twice, and not once.", short(1e3*dead, 1)))
		}
	}
	return notes
}

// outageExcess says by how much a ratio is above that of the same cell without
// an outage, in words to append; "" without such a cell or such a share.
func outageExcess(r *Result, cell int, metric string, share float64) string {
	c := r.Plan.Cells[cell]
	want := map[string]string{}
	for _, f := range r.Plan.Factors {
		want[f.Name] = c.Text(f.Name)
	}
	want["outage_s"] = "0"
	plain, ok := r.Lookup(want, metric)
	if !ok || share == 0 {
		return ""
	}
	more := r.Stat(cell, metric).Mean - plain.Mean
	return fmt.Sprintf(", %s more than without the outage: %s for each intent that comes in it", short(1e3*more, 1), short(more/share, 2))
}

// repeatWords says what is done twice.
func repeatWords(twice float64) string {
	if twice == 0 {
		return "does nothing twice"
	}
	return "repeats " + short(1e3*twice, 1)
}

// lossWords says what is lost of messages, and what only dead letters are left
// of.
func lossWords(r *Result, cell int) string {
	lost, dead := r.Stat(cell, "lost_ratio").Mean, r.Stat(cell, "dead_ratio").Mean
	text := "loses nothing"
	if lost > 0 {
		text = "loses " + short(1e3*lost, 1) + " of 1,000"
	}
	if dead > 0 {
		text = fmt.Sprintf("leaves %s of 1,000 intents undone: they are kept as dead letters that ", short(1e3*dead, 1))
		if r.Plan.Cells[cell].Float("owner_every_s") > 0 {
			text += "are not replayed by the end of the run"
		} else {
			text += "nobody replays"
		}
		if lost > 0 {
			text += ", beside " + short(1e3*lost, 1) + " that are lost"
		}
	}
	return text
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
			row = append(row, perThousandCI(s), perThousandExact(s))
		}
		t.Append(append(row, perThousandCI(r.Stat(i, "duplicate_unknown_ratio")), perThousandCI(r.Stat(i, "suppressed_ratio")),
			short(1e3*r.Stat(i, "deliveries_ratio").Mean, 0))...)
	}
	t.Notes = append(t.Notes, "Closed forms: copies 1 ÷ (1 − ack loss); a delivery comes again with P(processing + time to commit ≥ visibility timeout), with what is lost of the rest, and if its consumer leaves first.")
	return t
}
