package plots

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["guards"] = drawGuards }

// pipelineBudgets tell the budgets of guards apart.
var pipelineBudgets = []struct {
	budget, text string
	style        Style
}{
	{"counter", "counter", Unlimited.Member(0)},
	{"bucket", "bucket", Budget.Member(0)},
	{"window", "sliding window", TimeWindow.Member(0)},
	{"none", "no budget", NoRetry.Member(0)},
}

// A pipelinePanel is a row of the figure: what is drawn, of which guards.
type pipelinePanel struct {
	title, axis, value string
	guards             []string
}

// pipelinePanels are the rows: the budgets alone, and the pipeline in both
// orders, the budget first and last.
var pipelinePanels = []pipelinePanel{
	{"Budget alone", "retries granted so far", "retries_count", []string{"budget-only"}},
	{"Budget alone", "calls at the node, 1/s", "calls_rps", []string{"budget-only"}},
	{"With breaker and idempotence", "retries granted so far", "retries_count", []string{"budget-first", "budget-last"}},
}

// drawGuards shows the retries granted, and the load they make, over time: a
// column for each start of the outage.
func drawGuards(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if len(details) == 0 {
		return nil, fmt.Errorf("no series")
	}
	series := details[0]
	runs := groups(series, "budget", "guard", "outage_at_s", "replication", "t_s")
	var drawings []Drawing
	for _, g := range groups(summary, "budget", "guard", "outage_at_s") {
		run := sameGroup(runs, g)
		key := func(name string) string { return summary.Key(g.members[0], name) }
		wait := "retried at once"
		if number(key("wait_s")) > 0 {
			wait = "first wait " + key("wait_s") + " s"
		}
		starts := summary.Levels("outage_at_s")
		f := &Figure{
			Title: glued(pipelineTitle(summary, g)),
			Subtitle: glued(fmt.Sprintf("%s requests/s, at most %s attempts, %s; budgets of %s %%: a counter, free up to %s requests and reset at %s, a bucket of %s tokens, a window of %s s; %s %% of the calls fail%s",
				key("rate_rps"), key("attempts"), wait, percent(key("ratio")), key("grace"), key("reset_at"), key("cap"), key("window_s"), percent(key("error_ratio")), g.title())),
			Note:    " · replication 0",
			Columns: len(starts), ShareX: true, Height: 900,
			Key: []KeyItem{{KeySpan, Style{}, "outage"}, {KeyLine, Neutral.Member(0), "budget asked alone or first"}, {KeyLine, Neutral.Member(1), "budget asked last"}},
		}
		for _, row := range pipelinePanels {
			var panels []Panel
			drawn := false
			for i, start := range starts {
				end := min(number(start)+number(key("outage_s")), number(key("horizon_s")))
				p := Panel{X: Axis{Label: "time, s"}, Y: Axis{Label: row.axis}, Title: row.title + ", outage from " + start + " s",
					Marks: []Mark{Spans{{From: number(start), To: end}}}}
				for _, b := range pipelineBudgets {
					for k, guard := range row.guards {
						line := pipelineLine(run, b.budget, guard, start, row.value)
						if len(line.X) == 0 {
							continue
						}
						line.Style = b.style
						line.Style.Dashes = memberDashes[k]
						if i == len(starts)-1 && k == 0 {
							line.Label = b.text
						}
						p.Marks = append(p.Marks, line)
						drawn = true
					}
				}
				panels = append(panels, p)
			}
			if drawn {
				f.Panels = append(f.Panels, panels...)
			}
		}
		if len(f.Panels) > 0 {
			drawings = append(drawings, Drawing{g.suffix(), f})
		}
	}
	return drawings, nil
}

// pipelineLine is a value of a run over time: a count from 0 on, or the rate
// of each interval, which the table gives at its end.
func pipelineLine(run group, budget, guard, start, value string) Line {
	line := Line{Step: value != "retries_count"}
	t := run.table
	at := 0.0
	for _, r := range run.members {
		if t.Key(r, "budget") != budget || t.Key(r, "guard") != guard || t.Key(r, "outage_at_s") != start {
			continue
		}
		end, v := number(t.Key(r, "t_s")), t.Value(r, value)
		if line.Step {
			line.X, line.Y = append(line.X, at), append(line.Y, v)
		} else {
			if len(line.X) == 0 {
				line.X, line.Y = append(line.X, 0), append(line.Y, 0)
			}
			line.X, line.Y = append(line.X, end), append(line.Y, v)
		}
		at = end
	}
	return line
}

// pipelineTitle compares the most that the budgets alone let through in a
// second, for the outage where the first of them lets most through, and says
// what a reset of the counter does.
func pipelineTitle(summary *table.Table, g group) string {
	value := func(budget, start, metric string) float64 {
		for _, r := range g.rows("guard", "budget-only") {
			if summary.Key(r, "budget") == budget && summary.Key(r, "outage_at_s") == start {
				return summary.Value(r, metric+"_mean")
			}
		}
		return math.NaN()
	}
	starts := summary.Levels("outage_at_s")
	text, worst := "", ""
	for _, b := range pipelineBudgets {
		if b.budget == "none" {
			continue
		}
		if text == "" {
			most := math.Inf(-1)
			for _, start := range starts {
				if v := value(b.budget, start, "burst_retries_count"); v > most {
					most, worst = v, start
				}
			}
		}
		burst := value(b.budget, worst, "burst_retries_count")
		switch {
		case math.IsNaN(burst):
		case text == "":
			text = fmt.Sprintf("in its worst second the %s grants %s retries", b.text, compact(burst, 0))
			if len(starts) > 1 {
				text = "Outage from " + worst + " s: " + text
			} else {
				text = capital(text)
			}
		default:
			text += fmt.Sprintf(", the %s %s", b.text, compact(burst, 0))
		}
	}
	if text == "" {
		return "What the guards before a retry let through"
	}
	if reset := value("counter", worst, "reset_retries_count"); reset > 0 {
		text += fmt.Sprintf("; after each reset, the next %s requests get %s from the counter", summary.Key(g.members[0], "grace"), compact(reset, 0))
	}
	return text
}
