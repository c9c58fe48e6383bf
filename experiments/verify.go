package experiments

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/theory"
)

// A Check is one measurement of the articles beside ours.
type Check struct {
	Expected
	Ours   string // as measured; "never" if it never happened
	OK     bool   // inside [Low, High]
	Reason string // why the article's value is outside the accepted range, if it is
}

// verifyRuns are the ordinary experiments that reproduce the articles' tables,
// with the parameters of the articles, which are the experiments' defaults.
var verifyRuns = []struct {
	experiment func() *Experiment
	options    Options
}{
	{detectionDelay, Options{}},
	{falseTrips, Options{Reps: 400, Set: map[string]string{"mode": "observe"}}},
	{slowCalls, Options{Reps: 30}},
	{amplification, Options{Reps: 200, Set: map[string]string{"failure_ratio": "0.05,0.2,0.5,1"}}},
	{amplificationTimeline, Options{}},
	{amplificationLayers, Options{}},
	{meshRetries, Options{Set: map[string]string{"failure_ratio": "0.5,1"}}},
	{meshChain, Options{}},
	{meshRetryCap, Options{Reps: 20, Set: map[string]string{"clients": "20"}}},
	{meshWrites, Options{}},
	{meshTimeouts, Options{Set: map[string]string{"cancel": "off"}}},
	{drill, Options{Set: map[string]string{"scene": "stalled"}}},
	{fanOut, Options{Set: map[string]string{"retrying": "every", "failure_ratio": "1"}}},
}

// Verify measures every row of expected.csv whose experiment is built, in the
// order of the file, and returns the tables that are not built yet.
func Verify(ctx context.Context, seed uint64, workers int, progress func(done, total int)) (checks []Check, unbuilt []string, err error) {
	var plans []*Plan
	total := 0
	for _, v := range verifyRuns {
		v.options.Seed = seed
		p, err := NewPlan(v.experiment(), v.options)
		if err != nil {
			return nil, nil, err
		}
		plans = append(plans, p)
		total += p.Jobs()
	}
	ours := closedForms()
	before := 0
	for _, p := range plans {
		r, err := p.Run(ctx, workers, func(done, _ int) {
			if progress != nil {
				progress(before+done, total)
			}
		})
		if err != nil {
			return nil, nil, err
		}
		before += p.Jobs()
		r.collect(ours)
	}
	for _, e := range ExpectedRows() {
		v, built := ours[e.key()]
		if !built {
			if !slices.Contains(unbuilt, e.Table) {
				unbuilt = append(unbuilt, e.Table)
			}
			continue
		}
		c := Check{Expected: e, Ours: format(v), OK: within(v, e)}
		if seed := parseExpected(e.Seed); !math.IsNaN(seed) && !within(seed, e) && !roundsTo(v, e.Seed) {
			c.Reason = e.reason()
		}
		checks = append(checks, c)
	}
	return checks, unbuilt, nil
}

func (e Expected) key() [3]string { return [3]string{e.Table, e.Case, e.Metric} }

// collect stores the mean of every cell and metric that has a row in the
// articles; +Inf if it was never reached.
func (r *Result) collect(ours map[[3]string]float64) {
	for i, c := range r.Plan.Cells {
		for _, m := range r.Plan.Experiment.Metrics {
			s := r.Stat(i, m.Name)
			if !s.Applies() {
				continue
			}
			t, name, metric := r.Plan.Experiment.Article(c, m.Name)
			if t == "" {
				continue
			}
			ours[[3]string{t, name, metric}] = s.Mean * articleFactor(metric)
			if s.N == 0 {
				ours[[3]string{t, name, metric}] = math.Inf(1)
			}
		}
	}
}

// closedForms are the articles' figures that are formulas.
func closedForms() map[[3]string]float64 {
	tail, err := theory.BinomialTail(20, 0.3, 10)
	if err != nil {
		panic(err)
	}
	return map[[3]string]float64{{"T4b", "closed form", "p_bin_20_0.3_ge_10"}: tail}
}

// within reports whether a value is in the accepted range; values are compared
// to the nanosecond.
func within(v float64, e Expected) bool {
	low, high := parseExpected(e.Low), parseExpected(e.High)
	if math.IsInf(v, 1) || math.IsInf(low, 1) {
		return math.IsInf(v, 1) && math.IsInf(low, 1)
	}
	const ns = 1e-9
	return v >= low-ns/2 && v <= high+ns/2
}

// reason says why the article's value is out of the accepted range.
func (e Expected) reason() string {
	switch {
	case e.Experiment == "detection-delay":
		return "the article adds up 1/rate in float64: the call due at the outage comes a hair early"
	case e.Experiment == "false-trips" && e.Metric == "delay_s":
		return "the article's window held 20 s of calls, not 60 s, when the outage began"
	case e.Experiment == "false-trips", e.Experiment == "mesh-retries":
		return "the article has one run; the range is that of a mean"
	}
	return e.Note
}

// roundsTo reports whether a value, with the decimals of the text, is the text.
func roundsTo(v float64, text string) bool {
	_, decimals, _ := strings.Cut(text, ".")
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', len(decimals), 64), 64)
	return err == nil && rounded == parseExpected(text)
}

func format(v float64) string {
	if math.IsInf(v, 1) {
		return "never"
	}
	return fmt.Sprintf("%.10g", v)
}
