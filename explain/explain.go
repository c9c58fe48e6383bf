package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
)

// A Severity says how bad a finding is.
type Severity uint8

// The severities, the worst first.
const (
	Problem Severity = iota // does not do what it is there for
	Warning                 // does harm under load or in an outage
	Note                    // worth knowing
)

// String returns the name, such as "problem".
func (s Severity) String() string {
	switch s {
	case Problem:
		return "problem"
	case Warning:
		return "warning"
	}
	return "note"
}

// A Finding is something about a system that may not be meant.
type Finding struct {
	Severity Severity
	// Rule names what was looked for, such as "breaker-never-opens": the same
	// for all findings of a kind.
	Rule string
	// Place is the node, client, call or layer, as in [model.Remark].
	Place string
	Text  string
	// Numbers is the arithmetic, as a formula with its values; "" where the
	// text has it all.
	Numbers string
}

// An Explanation is what can be said of a system without running it. Its rows
// are in the order of the system's clients and nodes, the findings by severity.
type Explanation struct {
	Attempts  []Attempts
	Waits     []Wait
	Deadlines []Deadline
	Breakers  []Breaker
	Budgets   []Budget
	Loads     []Load
	Findings  []Finding
}

// Explain explains a system. Of one that is not valid it has nothing but a
// problem for each line of the error of Validate.
func Explain(c model.Config) *Explanation {
	if err := c.Validate(); err != nil {
		e := &Explanation{}
		for _, line := range strings.Split(err.Error(), "\n") {
			e.add(Finding{Problem, "not-valid", "", strings.TrimPrefix(line, "model: "), ""})
		}
		return e
	}
	x := &explainer{system: newSystem(&c), Explanation: &Explanation{}, said: make(map[Finding]bool), fits: make(map[fitting]tally), hangs: make(map[int]*flow)}
	x.notes()
	x.budgets()
	x.attempts()
	x.waits()
	x.tails()
	x.deadlines()
	x.breakers()
	x.limits()
	x.loads()
	slices.SortStableFunc(x.Findings, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) })
	return x.Explanation
}

// Has reports whether there is a finding of a severity or a worse one.
func (e *Explanation) Has(s Severity) bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Severity <= s })
}

func (e *Explanation) add(f Finding) { e.Findings = append(e.Findings, f) }

// An explainer gathers an explanation of a system.
type explainer struct {
	*system
	*Explanation
	said map[Finding]bool
	// What is worked out once; nil if not known yet.
	shared  map[string]callRates // of budgets
	enter   *entering
	soonest []float64  // by node: seconds until a call may have failed
	waited  []patience // by node
	fits    map[fitting]tally
	hangs   map[int]*flow // by node: the flow while it hangs, with budgets
}

// find adds a finding, once.
func (x *explainer) find(s Severity, rule, place, text, numbers string) {
	f := Finding{s, rule, place, text, numbers}
	if !x.said[f] {
		x.said[f] = true
		x.add(f)
	}
}
