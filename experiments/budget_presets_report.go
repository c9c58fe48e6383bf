package experiments

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func reportBudgetPresets(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("budget") {
		c := p.Cells[cells[0]]
		load := c.Text("load")
		where := "in bursts"
		if load == loadOutage {
			where = "in outage"
		}
		t := table.Text{
			Caption: fmt.Sprintf("%s, %s; %s requests/s, %s attempts at most: means of %s%s%s", capitalWord(load), loadWords[load],
				c.Text("rate_rps"), c.Text("attempts"), r.replications(), inBrackets(load, p.Reps), p.varying(c, "budget", "load", "rate_rps", "attempts")),
			Header: []string{"budget", "library", "attempts per request", "closed form", "attempts per request " + where, "success %", "success " + where + " %",
				"refused %", "closed form %", "retries in first second", "late retries per request", "closed form", "rule", "shut off after s", "back after s"},
			Left: 2,
		}
		w := presetWords{r, cells}
		for _, i := range cells {
			b := p.Cells[i].budget()
			get := func(metric string) Stat { return r.Stat(i, metric) }
			library, rule := b.Library, Blank
			if library == "" {
				library = Blank
			}
			if rules, ok := ruleOf(b.Config); ok && load == loadOutage {
				rule = short(rules.retries(p.Cells[i]), 3)
			}
			amplification, late := get("amplification_ratio"), get("late_retry_ratio")
			whole, success, inTrouble, denied := Blank, Blank, Blank, fixed(100*get("denied_ratio").Mean, 1)
			switch load {
			case loadSteady:
				whole, success, denied = fixed(amplification.Mean, 4), fixed(100*get("success_ratio").Mean, 2), w.refused(i)
			case loadBursty:
				inTrouble = fixed(100*get("trouble_success_ratio").Mean, 1)
			}
			t.Append(b.Name, library, whole, fixed(amplification.Exact, 4), fixed(get("trouble_amplification_ratio").Mean, 3),
				success, inTrouble, denied, fixed(100*get("denied_ratio").Exact, 2),
				fixed(get("first_second_retries_count").Mean, 1), fixed(late.Mean, 3), fixed(late.Exact, 3), rule,
				w.quartiles(i, "shut_off_s"), w.quartiles(i, "come_back_s"))
		}
		t.DropEmpty(Blank)
		t.Notes = w.notes()
		texts = append(texts, t)
	}
	return texts
}

// inBrackets says what stands in the brackets of a table.
func inBrackets(load string, reps int) string {
	switch {
	case reps == 1:
		return ""
	case load == loadSteady:
		return " [95 % intervals]"
	case load == loadOutage:
		return "; times: median [quartiles]"
	}
	return ""
}

func capitalWord(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// budgetPresetsSeries is replication 0 second by second, in seconds that begin
// with the trouble.
func budgetPresetsSeries(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	t := table.New("budget-presets_series", append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "t_s", Doc: "start of the second, s"}),
		[]table.Column{
			{Name: "requests_count", Doc: "original requests in the second"},
			{Name: "retries_count", Doc: "retries sent in the second"},
			{Name: "denied_count", Doc: "retries refused in the second"},
		})
	for i, c := range p.Cells {
		bad := trouble(c)
		if len(bad) == 0 {
			continue
		}
		s, err := runSystem(ctx, p.Job(i, 0), budgetPresetsConfig(c))
		if err != nil {
			return nil, err
		}
		f := readFlow(s.Series())
		for at := bad[0].from % tenthsPerSecond; at+tenthsPerSecond <= len(f); at += tenthsPerSecond {
			v := f.within(at, at+tenthsPerSecond)
			t.Append(append(p.keyCells(i), "0", strconv.FormatFloat(float64(at)/tenthsPerSecond, 'f', -1, 64)), v.requests, v.retries, v.denied)
		}
	}
	return []*table.Table{t}, nil
}
