package explain

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// WriteText writes a table for each topic that there is something to say of,
// and then the findings, the worst first. The error is that of w.
func (e *Explanation) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, t := range e.topics() {
		t.Write(b) // a failure stays in b
		fmt.Fprintln(b)
	}
	e.writeFindings(b)
	return b.Flush()
}

// A topic is a table and what its columns mean, and its signs.
type topic struct {
	table.Text
	meanings []meaning
}

// A meaning is that of a word.
type meaning struct{ word, meaning string }

func newTopic(caption string, columns []meaning) *topic {
	t := &topic{table.Text{Caption: caption, Left: len(columns)}, columns}
	for _, c := range columns {
		t.Header = append(t.Header, c.word)
	}
	return t
}

// topics are those with rows.
func (e *Explanation) topics() []*topic {
	all := []*topic{e.attemptsTopic(), e.budgetsTopic(), e.waitsTopic(), e.deadlinesTopic(), e.breakersTopic(), e.loadsTopic()}
	return slices.DeleteFunc(all, func(t *topic) bool { return len(t.Rows) == 0 })
}

func (e *Explanation) attemptsTopic() *topic {
	t := newTopic("Attempts at a node for each request of a client, at worst", attemptsColumns)
	for _, a := range e.Attempts {
		t.Append(a.Client, a.Node, number(a.Meant), number(a.Worst), number(a.Bounded), a.Product)
	}
	return t
}

func (e *Explanation) budgetsTopic() *topic {
	t := newTopic("Retry budgets in a total outage, for each instance", budgetsColumns)
	for _, b := range e.Budgets {
		binds := perSecond(b.BindsAbove)
		if math.IsInf(b.BindsAbove, 1) {
			binds = "never"
		}
		t.Append(b.Link, b.Kind, number(b.Instances), perSecond(b.Rate), perSecond(b.Outage), number(b.Demand), number(b.Bound), number(b.Burst), binds, b.Formula)
	}
	return t
}

func (e *Explanation) waitsTopic() *topic {
	t := newTopic("Longest time to wait", waitsColumns)
	for _, w := range e.Waits {
		name := "client " + w.Place
		if w.Link {
			name = "link " + w.Place
		}
		t.Append(name, bound(w.Modelled), bound(w.Hanging), w.Reason)
	}
	return t
}

func (e *Explanation) deadlinesTopic() *topic {
	t := newTopic("Attempts that fit in time if the callee hangs", deadlinesColumns)
	for _, d := range e.Deadlines {
		t.Append(d.Link, bound(d.Within), bound(d.Each), number(d.Attempts), number(d.Started), number(d.Full), bound(d.Last), seconds(d.Backoff))
	}
	return t
}

func (e *Explanation) breakersTopic() *topic {
	t := newTopic("Breakers in a total outage, for each instance", breakersColumns)
	for i := range e.Breakers {
		b := &e.Breakers[i]
		t.Append(b.Link, b.Kind, number(b.Instances), perSecond(b.Rate), perSecond(b.Outage), number(b.Holds), number(b.Minimum), seconds(b.First), seconds(b.Hanging),
			b.opening(b.Fresh), b.opening(b.Healthy), b.opening(b.Latest), b.opening(b.FreshHanging), b.opening(b.HealthyHanging), b.opening(b.SlowEarliest))
	}
	if slices.ContainsFunc(e.Breakers, func(b Breaker) bool { return b.Rough }) {
		t.meanings = append(slices.Clip(t.meanings), meaning{about, aboutMeaning})
	}
	return t
}

// opening writes when a breaker opens.
func (b *Breaker) opening(t float64) string {
	if b.Rough && t < never {
		return about + seconds(t)
	}
	return seconds(t)
}

func (e *Explanation) loadsTopic() *topic {
	t := newTopic("Load and capacity", loadsColumns)
	for _, d := range e.Loads {
		t.Append(d.Node, perSecond(d.Rate), seconds(d.Held), perSecond(d.Capacity), number(d.Rho), perSecond(d.Worst), perSecond(d.Bounded), number(d.Burst))
	}
	return t
}

func (e *Explanation) writeFindings(b *bufio.Writer) {
	if len(e.Findings) == 0 {
		fmt.Fprintln(b, "Nothing to remark.")
		return
	}
	for s := Problem; s <= Note; s++ {
		n := 0
		for _, f := range e.Findings {
			if f.Severity == s {
				n++
			}
		}
		if n == 0 {
			continue
		}
		title := s.String() + "s"
		fmt.Fprintf(b, "%s (%d)\n", strings.ToUpper(title[:1])+title[1:], n)
		e.writePlaces(b, s)
	}
}

// writePlaces writes the findings of a severity, those of a place together.
func (e *Explanation) writePlaces(b *bufio.Writer, s Severity) {
	var places []string
	at := make(map[string][]*Finding)
	for i := range e.Findings {
		f := &e.Findings[i]
		if f.Severity != s {
			continue
		}
		if at[f.Place] == nil {
			places = append(places, f.Place)
		}
		at[f.Place] = append(at[f.Place], f)
	}
	for _, p := range places {
		indent := "  "
		if p != "" {
			fmt.Fprintf(b, "  %s\n", p)
			indent = "    "
		}
		for _, f := range at[p] {
			text := f.Text
			if f.Numbers != "" {
				text += ": " + f.Numbers
			}
			fmt.Fprintf(b, "%s%s [%s]\n", indent, text, f.Rule)
		}
	}
}
