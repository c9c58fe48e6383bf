package explain

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"
)

// WriteText writes a table for each topic that there is something to say of,
// and then the findings, the worst first. The error is that of w.
func (e *Explanation) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, t := range e.tables() {
		t.write(b)
	}
	e.writeFindings(b)
	return b.Flush()
}

// A table is a topic.
type table struct {
	title   string
	columns []column
	rows    [][]string
}

// A column has a name and a meaning.
type column struct{ name, meaning string }

func (e *Explanation) tables() []table {
	return []table{e.attemptsTable(), e.budgetsTable(), e.waitsTable(), e.deadlinesTable(), e.breakersTable(), e.loadsTable()}
}

func (e *Explanation) attemptsTable() table {
	t := table{"Attempts at a node for each request of a client, at worst", attemptsColumns, nil}
	for _, a := range e.Attempts {
		t.add(a.Client, a.Node, number(a.Meant), number(a.Worst), number(a.Bounded), a.Product)
	}
	return t
}

func (e *Explanation) budgetsTable() table {
	t := table{"Retry budgets in a total outage, for each instance", budgetsColumns, nil}
	for _, b := range e.Budgets {
		binds := perSecond(b.BindsAbove)
		if math.IsInf(b.BindsAbove, 1) {
			binds = "never"
		}
		t.add(b.Link, b.Kind, number(b.Instances), perSecond(b.Rate), perSecond(b.Outage), number(b.Demand), number(b.Bound), number(b.Burst), binds, b.Formula)
	}
	return t
}

func (e *Explanation) waitsTable() table {
	t := table{"Longest time to wait", waitsColumns, nil}
	for _, w := range e.Waits {
		name := "client " + w.Place
		if w.Link {
			name = "link " + w.Place
		}
		t.add(name, bound(w.Modelled), bound(w.Hanging), w.Reason)
	}
	return t
}

func (e *Explanation) deadlinesTable() table {
	t := table{"Attempts that fit in time if the callee hangs", deadlinesColumns, nil}
	for _, d := range e.Deadlines {
		t.add(d.Link, bound(d.Within), bound(d.Each), number(d.Attempts), number(d.Started), number(d.Full), bound(d.Last), seconds(d.Backoff))
	}
	return t
}

func (e *Explanation) breakersTable() table {
	t := table{"Breakers in a total outage, for each instance", breakersColumns, nil}
	for _, b := range e.Breakers {
		t.add(b.Link, b.Kind, number(b.Instances), perSecond(b.Rate), perSecond(b.Outage), number(b.Holds), number(b.Minimum),
			seconds(b.First), seconds(b.Hanging), seconds(b.Fresh), seconds(b.Healthy), seconds(b.Latest), seconds(b.FreshHanging), seconds(b.SlowEarliest))
	}
	return t
}

func (e *Explanation) loadsTable() table {
	t := table{"Load and capacity", loadsColumns, nil}
	for _, d := range e.Loads {
		t.add(d.Node, perSecond(d.Rate), seconds(d.Held), perSecond(d.Capacity), number(d.Rho), perSecond(d.Worst), perSecond(d.Bounded), number(d.Burst))
	}
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table, if it has rows.
func (t *table) write(b *bufio.Writer) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n", t.title)
	header := make([]string, len(t.columns))
	for i, c := range t.columns {
		header[i] = c.name
	}
	writeRows(b, append([][]string{header}, t.rows...))
	fmt.Fprintln(b)
}

// writeRows writes rows with their columns aligned.
func writeRows(b *bufio.Writer, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString("  " + cell + strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)))
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
	}
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
