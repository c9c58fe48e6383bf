package experiments

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// report shows the stalled chain, the nearest cells of the grid, and what the
// refinement found if there was one.
func (s *drillSearch) report(r *Result) []table.Text {
	var texts []table.Text
	if t := stalledText(r); len(t.Rows) > 0 {
		texts = append(texts, t)
	}
	if t := nearestText(r); len(t.Rows) > 0 {
		texts = append(texts, t)
	}
	if s.result == r {
		for _, d := range s.found {
			texts = append(texts, d.text())
		}
	}
	return texts
}

func stalledText(r *Result) table.Text {
	t := table.Text{
		Caption: fmt.Sprintf("Gateway → A → B, B slower than A waits: calls at B for each request, %s", r.replications()),
		Header:  []string{"gateway retries", "A retries", "calls at B", "article", "(1 + gateway)(1 + A)"},
	}
	for i, c := range r.Plan.Cells {
		if c.Text("scene") == drillStalled {
			v := r.Stat(i, "calls_at_b_per_request_count")
			t.Append(c.Text("gateway_retries"), c.Text("retries"),
				meanCI(v, 2), article(v, 0), exact(v, 2))
		}
	}
	return t
}

// nearestText lists the nearest cell of each delay and guard.
func nearestText(r *Result) table.Text {
	p := r.Plan
	t := table.Text{
		Caption: "The grid's nearest cell to the drill's four figures, for each delay and guard: means of " + r.replications(),
		Header: []string{"delay", "guard", "delayed", "late", "calls/s B can serve", "workers", "queue",
			"no guard: calls/s", "success", "guard: calls/s", "success", "distance"},
		Left: 2,
	}
	for _, cells := range p.cellGroups("late_ratio", "capacity_rps", "queue_s") {
		i := nearestDrill(r, cells)
		if i < 0 {
			continue
		}
		c := p.Cells[i]
		t.Append(c.Text("delay")+p.varying(c, "scene", "gateway_retries", "delay", "guard", "late_ratio", "capacity_rps", "queue_s"),
			p.column("guard").Label(c.Text("guard")),
			percent(r.Stat(i, "delayed_ratio").Mean, 1), percent(c.Float("late_ratio"), 1), c.Text("capacity_rps"),
			short(r.Stat(i, "workers_count").Mean, 0), short(r.Stat(i, "queue_count").Mean, 0),
			short(r.Stat(i, "plain_rps").Mean, 0), percent(r.Stat(i, "plain_success_ratio").Mean, 2),
			short(r.Stat(i, "guarded_rps").Mean, 0), percent(r.Stat(i, "guarded_success_ratio").Mean, 1),
			percent((drillFit{r, i}).distance(), 2))
	}
	t.Notes = append(t.Notes, "Article, as an illustration: 1500/s and 0.2 % without guards, 545/s and 88.5 % with them. A budget of 10 % of the requests makes that 550/s; one of 10 % of the successes, 500 × (1 + 0.1 × 0.885) = 544/s.")
	return t
}

// text shows the refined setting beside the article.
func (d drillFound) text() table.Text {
	r, i := d.best.result, d.best.cell
	c := r.Plan.Cells[i]
	t := table.Text{
		Caption: fmt.Sprintf("Refined, delay %s, measured again with another seed: %s", c.Text("delay"), r.replications()),
		Header:  []string{"figure", "article", "ours [95 %]", "error"},
		Left:    1,
	}
	errors := d.best.errors()
	for k, target := range drillTargets {
		v := r.Stat(i, target.metric)
		if target.article < 1 {
			t.Append(target.words, percent(target.article, 1), percentCI(v, 2), target.errorText(errors[k]))
		} else {
			t.Append(target.words, short(target.article, 0), meanCI(v, 1), target.errorText(errors[k]))
		}
	}
	for _, cpu := range []struct {
		metric, words string
		article       float64
	}{{"plain_busy_ratio", "no guard, CPU (ours: workers busy), not fitted", drillPlainCPU}, {"guarded_busy_ratio", "budget + jitter, CPU (ours: workers busy), not fitted", drillGuardedCPU}} {
		v := r.Stat(i, cpu.metric)
		t.Append(cpu.words, percent(cpu.article, 0), percentCI(v, 1), short(100*(v.Mean-cpu.article), 1)+" points")
	}
	verdict := "Both rows come out of one system, calls/s to 1 % and success to one point"
	if worst, size := d.best.worst(); !(size <= drillClose) {
		verdict = fmt.Sprintf("Not all four figures come out; the nearest setting misses most in %q, by %s", drillTargets[worst].words, drillTargets[worst].errorText(size))
	} else if outside := drillOutside(r, i); len(outside) > 0 {
		verdict += ", though the article's figure lies outside our 95 % interval of " + strings.Join(outside, " and of ")
	}
	late, rate := c.Float("late_ratio"), c.Float("rate_rps")
	t.Notes = append(t.Notes,
		fmt.Sprintf("%s: %s of the calls delayed (%s, %s s; %s late), %s workers for %s calls/s, a queue of %s, and %s.", verdict,
			percent(r.Stat(i, "delayed_ratio").Mean, 1), c.Text("delay"), c.Text("delay_s"), percent(late, 1),
			short(r.Stat(i, "workers_count").Mean, 0), c.Text("capacity_rps"), short(r.Stat(i, "queue_count").Mean, 0),
			r.Plan.column("guard").Label(c.Text("guard"))),
		fmt.Sprintf("It is a window: plain retries of late calls alone make %s calls/s, and B falls if it can serve less; guarded it stands if it can serve more than %s.",
			short(rate*retrySeries(late, int(c.Float("retries"))+1), 0), short(r.Stat(i, "guarded_rps").Mean, 0)),
		"The little success of plain retries comes in bursts and hangs on the queue to a few percent; take its interval.",
		"The fit is not unique: four figures, and the shape of the delay, workers, queue and budget are free. So it shows that the drill is possible, not how it was.",
		busyNote(c, r.Stat(i, "guarded_busy_ratio").Mean))
	return t
}

// drillOutside names the figures whose interval does not hold the article's.
func drillOutside(r *Result, cell int) []string {
	var names []string
	for _, t := range drillTargets {
		if s := r.Stat(cell, t.metric); s.N > 1 && !(s.Lo <= t.article && t.article <= s.Hi) {
			names = append(names, fmt.Sprintf("%q", t.words))
		}
	}
	return names
}

// errorText is an error in words: "0.3 %" of a rate, "0.3 points" of a share.
func (t drillTarget) errorText(e float64) string {
	if t.article < 1 {
		return short(100*e, 2) + " points"
	}
	return percent(e, 1)
}

// busyNote compares the busy workers with the article's CPU, and says what else
// gives that if the cell is not it.
func busyNote(c Cell, busy float64) string {
	const near = 0.03
	rate, late := c.Float("rate_rps"), c.Float("late_ratio")
	text := fmt.Sprintf("Guarded, B's workers are busy for %s of the time; the article's CPU is %s", percent(busy, 0), percent(drillGuardedCPU, 0))
	if !(math.Abs(busy-drillGuardedCPU) > near) {
		return text + "."
	}
	if busy > 0.99 {
		return text + ". They could not be busier, so what capacity would give that cannot be told from here."
	}
	wide := c.Float("capacity_rps") * busy / drillGuardedCPU
	text += fmt.Sprintf(". For that, B would be one for %s calls/s", short(wide, 0))
	if plain := rate * retrySeries(late, int(c.Float("retries"))+1); wide > plain && c.Float("pause_s") == 0 {
		return text + fmt.Sprintf(", which bears the plain retries of late calls (%s/s) and falls only if something pushes it: -set capacity_rps=%s -set pause_s=3 -set queue_s=1.5.", short(plain, 0), short(10*math.Round(wide/10), 0))
	}
	return text + "."
}

// retrySeries is the mean number of attempts if each fails with p.
func retrySeries(p float64, attempts int) float64 {
	sum, term := 0.0, 1.0
	for range attempts {
		sum += term
		term *= p
	}
	return sum
}

// percent renders a ratio in percent.
func percent(ratio float64, decimals int) string {
	if math.IsNaN(ratio) {
		return Blank
	}
	return fixed(100*ratio, decimals) + " %"
}

// percentCI is meanCI of a ratio, in percent.
func percentCI(s Stat, decimals int) string {
	s.Mean, s.Lo, s.Hi = 100*s.Mean, 100*s.Lo, 100*s.Hi
	return meanCI(s, decimals) + " %"
}
