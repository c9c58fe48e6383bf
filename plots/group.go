package plots

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/stormglass/stormglass/table"
)

// A group is the rows of a table that share all factors but those that one
// figure shows.
type group struct {
	table   *table.Table
	members []table.Row
	varying []string // names of shared factors with several levels
}

// groups splits a table by all its keys but the named ones, in order of
// appearance.
func groups(t *table.Table, shown ...string) []group {
	var shared, varying []string
	for _, c := range t.Keys {
		if slices.Contains(shown, c.Name) || c.Name == "experiment" {
			continue
		}
		shared = append(shared, c.Name)
		if len(t.Levels(c.Name)) > 1 {
			varying = append(varying, c.Name)
		}
	}
	var out []group
	index := map[string]int{}
	for _, r := range t.Rows {
		var key strings.Builder
		for _, name := range shared {
			key.WriteString(t.Key(r, name) + "\x00")
		}
		i, ok := index[key.String()]
		if !ok {
			i = len(out)
			index[key.String()] = i
			out = append(out, group{table: t, varying: varying})
		}
		out[i].members = append(out[i].members, r)
	}
	return out
}

// rows returns the group's rows with the given level.
func (g group) rows(name, level string) []table.Row {
	var rows []table.Row
	for _, r := range g.members {
		if g.table.Key(r, name) == level {
			rows = append(rows, r)
		}
	}
	return rows
}

// title names the levels that set the group apart: " · rate_rps = 50".
func (g group) title() string {
	text := ""
	for _, name := range g.varying {
		text += " · " + name + " = " + g.table.Key(g.members[0], name)
	}
	return text
}

// suffix is the same for a file name: "_rate_rps-50".
func (g group) suffix() string {
	text := ""
	for _, name := range g.varying {
		level := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' {
				return r
			}
			return '-'
		}, g.table.Key(g.members[0], name))
		text += "_" + name + "-" + level
	}
	return text
}

// familyOf tells the family of a breaker by its kind of window.
func familyOf(policy string) Family {
	switch kind, _, _ := strings.Cut(policy, "-"); kind {
	case "count":
		return CountWindow
	case "time":
		return TimeWindow
	case "buckets":
		return BucketWindow
	}
	return Neutral
}

// number reads a numeric level; NaN if it is none.
func number(level string) float64 {
	v, err := strconv.ParseFloat(level, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// anyWidth reports whether any interval has a width.
func anyWidth(lo, hi []float64) bool {
	for i := range lo {
		if hi[i] > lo[i] {
			return true
		}
	}
	return false
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return string(unicode.ToUpper(r[0])) + string(r[1:])
}

// plainText is a level in prose.
func plainText(level string) string { return strings.ReplaceAll(level, "-", " ") }

// compact is a number with at most the given decimals.
func compact(v float64, decimals int) string {
	text := Number(v, decimals)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
