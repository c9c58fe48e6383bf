package experiments

import (
	"context"
	"strconv"

	"github.com/stormglass/stormglass/table"
)

func reportBudgetPresets(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("budget") {
		c := p.Cells[cells[0]]
		load := c.Text("load")
		t := table.Text{
			Caption: capitalWord(load) + ", " + loadWords[load] + ": means of " + r.replications() + p.varying(c, "budget", "load"),
			Header: []string{"budget", "library", "attempts per request", "closed form", "in trouble", "success %", "in trouble %",
				"refused %", "closed form %", "first second", "late per request", "closed form", "rule", "shut off after s", "back after s"},
			Left: 2,
		}
		for _, i := range cells {
			b := p.Cells[i].budget()
			get := func(metric string) Stat { return r.Stat(i, metric) }
			library, rule := b.Library, Blank
			if library == "" {
				library = Blank
			}
			if w, ok := ruleOf(b.Config); ok && load == loadOutage {
				rule = short(w.retries(p.Cells[i]), 3)
			}
			amplification, denied, late := get("amplification_ratio"), get("denied_ratio"), get("late_retry_ratio")
			t.Append(b.Name, library, fixed(amplification.Mean, 4), fixed(amplification.Exact, 4), fixed(get("trouble_amplification_ratio").Mean, 3),
				fixed(100*get("success_ratio").Mean, 2), fixed(100*get("trouble_success_ratio").Mean, 1),
				fixed(100*denied.Mean, 1), fixed(100*denied.Exact, 1),
				fixed(get("first_second_retries_count").Mean, 1), fixed(late.Mean, 3), fixed(late.Exact, 3), rule,
				reachedMean(get("shut_off_s")), reachedMean(get("come_back_s")))
		}
		t.DropEmpty(Blank)
		t.Notes = presetWords{r, cells}.notes()
		texts = append(texts, t)
	}
	return texts
}

// reachedMean is a metric that may never be reached, without its interval.
func reachedMean(s Stat) string {
	s.Lo, s.Hi = s.Mean, s.Mean
	return reached(s, 1)
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
