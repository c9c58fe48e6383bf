package experiments

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

func reportTimeoutChoice(r *Result) []table.Text {
	p := r.Plan
	var texts []table.Text
	for _, cells := range p.cellGroups("timeout") {
		c := p.Cells[cells[0]]
		l := latencyLaw(c)
		t := table.Text{
			Caption: fmt.Sprintf("%s: means of %s%s", latencyWords(c), r.replications(), p.varying(c, "law", "cv", "timeout")),
			Header: []string{"timeout", "s", "P[T > timeout]", "closed form", "needless/1000 requests", "closed form",
				"held s/request", "closed form", "would need s more", "closed form", "p99 s", "success", "threads if stalled"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(metric string) Stat { return r.Stat(i, metric) }
			per1000 := func(v float64) string { return short(1000*v, 1) }
			late, needless, held, residual := get("timeout_ratio"), get("needless_ratio"), get("held_s"), get("residual_s")
			t.Append(p.column("timeout").Label(p.Cells[i].Text("timeout")), short(get("timeout_s").Mean, 3),
				short(late.Mean, 4), exact(late, 4), per1000(needless.Mean), per1000(needless.Exact),
				short(held.Mean, 4), exact(held, 4), short(residual.Mean, 3), exact(residual, 3),
				short(get("latency_p99_s").Mean, 2), short(get("success_ratio").Mean, 5),
				short(p.Cells[i].Float("rate_rps")*get("stalled_held_s").Mean, 0))
		}
		t.Notes = append(t.Notes, choiceNote(r, cells)...)
		if longest := freshIsFaster(r, cells); longest != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("A new attempt takes %s s on average, less than what is left of one given up %s: these retries are needless for the service, not for the user.",
				short(latencyMean(l), 3), longest))
		}
		texts = append(texts, t)
	}
	if n := len(texts); n > 0 {
		texts[n-1].Notes = append(texts[n-1].Notes, "Needless: attempts given up that ended well later. Would need s more: what an attempt given up at its timeout still took at the service, mean. Threads if stalled: requests/s × attempts × timeout.")
	}
	return texts
}

// latencyWords names the law of a cell: "lognormal, CV 4".
func latencyWords(c Cell) string {
	switch c.Text("law") {
	case model.Lognormal:
		return "lognormal, CV " + c.Text("cv")
	case fieldQuantiles:
		return "latency by quantiles"
	}
	return c.Text("law")
}

// choiceNote compares the two rules of the article, if both are there.
func choiceNote(r *Result, cells []int) []string {
	mean, tail := -1, -1
	for _, i := range cells {
		switch rule, _ := parseTimeoutRule(r.Plan.Cells[i].Text("timeout")); {
		case rule.times == 3:
			mean = i
		case rule.quantile == 0.99 && rule.margin > 0:
			tail = i
		}
	}
	if mean < 0 || tail < 0 {
		return nil
	}
	needless := func(i int) float64 { return 1000 * r.Stat(i, "needless_ratio").Mean }
	stalled := func(i int) float64 { return r.Stat(i, "stalled_held_s").Mean }
	label := func(i int) string { return r.Plan.column("timeout").Label(r.Plan.Cells[i].Text("timeout")) }
	return []string{fmt.Sprintf("%s: %s needless retries in 1000 requests; %s: %s. When nothing answers a request holds its thread for %s s and %s s.",
		label(mean), short(needless(mean), 1), label(tail), short(needless(tail), 1), short(stalled(mean), 2), short(stalled(tail), 2))}
}

// freshIsFaster says after which timeouts an attempt still takes longer than a
// new one does on average; "" if after none.
func freshIsFaster(r *Result, cells []int) string {
	least := math.Inf(1)
	fresh := latencyMean(latencyLaw(r.Plan.Cells[cells[0]]))
	for _, i := range cells {
		if s := r.Stat(i, "residual_s"); s.Exact > fresh*(1+1e-9) {
			least = math.Min(least, r.Stat(i, "timeout_s").Mean)
		}
	}
	if math.IsInf(least, 1) {
		return ""
	}
	return fmt.Sprintf("after %s s or more", short(least, 3))
}
