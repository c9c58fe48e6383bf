package experiments

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/policies"
)

// presetWords says in words how the budgets of some cells, which differ in
// nothing else, differ.
type presetWords struct {
	r     *Result
	cells []int
}

// mean is a metric of a cell; +Inf where most replications never reach it.
func (w presetWords) mean(cell int, metric string) float64 {
	s := w.r.Stat(cell, metric)
	if s.Censored > s.N {
		return math.Inf(1)
	}
	return s.Mean
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

const refusesFrom = 1e-3 // share of the retries from which a budget counts as refusing

func (w presetWords) steady() []string {
	failed := func(i int) string { return short(1e4*(1-w.mean(i, "success_ratio")), 1) }
	refuse := w.those(func(i int) bool { return w.mean(i, "denied_ratio") >= refusesFrom },
		func(i int) string {
			return fmt.Sprintf("%s %% (%s of 10,000 requests fail)", fixed(100*w.mean(i, "denied_ratio"), 1), failed(i))
		})
	notes := []string{fmt.Sprintf("At %s %% of failures these refuse at least %s %% of the retries: %s.",
		short(100*w.cell(w.cells[0]).Float("error_ratio"), 2), short(100*refusesFrom, 2), orNone(refuse))}
	if i, ok := w.bound(budgetUnlimited); ok {
		notes[0] += fmt.Sprintf(" Without a budget %s of 10,000 fail.", failed(i))
	}
	return notes
}

// like is the share of the retries without a budget from which a budget counts
// as letting them through.
const like = 0.9

// burstNote says who lets the first second through.
func (w presetWords) burstNote(what string) []string {
	const metric = "first_second_retries_count"
	i, ok := w.bound(budgetUnlimited)
	if !ok || !(w.mean(i, metric) > 0) {
		return nil
	}
	all := w.mean(i, metric)
	count := func(i int) string { return short(w.mean(i, metric), 0) }
	text := fmt.Sprintf("In the first second of %s there are %s retries without a budget. At least %s %% of them let through: %s",
		what, short(all, 0), short(100*like, 0), orNone(w.those(func(i int) bool { return w.mean(i, metric) >= like*all }, count)))
	text += fmt.Sprintf("; at most a quarter: %s.", orNone(w.those(func(i int) bool { return w.mean(i, metric) <= all/4 }, count)))
	return []string{text}
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
	saved := func(i int) float64 { return (w.mean(i, metric) - lo) / (hi - lo) }
	percent := func(i int) string { return short(100*saved(i), 0) + " %" }
	return append(notes, fmt.Sprintf("Retries without a budget lift the success in bursts from %s %% to %s %%. Of that gain these keep less than half: %s; at least %s %%: %s.",
		short(100*lo, 1), short(100*hi, 1), orNone(w.those(func(i int) bool { return saved(i) < 0.5 }, percent)),
		short(100*like, 0), orNone(w.those(func(i int) bool { return saved(i) >= like }, percent))))
}

const silentBelow = 0.01 // retries per request below which a budget counts as silent

func (w presetWords) outage() []string {
	notes := w.burstNote("the outage")
	const late = "late_retry_ratio"
	each := func(i int) string { return fixed(w.mean(i, late), 2) }
	notes = append(notes, fmt.Sprintf("In the second half of the outage these are silent, with less than %v retries per request: %s. These are not: %s.",
		silentBelow, orNone(w.those(func(i int) bool { return w.mean(i, late) < silentBelow }, func(int) string { return "" })),
		orNone(w.those(func(i int) bool { return w.mean(i, late) >= silentBelow }, each))))
	notes = append(notes, w.whyLate()...)
	const shut, back = "shut_off_s", "come_back_s"
	c := w.cell(w.cells[0])
	notes = append(notes, fmt.Sprintf("Shut off, to at most %s retries per request in every second: never %s; after more than a second %s.", c.Text("shut_ratio"),
		orNone(w.those(func(i int) bool { return math.IsInf(w.mean(i, shut), 1) }, func(int) string { return "" })),
		orNone(w.those(func(i int) bool { s := w.mean(i, shut); return s > 1 && !math.IsInf(s, 1) },
			func(i int) string { return short(w.mean(i, shut), 1) + " s" + w.whyShut(i) }))))
	return append(notes, fmt.Sprintf("Back more than half a second after the outage: %s.",
		orNone(w.those(func(i int) bool { return w.mean(i, back) > 0.5 },
			func(i int) string {
				if s := w.mean(i, back); !math.IsInf(s, 1) {
					return short(s, 1) + " s" + w.whyBack(i)
				}
				return "never"
			}))))
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
		return fmt.Sprintf("%s instead of %s per request", fixed(w.mean(i, late), 2), fixed(rule.retries(w.cell(i)), 2))
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
		"only running retries count, not those that wait, so a short attempt gives its place back at once.")
	return notes
}

// whyShut explains a budget that shuts off late.
func (w presetWords) whyShut(i int) string {
	b, c := w.config(i), w.cell(i)
	if rule, ok := ruleOf(b); ok {
		return fmt.Sprintf(" (what it has spent comes back after its %v)", rule.length)
	}
	if b.Kind != policies.BudgetCounter {
		return ""
	}
	rate, at := c.Float("rate_rps"), c.Float("outage_at_s")
	reset := float64(b.Counter.ResetAt) / rate
	if next := math.Ceil(at/reset)*reset - at; math.Abs(next-w.mean(i, "shut_off_s")) < 3 {
		return fmt.Sprintf(" (its counters begin anew at %d requests, and the first %d are free)", b.Counter.ResetAt, b.Counter.Grace)
	}
	return " (it may use what the requests of a long time before have earned)"
}

// whyBack explains a budget that comes back late.
func (w presetWords) whyBack(i int) string {
	b := w.config(i)
	switch {
	case onlySuccessPays(b):
		return " (only good answers earn, and retries that fail cost meanwhile)"
	case b.Kind == policies.BudgetCounter:
		return " (new requests must outweigh the retries counted so far)"
	}
	return ""
}
