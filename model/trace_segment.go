package model

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Optional is a value that may be unknown, as its zero value is.
type Optional[T comparable] struct {
	Value T
	Known bool
}

// Known makes a known value.
func Known[T comparable](v T) Optional[T] { return Optional[T]{v, true} }

// Or returns the value if it is known, otherwise fallback.
func (o Optional[T]) Or(fallback T) T {
	if o.Known {
		return o.Value
	}
	return fallback
}

// A Segment says what was observed, or is to be simulated, at one node during
// [Start, End). Segments may be compared with ==.
type Segment struct {
	// Node is its name: not empty, printable, no spaces at either end.
	Node string
	// Start and End are times since the trace began, Start at least 0, End
	// above Start.
	Start, End time.Duration
	// RateRPS is the mean rate of arrivals, in calls per second, from 0 to 1e9.
	RateRPS Optional[float64]
	Condition
	// Injected names the fault that was put into this node during the
	// segment: the truth that detection is judged by. Empty means none. The
	// same rules as for Node hold.
	Injected string
}

// A Condition is the state of a node. The zero Condition never fails and says
// nothing about latency.
type Condition struct {
	// ErrorRatio is the share of calls that fail, from 0 to 1.
	ErrorRatio float64
	// CapacityFactor is the share of the node's capacity that is left, from 0
	// to 1. Unknown means all of it.
	CapacityFactor Optional[float64]
	// LatencyMean and the quantiles are at least 0; the quantiles that are
	// known do not decrease from P50 to P99.
	LatencyMean                        Optional[time.Duration]
	LatencyP50, LatencyP90, LatencyP99 Optional[time.Duration]
}

// Capacity is the capacity factor, 1 if it is unknown.
func (c Condition) Capacity() float64 { return c.CapacityFactor.Or(1) }

// LatencyLaw returns a distribution with the known latencies, and false if
// there are none.
//
// Two or three quantiles give a [Quantiles] law through them: from 0 up to the
// lowest it is uniform, between two it is uniform on the logarithmic scale,
// and nothing above the highest is made up. The mean does not enter; on the
// 780 records of examples/petshop-high.csv the law's own mean differs from
// the reported one by 7.5 % (median; +1 % with its sign), least among the
// interpolations tried, by more where the latencies have two separate modes.
// The mean alone, or one quantile alone, gives an exponential law with it, the
// least assuming one (Jaynes 1957); if it is 0 the law is constant.
func (c Condition) LatencyLaw() (Law, bool) {
	var points []Point
	for _, q := range []struct {
		p float64
		d Optional[time.Duration]
	}{{0.5, c.LatencyP50}, {0.9, c.LatencyP90}, {0.99, c.LatencyP99}} {
		if q.d.Known {
			points = append(points, Point{q.p, q.d.Value})
		}
	}
	mean := c.LatencyMean
	switch {
	case len(points) > 1:
		return Law{Kind: Quantiles, Points: points}, true
	case !mean.Known && len(points) == 1:
		mean = Known(nanoseconds(float64(points[0].D) / -math.Log1p(-points[0].P)))
	case !mean.Known:
		return Law{}, false
	}
	if mean.Value == 0 {
		return Law{Kind: Constant}, true
	}
	return Law{Kind: Exponential, Mean: mean.Value}, true
}

// Validate reports the first field that is out of range.
func (s Segment) Validate() error {
	if p := s.problem(); p != nil {
		return fmt.Errorf("model: trace: node %q, segment from %v: %s", s.Node, s.Start, p)
	}
	return nil
}

// A fieldProblem says which column of a trace file has which value against
// which rule.
type fieldProblem struct{ column, value, rule string }

func (p *fieldProblem) String() string { return p.column + " " + p.value + ", " + p.rule }

const (
	ratioRule = "want a number from 0 to 1"
	rateRule  = "want a number from 0 to 1e9"
)

func (s Segment) problem() *fieldProblem {
	if rule := nameProblem(s.Node); rule != "" || s.Node == "" {
		return &fieldProblem{"node", strconv.Quote(s.Node), cmp.Or(rule, "want a name")}
	}
	if s.Start < 0 {
		return &fieldProblem{"start_s", formatSeconds(s.Start), "want at least 0"}
	}
	if s.End <= s.Start {
		return &fieldProblem{"end_s", formatSeconds(s.End), "want above start_s " + formatSeconds(s.Start)}
	}
	if r := s.RateRPS; r.Known && !(r.Value >= 0 && r.Value <= maxRate) {
		return &fieldProblem{"rate_rps", formatFloat(r.Value), rateRule}
	}
	if rule := nameProblem(s.Injected); rule != "" {
		return &fieldProblem{"injected", strconv.Quote(s.Injected), rule}
	}
	return s.Condition.problem()
}

func (c Condition) problem() *fieldProblem {
	if !(c.ErrorRatio >= 0 && c.ErrorRatio <= 1) {
		return &fieldProblem{"error_ratio", formatFloat(c.ErrorRatio), ratioRule}
	}
	if f := c.CapacityFactor; f.Known && !(f.Value >= 0 && f.Value <= 1) {
		return &fieldProblem{"capacity_factor", formatFloat(f.Value), ratioRule}
	}
	if m := c.LatencyMean; m.Known && m.Value < 0 {
		return &fieldProblem{"latency_mean_s", formatSeconds(m.Value), "want at least 0"}
	}
	var below time.Duration
	belowName := ""
	for _, q := range []struct {
		column string
		d      Optional[time.Duration]
	}{{"latency_p50_s", c.LatencyP50}, {"latency_p90_s", c.LatencyP90}, {"latency_p99_s", c.LatencyP99}} {
		if !q.d.Known {
			continue
		}
		if q.d.Value < 0 {
			return &fieldProblem{q.column, formatSeconds(q.d.Value), "want at least 0"}
		}
		if q.d.Value < below {
			return &fieldProblem{q.column, formatSeconds(q.d.Value), "want at least " + belowName + " " + formatSeconds(below)}
		}
		below, belowName = q.d.Value, q.column
	}
	return nil
}

// nameProblem returns the rule that a node or label breaks, "" if none.
func nameProblem(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "want UTF-8"
	case strings.TrimSpace(name) != name:
		return "want no spaces at either end"
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "want printable characters only"
	}
	return ""
}
