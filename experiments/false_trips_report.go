package experiments

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
	"github.com/stormglass/stormglass/theory"
)

// articleName is the article's name of a breaker: "count 20 min 20 >=50%".
func articleName(c Cell) string {
	names := []string{
		"count 20 min 20 >=50%", "count 20 min 20 >=20%", "count 100 min 100 >=20%",
		"time 10 s min 20 >=50%", "time 10 s min 20 >=20%", "time 60 s min 20 >=20%",
	}
	for i, policy := range articleBreakers {
		if c.Text("policy") == policy {
			return names[i]
		}
	}
	return ""
}

func articleFalseTrips(c Cell, metric string) (string, string, string) {
	name := articleName(c)
	if name == "" || c.Text("mode") != "observe" || !likeArticle(falseTrips(), c, "policy") {
		return "", "", ""
	}
	switch metric {
	case "false_trips_count":
		return "T4b", name + ", " + c.Text("trace"), "false_trips_6h_mean"
	case "any_false_trip_ratio":
		return "T4b", name + ", " + c.Text("trace"), "p_any_trip"
	case "detection_delay_s":
		return "T4b", name + ", outage", "delay_s"
	}
	return "", "", ""
}

// A falseTripsGroup is the cells of a report that share all factors but
// policy and trace.
type falseTripsGroup struct {
	mode, title string
	cells       []int
}

func falseTripsGroups(p *Plan) []falseTripsGroup {
	var groups []falseTripsGroup
	index := map[string]int{}
	for i, c := range p.Cells {
		key := p.varying(c, "policy", "trace", "mode")
		k := c.Text("mode") + key
		if _, ok := index[k]; !ok {
			index[k] = len(groups)
			groups = append(groups, falseTripsGroup{mode: c.Text("mode"), title: key})
		}
		g := &groups[index[k]]
		g.cells = append(g.cells, i)
	}
	return groups
}

func reportFalseTrips(r *Result) []table.Text {
	var texts []table.Text
	for _, g := range falseTripsGroups(r.Plan) {
		trips := tripsText(r, g)
		if len(trips.Rows) > 0 {
			texts = append(texts, trips)
		}
		delays := outageText(r, g)
		if len(delays.Rows) > 0 {
			texts = append(texts, delays)
		}
	}
	return texts
}

func tripsText(r *Result, g falseTripsGroup) table.Text {
	hours := r.Plan.Cells[g.cells[0]].Text("hours")
	t := table.Text{Left: 2}
	if g.mode == "observe" {
		t.Caption = fmt.Sprintf("False trips in %s h, window emptied at a trip%s: %s", hours, g.title, r.replications())
		t.Header = []string{"policy", "trace", "mean [95 %]", "sd", "P(any trip) [95 %]", "per hour", "closed form", "z", "article"}
	} else {
		open, probes := r.Plan.Cells[g.cells[0]].Text("open_s"), r.Plan.Cells[g.cells[0]].Text("probes")
		t.Caption = fmt.Sprintf("Openings of a real breaker (open %s s, %s probes) in %s h%s: %s", open, probes, hours, g.title, r.replications())
		t.Header = []string{"policy", "trace", "mean [95 %]", "sd", "P(any trip) [95 %]", "per hour", "time open", "good calls refused"}
	}
	for _, i := range g.cells {
		c := r.Plan.Cells[i]
		trips := r.Stat(i, "false_trips_count")
		if !trips.Applies() {
			continue
		}
		row := []string{c.policy().String(), c.Text("trace"), meanCI(trips, 1), fixed(trips.SD, 1),
			meanCI(r.Stat(i, "any_false_trip_ratio"), 2), short(r.Stat(i, "false_trips_per_h").Mean, 2)}
		if g.mode == "observe" {
			form := closedForm(trips.Exact)
			if bound, ok := tripBound(c); ok && math.IsNaN(trips.Exact) {
				form = "≤ " + roundedUp(bound)
			}
			row = append(row, form, fixed(trips.Z, 1), article(trips, 0))
		} else {
			refused := r.Stat(i, "good_refused_ratio").Mean
			row = append(row, percentage(r.Stat(i, "open_ratio").Mean), percentage(refused))
		}
		t.Append(row...)
	}
	if g.mode == "observe" {
		t.Notes = falseTripsNotes(r, g)
	}
	return t
}

// closedForm renders an expected number of trips, small ones as powers of ten.
func closedForm(v float64) string {
	if v > 0 && v < 0.05 {
		return fmt.Sprintf("%.0e", v)
	}
	return fixed(v, 1)
}

// percentage renders a share with two decimals.
func percentage(ratio float64) string {
	if math.IsNaN(ratio) {
		return Blank
	}
	return fixed(100*ratio, 2) + " %"
}

// roundedUp renders a bound with one digit, never below itself.
func roundedUp(v float64) string {
	if v <= 0 || v >= 0.05 {
		return short(math.Ceil(v*10)/10, 1)
	}
	exponent := math.Floor(math.Log10(v))
	digit := math.Ceil(v / math.Pow(10, exponent))
	return fmt.Sprintf("%.0e", digit*math.Pow(10, exponent))
}

// falseTripsNotes explains what no trip means, and the closed forms with the
// binomial tail of each count window in a glitch.
func falseTripsNotes(r *Result, g falseTripsGroup) []string {
	first := r.Plan.Cells[g.cells[0]]
	var notes []string
	silent := func(i int) bool { s := r.Stat(i, "false_trips_count"); return s.N > 0 && s.Mean == 0 }
	if slices.ContainsFunc(g.cells, silent) {
		notes = append(notes, fmt.Sprintf("0 trips in %s × %s h mean fewer than %s per %s h with 95 %% confidence (−ln 0.05 ÷ runs).",
			strconv.Itoa(r.Measured()), first.Text("hours"), short(-math.Log(0.05)/float64(r.Measured()), 2), first.Text("hours")))
	}
	notes = append(notes,
		"-set mode=breaker shows what whole breakers do on the same calls, and what they refuse.",
		"closed form: Markov chain on the contents of a count window; ≤: bound by the binomial tail.",
	)
	scored := func(i int) bool { return !math.IsNaN(r.Stat(i, "false_trips_count").Z) }
	if slices.ContainsFunc(g.cells, scored) {
		notes = append(notes, "z: (mean − closed form) ÷ standard error.")
	}
	for _, i := range g.cells {
		c := r.Plan.Cells[i]
		rule := c.policy().rule
		if c.Text("trace") != "glitches" || rule.Window.Kind != policies.CountWindow || rule.FailureRate == 0 {
			continue
		}
		n := rule.Window.Calls
		k := theory.FailuresToTrip(n, rule.FailureRate)
		p := c.Float("glitch_error_ratio")
		if tail, err := theory.BinomialTail(n, p, k); err == nil {
			notes = append(notes, fmt.Sprintf("One window in a glitch: P[Bin(%d, %s) ≥ %d] = %.3g (%s).", n, formatNumber(p), k, tail, c.policy()))
		}
	}
	return notes
}

func outageText(r *Result, g falseTripsGroup) table.Text {
	t := table.Text{
		Caption: "Detection delay of an outage of every call, windows full of good calls" + g.title,
		Header:  []string{"policy", "delay s", "closed form", "article"},
		Left:    1,
	}
	early := false
	for _, i := range g.cells {
		c := r.Plan.Cells[i]
		delay := r.Stat(i, "detection_delay_s")
		if !delay.Applies() {
			continue
		}
		t.Append(c.policy().String(), reached(delay, 3), exact(delay, 3), article(delay, 2))
		early = early || delay.Mean-delay.Article > 0.005
	}
	if early {
		t.Notes = append(t.Notes, "Where the article is earlier, its window was not full: 20 s of good calls before the outage fill a third of a window of 60 s.")
	}
	if g.mode == "breaker" && slices.Contains(r.Plan.level("mode"), "observe") {
		return table.Text{} // the same delays: a breaker opens when its rule trips
	}
	return t
}
