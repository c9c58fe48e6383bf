package experiments

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Blank stands for a value that does not exist.
const Blank = "–"

// fixed renders a number with the given decimals; blank for NaN, "never" for
// +Inf.
func fixed(v float64, decimals int) string {
	switch {
	case math.IsNaN(v):
		return Blank
	case math.IsInf(v, 1):
		return "never"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// short renders a number with at most the given decimals.
func short(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fixed(v, 0)
	}
	scale := math.Pow(10, float64(decimals))
	return strconv.FormatFloat(math.Round(v*scale)/scale, 'f', -1, 64)
}

// meanCI renders "331.7 [330.6, 332.8]"; the interval is left out where it is
// undefined or the mean is exact.
func meanCI(s Stat, decimals int) string {
	if s.N == 0 || math.IsNaN(s.Lo) || s.Lo == s.Hi {
		return short(s.Mean, decimals)
	}
	return fmt.Sprintf("%s [%s, %s]", fixed(s.Mean, decimals), fixed(s.Lo, decimals), fixed(s.Hi, decimals))
}

// reached renders a metric that may never be reached: "never" if no
// replication reached it, the mean and how many did if only some did.
func reached(s Stat, decimals int) string {
	switch {
	case !s.Applies():
		return Blank
	case s.N == 0:
		return "never"
	case s.Censored > 0:
		return fmt.Sprintf("%s in %d of %d", meanCI(s, decimals), s.N, s.N+s.Censored)
	}
	return meanCI(s, decimals)
}

// article renders the article's value.
func article(s Stat, decimals int) string { return fixed(s.Article, decimals) }

// exact renders the closed form.
func exact(s Stat, decimals int) string { return short(s.Exact, decimals) }

// replications says how many replications a result holds, and of how many if
// it was cut short.
func (r *Result) replications() string {
	text := "1 replication"
	if r.Plan.Reps != 1 {
		text = fmt.Sprintf("%d replications", r.Plan.Reps)
	}
	if r.done < r.Plan.Jobs() {
		text = fmt.Sprintf("%d of %s", r.Measured(), text)
	}
	return text
}

// likeArticle reports whether a cell's factors, but for the named ones, have
// the levels that e has by default, which are the article's.
func likeArticle(e *Experiment, c Cell, except ...string) bool {
	for i := range c.factors {
		name := c.factors[i].Name
		if slices.Contains(except, name) {
			continue
		}
		if !slices.Contains(e.Factor(name).Levels, c.levels[i]) {
			return false
		}
	}
	return true
}
