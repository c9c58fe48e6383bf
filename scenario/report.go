package scenario

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/table"
)

// Measured is the value of a claim with its interval, such as 0.991 [0.988,
// 0.994], or the share of the replications in which it holds.
func (v *Verdict) Measured() string {
	if v.Asked > 0 {
		return fmt.Sprintf("in %s of replications [%s, %s], mean %s", percent(v.Share), percent(v.Lo), percent(v.Hi), v.format(v.Mean))
	}
	if v.Lo == v.Hi || math.IsNaN(v.Mean) || math.IsInf(v.Mean, 0) {
		return v.format(v.Mean)
	}
	return fmt.Sprintf("%s [%s, %s]", v.format(v.Mean), v.format(v.Lo), v.format(v.Hi))
}

func percent(x float64) string { return strconv.FormatFloat(math.Round(1000*x)/10, 'f', -1, 64) + " %" }

// format renders a value in its unit.
func (v *Verdict) format(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nothing to measure"
	case math.IsInf(x, 1):
		return "never"
	case v.Unit == "s":
		return sixDigits(time.Duration(math.Round(x * 1e9))).String()
	}
	text := strconv.FormatFloat(x, 'g', 6, 64)
	if math.Abs(x) < 1e15 && x == math.Trunc(x) {
		text = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return text + v.Unit
}

// sixDigits rounds a duration to six digits, such as 1m4.7332s.
func sixDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1_000_000 {
		unit *= 10
	}
	return d.Round(unit)
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
			if v.Note != "" {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: %s.", v.Claim, v.Note))
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
