package plots

import (
	"math"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// retryFamily tells the family of a retry policy by the first word of its name.
func retryFamily(policy string) Family {
	switch kind, _, _ := strings.Cut(policy, "-"); kind {
	case "none":
		return NoRetry
	case "retry":
		return Unlimited
	case "budget", "share", "cap", "counter":
		return Budget
	}
	return Neutral
}

// retryStyles gives each retry policy the next member of its family.
func retryStyles(policies []string) map[string]Style {
	styles := map[string]Style{}
	members := map[Family]int{}
	for _, p := range policies {
		f := retryFamily(p)
		styles[p] = f.Member(members[f])
		members[f]++
	}
	return styles
}

// sameGroup returns the group of another table that has the same levels, or
// one without rows.
func sameGroup(gs []group, g group) group {
	for _, other := range gs {
		if other.title() == g.title() {
			return other
		}
	}
	return group{table: g.table}
}

// labelOf is a level of a key column in words.
func labelOf(t *table.Table, column, level string) string {
	for _, c := range t.Keys {
		if c.Name == column {
			return c.Label(level)
		}
	}
	return level
}

// glued keeps a percent sign on the line of its number.
func glued(text string) string { return strings.ReplaceAll(text, " %", "\u00a0%") }

// published collects the values that the articles print.
type published struct{ x, y []float64 }

func (p *published) add(x, y float64) {
	if !math.IsNaN(y) {
		p.x, p.y = append(p.x, x), append(p.y, y)
	}
}

// marks is a reference for them, if there are any.
func (p published) marks() []Mark {
	if len(p.x) == 0 {
		return nil
	}
	return []Mark{Reference{Label: "article", X: p.x, Y: p.y}}
}

// key explains the reference, if there is one.
func (p published) key() []KeyItem {
	if len(p.x) == 0 {
		return nil
	}
	return []KeyItem{{KeyReference, Style{}, "article, one run"}}
}
