package experiments

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// fasterBy is how many times as many calls the notes try.
const fasterBy = 4

// whySpeed compares a delay with that at another rate: a number of calls is
// reached sooner if there are more of them, a share of a window in time is not.
// It says nothing where the trial does not make what the table says.
func whySpeed(r *Result, p presetRow) string {
	rate := p.c.Float("rate_rps")
	one, ok := trialOutages(p.c, p.maker, rate)
	more, ok2 := trialOutages(p.c, p.maker, fasterBy*rate)
	if !ok || !ok2 || math.Abs(one.delay-p.delay.Mean) > 1e-3 || math.Abs(one.bad-r.Stat(p.cell, "bad_calls_count").Mean) > 1e-6 {
		return ""
	}
	here, there := formatNumber(rate), formatNumber(fasterBy*rate)
	later := short(more.delay, 3)
	switch same := one.same && more.same && one.bad == more.bad; {
	case same && one.bad == 1:
		return fmt.Sprintf(": 1 bad call is enough, at %s/s as at %s/s", here, there)
	case same:
		return fmt.Sprintf(": %s bad calls are enough, at %s/s as at %s/s (%s s)", short(one.bad, 0), here, there, later)
	}
	return fmt.Sprintf(", by %s bad calls at %s/s; %s at %s/s (%s s)", short(one.bad, 1), here, short(more.bad, 1), there, later)
}

// inTime reports whether a breaker has a window in time by the common settings:
// its configuration follows their length in seconds.
func (p presetRow) inTime() bool {
	set := p.c.preset().Set
	if set == nil || p.c.Text("settings") == presetDefaults {
		return false
	}
	if rule, ok := exactRule(p.maker); ok {
		return rule.Window.Kind == policies.TimeWindow
	}
	shorter := common(p.c, "failure_pct")
	longer := shorter
	longer.Window += 7 * time.Second
	return !reflect.DeepEqual(set(shorter), set(longer))
}

// neverNotes say which breakers let an outage pass, and from which rate on
// they would not.
func neverNotes(rows []presetRow) []string {
	byText := map[string][]string{}
	var texts []string
	brackets := false
	for _, p := range notThrottles(rows) {
		if p.always() {
			continue
		}
		text := whyNever(p)
		if byText[text] == nil {
			texts = append(texts, text)
		}
		at, found := opensFrom(p)
		brackets = brackets || found
		byText[text] = append(byText[text], p.name+at)
	}
	var notes []string
	for _, text := range texts {
		notes = append(notes, text+": "+strings.Join(byText[text], ", ")+".")
	}
	if brackets {
		notes = append(notes, "In brackets the lowest rate, of those that double, at which it opens.")
	}
	return notes
}

// whyNever says that a breaker lets outages pass, and why as far as it is plain.
func whyNever(p presetRow) string {
	rate := p.c.Float("rate_rps")
	text := "Never opens"
	if p.delay.N > 0 {
		text = "Does not open every time"
	}
	text += fmt.Sprintf(" in outages of %s s at %s/s", p.c.Text("outage_s"), formatNumber(rate))
	if calls := rate * p.c.Float("window_s"); p.inTime() && calls < p.c.Float("minimum") {
		text += fmt.Sprintf(", as in a window of %s s there are %s calls, fewer than the minimum of %s", p.c.Text("window_s"), short(calls, 1), p.c.Text("minimum"))
	}
	return text
}

// opensFrom is the lowest rate, of those that double, at which a breaker opens
// in the outage that begins with a second. If there is none the outage is too
// short, or it does not look at failures, as one that takes no common settings
// may say of itself.
func opensFrom(p presetRow) (text string, found bool) {
	rate := p.c.Float("rate_rps")
	for {
		o, ok := trialOutage(p.c, p.maker, 2*rate, 0)
		if !ok {
			if preset := p.c.preset(); preset.Set == nil && preset.Differs != "" {
				return fmt.Sprintf(" (nor at %s/s; %s)", formatNumber(rate), preset.Differs), false
			}
			if rate == p.c.Float("rate_rps") {
				return "", false
			}
			return fmt.Sprintf(" (nor at %s/s)", formatNumber(rate)), false
		}
		rate *= 2
		if !math.IsInf(o.delay, 1) {
			return fmt.Sprintf(" (at %s/s after %s s)", formatNumber(rate), short(o.delay, 2)), true
		}
	}
}
