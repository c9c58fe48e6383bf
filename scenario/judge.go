package scenario

import (
	"fmt"
	"math"
	"slices"

	"github.com/stormglass/stormglass/theory"
)

// A Status says what became of a claim.
type Status string

// The statuses. A claim is undecided if its interval holds both values that
// satisfy it and values that do not: more replications would tell.
const (
	Holds     Status = "holds"
	Fails     Status = "fails"
	Undecided Status = "undecided"
)

// A Verdict is a claim and what was measured.
type Verdict struct {
	Claim, Why string
	Notes      []string // what a reader of the verdict must know besides
	Status     Status
	Unit       string    // "", s, or /s
	Values     []float64 // by replication; NaN where there was nothing to measure, +Inf for never
	Never      int       // replications in which the instant did not come: not in the mean
	Mean       float64   // NaN if nothing was measured, +Inf if all are never
	Lo, Hi     float64   // 95 % interval of the mean (Student t), or of the share (Wilson)
	Share      float64   // of the replications in which it holds
	Asked      float64   // the share that was asked for; 0 means that the mean counts

	limits []float64 // what the mean is compared with
}

// confidence of all intervals.
const confidence = 0.95

// judge decides a claim from its values, one of each replication.
func (s *statement) judge(values []float64) Verdict {
	v := Verdict{Claim: s.text, Why: s.why, Unit: s.metric.unit, Values: values, Asked: s.share, limits: []float64{s.low}}
	if s.op == "within" {
		v.limits = append(v.limits, s.high)
	}
	good, missing := 0, 0
	var finite []float64
	for _, x := range values {
		if s.holds(x) {
			good++
		}
		switch {
		case math.IsNaN(x):
			missing++
		case math.IsInf(x, 1):
			v.Never++
		default:
			finite = append(finite, x)
		}
	}
	n := len(values)
	v.Share = float64(good) / float64(n)
	v.Mean, v.Lo, v.Hi = mean(finite, v.Never > 0)
	if s.share > 0 {
		v.Lo, v.Hi = theory.WilsonInterval(good, n, confidence)
	} else { // no metric is below 0
		v.Lo, v.Hi = max(v.Lo, 0), max(v.Hi, 0)
		if most := s.metric.most; most > 0 {
			v.Lo, v.Hi = min(v.Lo, most), min(v.Hi, most)
		}
	}
	v.Status = s.status(&v, good, missing)
	if s.lacks != "" {
		v.Notes = append(v.Notes, s.lacks)
	}
	if missing > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("nothing to measure in %d of %s", missing, replications(n)))
	}
	if more := s.needed(&v, good, n); v.Status == Undecided && more > n {
		v.Notes = append(v.Notes, fmt.Sprintf("about %d replications would tell, if they are like these", more))
	}
	return v
}

// status decides a claim, of whose values some are good and some are missing.
func (s *statement) status(v *Verdict, good, missing int) Status {
	n := len(v.Values)
	decided := func(holds, fails bool) Status {
		switch {
		case holds:
			return Holds
		case fails:
			return Fails
		}
		return Undecided
	}
	switch {
	case missing == n:
		return Fails // nothing to measure in any replication
	case s.share == 1:
		return decided(good == n, true)
	case s.share > 0:
		return decided(v.Lo >= s.share, v.Hi < s.share)
	case missing > 0:
		return Undecided
	case math.IsInf(s.low, 1): // == or != never
		return decided(good == n, true)
	case v.Never > 0:
		return decided(good == n, s.op != ">" && s.op != ">=" && s.op != "!=")
	}
	return decided(s.all(v.Lo, v.Hi), s.none(v.Lo, v.Hi))
}

// needed is about how many replications would decide a claim that is
// undecided, if they were like the ones there are: 0 if none would.
func (s *statement) needed(v *Verdict, good, n int) int {
	if s.share > 0 {
		for more := n; more <= MaxReplications; more += 1 + more/100 {
			lo, hi := theory.WilsonInterval(int(math.Round(v.Share*float64(more))), more, confidence)
			if lo >= s.share || hi < s.share {
				return more
			}
		}
		return 0
	}
	// The interval narrows as the root of the number.
	away := math.Inf(1)
	for _, limit := range v.limits {
		away = min(away, math.Abs(v.Mean-limit))
	}
	if v.Never > 0 {
		return 0
	}
	more := math.Ceil(float64(n) * math.Pow((v.Hi-v.Lo)/2/away, 2))
	if !(more <= MaxReplications) || s.op == "==" || s.op == "!=" {
		return 0
	}
	return int(more)
}

// mean returns the mean and its interval; of no values it is never or unknown.
// Equal values have themselves as their mean, to the last bit.
func mean(values []float64, never bool) (m, lo, hi float64) {
	switch {
	case len(values) == 0 && never:
		m = math.Inf(1)
		return m, m, m
	case len(values) == 0:
		m = math.NaN()
		return m, m, m
	case slices.Min(values) == slices.Max(values):
		return values[0], values[0], values[0]
	}
	m, sd := theory.MeanSD(values)
	lo, hi = theory.StudentInterval(len(values), m, sd, confidence)
	return m, lo, hi
}

// all reports whether every value from lo to hi satisfies the claim, none
// whether no value does.
func (s *statement) all(lo, hi float64) bool {
	switch s.op {
	case "!=":
		return s.low < lo || s.low > hi
	}
	return s.holds(lo) && s.holds(hi)
}

func (s *statement) none(lo, hi float64) bool {
	switch s.op {
	case "==":
		return s.low < lo || s.low > hi
	case "!=":
		return lo == hi && lo == s.low
	case "within":
		return hi < s.low || lo > s.high || math.IsNaN(lo)
	}
	return !s.holds(lo) && !s.holds(hi)
}
