package table

import (
	"fmt"
	"math"
	"slices"
)

// A Column names one column. Names are snake_case with the unit last.
type Column struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`

	// Labels says the texts of a key column in words, for people: in figures
	// "count 20, min 20, ≥ 50 %" stands for "count-20-20-50".
	Labels map[string]string `json:"labels,omitempty"`
}

// Label returns the words for a text, or the text itself.
func (c Column) Label(text string) string {
	if l, ok := c.Labels[text]; ok {
		return l
	}
	return text
}

// A Row holds the text of the key columns and the numbers of the value
// columns; NaN means undefined.
type Row struct {
	Keys   []string
	Values []float64
}

// A Table is a tidy table: each row is one observation, identified by its keys.
type Table struct {
	Name   string // file stem, such as "false-trips_summary"
	Keys   []Column
	Values []Column
	Rows   []Row
}

// New returns an empty table. It panics if two columns share a name.
func New(name string, keys, values []Column) *Table {
	seen := map[string]bool{}
	for _, c := range slices.Concat(keys, values) {
		if seen[c.Name] {
			panic(fmt.Sprintf("table: %s: two columns named %q", name, c.Name))
		}
		seen[c.Name] = true
	}
	return &Table{Name: name, Keys: keys, Values: values}
}

// Append adds a row. It panics if the number of cells does not fit.
func (t *Table) Append(keys []string, values ...float64) {
	if len(keys) != len(t.Keys) || len(values) != len(t.Values) {
		panic(fmt.Sprintf("table: %s: row of %d keys and %d values, want %d and %d",
			t.Name, len(keys), len(values), len(t.Keys), len(t.Values)))
	}
	t.Rows = append(t.Rows, Row{Keys: keys, Values: values})
}

// KeyIndex returns the position of a key column, or -1.
func (t *Table) KeyIndex(name string) int {
	return slices.IndexFunc(t.Keys, func(c Column) bool { return c.Name == name })
}

// ValueIndex returns the position of a value column, or -1.
func (t *Table) ValueIndex(name string) int {
	return slices.IndexFunc(t.Values, func(c Column) bool { return c.Name == name })
}

// Key returns a row's text in the named key column, or "" if there is none.
func (t *Table) Key(r Row, name string) string {
	if i := t.KeyIndex(name); i >= 0 {
		return r.Keys[i]
	}
	return ""
}

// Label returns a row's text in the named key column in words.
func (t *Table) Label(r Row, name string) string {
	if i := t.KeyIndex(name); i >= 0 {
		return t.Keys[i].Label(r.Keys[i])
	}
	return ""
}

// Value returns a row's number in the named value column, or NaN if there is
// none.
func (t *Table) Value(r Row, name string) float64 {
	if i := t.ValueIndex(name); i >= 0 {
		return r.Values[i]
	}
	return math.NaN()
}

// Select returns the rows whose keys equal all of want, in table order. A name
// in want that is no key column matches nothing.
func (t *Table) Select(want map[string]string) []Row {
	var rows []Row
	for _, r := range t.Rows {
		if t.matches(r, want) {
			rows = append(rows, r)
		}
	}
	return rows
}

func (t *Table) matches(r Row, want map[string]string) bool {
	for name, text := range want {
		i := t.KeyIndex(name)
		if i < 0 || r.Keys[i] != text {
			return false
		}
	}
	return true
}

// Levels returns the distinct texts of a key column in order of appearance.
func (t *Table) Levels(name string) []string {
	i := t.KeyIndex(name)
	if i < 0 {
		return nil
	}
	var levels []string
	seen := map[string]bool{}
	for _, r := range t.Rows {
		if !seen[r.Keys[i]] {
			seen[r.Keys[i]] = true
			levels = append(levels, r.Keys[i])
		}
	}
	return levels
}
