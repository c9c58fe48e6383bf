package scenario

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/table"
)

// Measured is the value of a claim with its interval, such as 0.991 [0.988,
// 0.994], or the share of the replications in which it holds.
func (v *Verdict) Measured() string {
	if v.Never > 0 && v.Never < len(v.Values) {
		rest := *v
		rest.Never = 0
		return fmt.Sprintf("never in %d of %d, else %s", v.Never, len(v.Values), rest.Measured())
	}
	if v.Asked > 0 {
		return fmt.Sprintf("in %s of replications [%s, %s], mean %s", percent(v.Share, v.Asked), percent(v.Lo, v.Asked), percent(v.Hi, v.Asked), v.format(v.Mean))
	}
	if v.Lo == v.Hi || math.IsNaN(v.Mean) || math.IsInf(v.Mean, 0) {
		return v.format(v.Mean)
	}
	return fmt.Sprintf("%s [%s, %s]", v.format(v.Mean), v.format(v.Lo), v.format(v.Hi))
}

// percent renders a share, such as 83.9 %.
func percent(x float64, limits ...float64) string {
	return apart(x, 3, append(limits, 0, 1), func(x float64, digits int) string {
		return strconv.FormatFloat(100*x, 'g', digits, 64) + " %"
	})
}

// format renders a value in its unit.
func (v *Verdict) format(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nothing to measure"
	case math.IsInf(x, 1):
		return "never"
	case v.Unit == "s":
		return apart(x, 6, v.limits, func(x float64, digits int) string {
			return table.Duration(time.Duration(math.Round(x*1e9)), digits)
		})
	}
	return apart(x, 6, v.limits, func(x float64, digits int) string {
		if math.Abs(x) < 1e15 && x == math.Trunc(x) {
			digits = -1 // all
		}
		text := strconv.FormatFloat(x, 'g', digits, 64)
		if digits < 0 {
			text = strconv.FormatFloat(x, 'f', -1, 64)
		}
		return text + v.Unit
	})
}

// apart renders a value with so many digits, and more where it would look like
// a limit that it is not.
func apart(x float64, digits int, limits []float64, render func(x float64, digits int) string) string {
	for ; ; digits++ {
		text := render(x, digits)
		same := func(limit float64) bool { return limit != x && render(limit, digits) == text }
		if digits >= 17 || !slices.ContainsFunc(limits, same) {
			return text
		}
	}
}

// WriteText prints what became of each claim.
func WriteText(w io.Writer, reports []Report) error {
	for i, r := range reports {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		t := table.Text{
			Caption: fmt.Sprintf("%s: %s, seed %d", r.Case.Title(), replications(r.Case.Replications), r.Case.Seed),
			Header:  []string{"claim", "measured", "verdict"}, Left: 3,
		}
		for k := range r.Verdicts {
			v := &r.Verdicts[k]
			t.Append(v.Claim, v.Measured(), string(v.Status))
			for _, note := range v.Notes {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s.", v.Claim, note))
			}
			if v.Status != Holds && v.Why != "" {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s", v.Claim, strings.Join(strings.Fields(v.Why), " ")))
			}
		}
		if len(r.Verdicts) == 0 {
			t.Notes = append(t.Notes, "No claims.")
		}
		if err := t.Write(w); err != nil {
			return err
		}
	}
	return nil
}

// Tally returns how many claims have a status.
func Tally(reports []Report, s Status) (n int) {
	for _, r := range reports {
		for i := range r.Verdicts {
			if r.Verdicts[i].Status == s {
				n++
			}
		}
	}
	return n
}
