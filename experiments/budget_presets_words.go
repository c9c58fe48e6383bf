package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// presetWords says in words how the budgets of some cells, which differ in
// nothing else, differ.
type presetWords struct {
	r     *Result
	cells []int
}

// mean is the mean of a metric of a cell.
func (w presetWords) mean(cell int, metric string) float64 { return w.r.Stat(cell, metric).Mean }

// quantile is the least value of a time, +Inf for never, that a share of the
// replications do not exceed; NaN if the time is defined in none.
func (w presetWords) quantile(cell int, metric string, share float64) float64 {
	var defined []float64
	for _, v := range w.r.Values(cell, metric) {
		if !math.IsNaN(v) {
			defined = append(defined, v)
		}
	}
	if len(defined) == 0 {
		return math.NaN()
	}
	slices.Sort(defined)
	return defined[max(0, int(math.Ceil(share*float64(len(defined))))-1)]
}

// mostly is a time that at least three of four replications take, or more.
func (w presetWords) mostly(cell int, metric string) float64 { return w.quantile(cell, metric, 0.25) }
func (w presetWords) median(cell int, metric string) float64 { return w.quantile(cell, metric, 0.5) }

// quartiles renders the median of a time, and the quartiles if they differ.
func (w presetWords) quartiles(cell int, metric string) string {
	lo, hi := w.mostly(cell, metric), w.quantile(cell, metric, 0.75)
	text := short(w.median(cell, metric), 1)
	if lo < hi {
		text += " [" + short(lo, 1) + ", " + short(hi, 1) + "]"
	}
	return text
}

// refused is the share of the retries that a budget refuses, in per cent.
func (w presetWords) refused(cell int) string {
	s := w.r.Stat(cell, "denied_ratio")
	s.Mean, s.Lo, s.Hi = 100*s.Mean, 100*s.Lo, 100*min(s.Hi, 1)
	if math.IsNaN(s.Lo) || s.Lo == s.Hi {
		return fixed(s.Mean, 2)
	}
	return meanCI(s, 2)
}

func (w presetWords) cell(i int) Cell                    { return w.r.Plan.Cells[i] }
func (w presetWords) config(i int) policies.BudgetConfig { return w.cell(i).budget().Config }

// bound returns the cell without a budget, or without a retry, and false if it
// was not run.
func (w presetWords) bound(name string) (int, bool) {
	for _, i := range w.cells {
		if w.cell(i).Text("budget") == name {
			return i, true
		}
	}
	return 0, false
}

// those lists the budgets for which which holds, each with what text says; it
// leaves the two bounds out.
func (w presetWords) those(which func(i int) bool, text func(i int) string) string {
	var names []string
	for _, i := range w.cells {
		name := w.cell(i).Text("budget")
		if name == budgetUnlimited || name == budgetNone || !which(i) {
			continue
		}
		if t := text(i); t != "" {
			name += " " + t
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

func (w presetWords) notes() []string {
	c := w.cell(w.cells[0])
	if c.Float("attempts") == 1 {
		return []string{"With one attempt there are no retries."}
	}
	if w.those(func(int) bool { return true }, func(int) string { return "" }) == "" {
		return nil // only the bounds
	}
	switch c.Text("load") {
	case loadSteady:
		return w.steady()
	case loadBursty:
		return w.bursty()
	}
	return w.outage()
}

// orNone is a list, or a word for an empty one.
func orNone(list string) string {
	if list == "" {
		return "none"
	}
	return list
}

// rounded is a number as it is printed.
func rounded(v float64, decimals int) float64 {
	scale := math.Pow(10, float64(decimals))
	return math.Round(v*scale)/scale + 0 // no −0
}

// extremes says from which budgets to which others something ranges, as it is
// printed.
func (w presetWords) extremes(value func(i int) float64, decimals int) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range w.cells {
		if b := w.cell(i).Text("budget"); b != budgetUnlimited && b != budgetNone {
			if v := rounded(value(i), decimals); !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	at := func(end float64) string {
		return fmt.Sprintf("%s (%s)", short(end, decimals),
			w.those(func(i int) bool { return rounded(value(i), decimals) == end }, func(int) string { return "" }))
	}
	switch {
	case lo > hi:
		return Blank // cut short
	case lo == hi:
		return at(lo)
	}
	return "from " + at(lo) + " to " + at(hi)
}

const refusesFrom = 0.1 // % of the retries from which a budget is named

func (w presetWords) steady() []string {
	failed := func(i int) string { return fixed(1e4*(1-w.mean(i, "success_ratio"))+0, 1) }
	refuse := w.those(func(i int) bool { return rounded(100*w.mean(i, "denied_ratio"), 2) >= refusesFrom },
		func(i int) string { return fmt.Sprintf("%s %% (%s of 10,000 requests fail)", w.refused(i), failed(i)) })
	notes := []string{fmt.Sprintf("At %s %% of failures these refuse %v %% of the retries or more: %s.",
		short(100*w.cell(w.cells[0]).Float("error_ratio"), 2), refusesFrom, orNone(refuse))}
	if i, ok := w.bound(budgetUnlimited); ok {
		notes[0] += fmt.Sprintf(" Without a budget %s of 10,000 fail.", failed(i))
	}
	return notes
}

// burstNote says what is let through in the first second.
func (w presetWords) burstNote(what string) []string {
	const metric = "first_second_retries_count"
	i, ok := w.bound(budgetUnlimited)
	if !ok || !(w.mean(i, metric) > 0) {
		return nil
	}
	return []string{fmt.Sprintf("Retries in the first second of %s: %s without a budget, %s with one.",
		what, short(w.mean(i, metric), 1), w.extremes(func(i int) float64 { return w.mean(i, metric) }, 1))}
}

func (w presetWords) bursty() []string {
	notes := w.burstNote("a burst")
	const metric = "trouble_success_ratio"
	a, ok := w.bound(budgetNone)
	b, ok2 := w.bound(budgetUnlimited)
	if !ok || !ok2 || !(w.mean(b, metric) > w.mean(a, metric)) {
		return notes
	}
	lo, hi := w.mean(a, metric), w.mean(b, metric)
	kept := func(i int) float64 { return 100 * (w.mean(i, metric) - lo) / (hi - lo) }
	return append(notes, fmt.Sprintf("Retries without a budget lift the success in bursts from %s %% to %s %%. Of that gain these keep: %s.",
		fixed(100*lo, 1), fixed(100*hi, 1), w.those(func(int) bool { return true }, func(i int) string { return short(rounded(kept(i), 0), 0) + " %" })))
}

const silentBelow = 0.01 // retries per request below which a budget counts as silent

func (w presetWords) outage() []string {
	notes := w.burstNote("the outage")
	const late = "late_retry_ratio"
	nothing := func(int) string { return "" }
	each := func(i int) string { return fixed(w.mean(i, late), 3) }
	notes = append(notes, fmt.Sprintf("In the second half of the outage these are silent, with less than %v retries per request: %s. These are not: %s.",
		silentBelow, orNone(w.those(func(i int) bool { return w.mean(i, late) < silentBelow }, nothing)),
		orNone(w.those(func(i int) bool { return w.mean(i, late) >= silentBelow }, each))))
	notes = append(notes, w.whyLate()...)
	const shut, back = "shut_off_s", "come_back_s"
	often := ""
	if w.r.Plan.Reps > 1 {
		often = ", in three of four replications or more"
	}
	notes = append(notes, fmt.Sprintf("Shut off, to at most %s retries per request in every second that is left%s: never %s; after more than a second %s.", w.cell(w.cells[0]).Text("shut_ratio"), often,
		orNone(w.those(func(i int) bool { return math.IsInf(w.mostly(i, shut), 1) }, nothing)),
		orNone(w.those(func(i int) bool { s := w.mostly(i, shut); return s > 1 && !math.IsInf(s, 1) },
			func(i int) string { return w.time(i, shut) + w.whyShut(i) }))))
	return append(notes, fmt.Sprintf("Back more than half a second after the outage%s: %s.", often,
		orNone(w.those(func(i int) bool { return w.mostly(i, back) > 0.5 },
			func(i int) string { return w.time(i, back) + w.whyBack(i) }))))
}

// time is the median of a time.
func (w presetWords) time(i int, metric string) string {
	if s := w.median(i, metric); !math.IsInf(s, 1) {
		return short(s, 1) + " s"
	}
	return "never"
}

// whyLate explains the budgets whose retries do not end.
func (w presetWords) whyLate() []string {
	const late = "late_retry_ratio"
	var notes []string
	add := func(list, text string) {
		if list != "" {
			notes = append(notes, list+": "+text)
		}
	}
	silent := func(int) string { return "" }
	goesOn := func(i int) bool { return w.mean(i, late) >= silentBelow }
	add(w.those(func(i int) bool {
		rule, ok := ruleOf(w.config(i))
		return ok && goesOn(i) && rule.perSecond > 0 && w.mean(i, late) < 0.9*(w.cell(i).Float("attempts")-1)
	}, silent), "the retries per second beside the share are never used up, and a window gives back what it has spent all at once: the next burst comes when the last one leaves it.")
	add(w.those(func(i int) bool {
		rule, ok := ruleOf(w.config(i))
		return ok && rule.slots && w.cell(i).Float("rate_rps")*rule.length.Seconds() >= 100 && w.mean(i, late) > 1.1*rule.retries(w.cell(i))
	}, func(i int) string {
		rule, _ := ruleOf(w.config(i))
		return fmt.Sprintf("%s instead of %s per request", fixed(w.mean(i, late), 3), short(rule.retries(w.cell(i)), 3))
	}), "two slots pass whenever one is exceeded, which it is under any traffic that is not timed to it, so that the window is little more than half as long as it is set.")
	add(w.those(func(i int) bool {
		places, ok := capOnRetries(w.cell(i), w.config(i))
		return ok && places > 0 && goesOn(i)
	}, silent), "they count retries in progress, so they grant as many for ever as come and go; longer waits make them fewer.")
	add(w.those(func(i int) bool {
		b := w.config(i)
		return b.Kind == policies.BudgetUnlimited && goesOn(i)
	}, silent), "nothing but the number of attempts bounds the retries.")
	add(w.those(func(i int) bool {
		switch b := w.config(i); b.Kind {
		case policies.BudgetTokens, policies.BudgetFloatTokens, policies.BudgetCounter:
			return goesOn(i) && !onlySuccessPays(b)
		}
		return false
	}, silent), "a request earns its share of a retry whether it fails or not.")
	add(w.those(func(i int) bool { return isFailsafe(w.config(i)) && goesOn(i) }, silent),
		"only running retries count, not those that wait.")
	return notes
}

// whyShut explains a budget that shuts off late.
func (w presetWords) whyShut(i int) string {
	b, c := w.config(i), w.cell(i)
	if rule, ok := ruleOf(b); ok {
		return fmt.Sprintf(" (what it has spent comes back after its %v)", rule.length)
	}
	if p, ok := b.Preset.(presets.AWSQuotaConfig); ok && p.RetryCost > 0 {
		return fmt.Sprintf(" (its bucket holds %d retries)", p.Tokens/p.RetryCost)
	}
	if b.Kind != policies.BudgetCounter {
		return ""
	}
	rate, at := c.Float("rate_rps"), c.Float("outage_at_s")
	reset := float64(b.Counter.ResetAt) / rate
	if next := math.Ceil(at/reset)*reset - at; math.Abs(next-w.median(i, "shut_off_s")) < 3 {
		return fmt.Sprintf(" (its counters begin anew at %d requests, and the first %d are free)", b.Counter.ResetAt, b.Counter.Grace)
	}
	return " (it may use what the requests of a long time before have earned)"
}

// whyBack explains a budget that comes back late.
func (w presetWords) whyBack(i int) string {
	b, c := w.config(i), w.cell(i)
	if places, ok := capOnRetries(c, b); ok {
		if blocked, _, ok := lossSystem(c, places, c.Float("calm_error_ratio")); ok && blocked > 0 {
			return fmt.Sprintf(" (all its %d places are taken %s %% of the time without an outage, too)", places, short(100*blocked, 1))
		}
		return ""
	}
	switch {
	case onlySuccessPays(b):
		return " (only good answers earn, and retries that fail cost meanwhile)"
	case b.Kind == policies.BudgetCounter:
		return " (new requests must outweigh the retries counted so far)"
	}
	return ""
}
