package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/names"
)

// A traceColumn moves one column of a trace file into and out of a Segment.
// Problems that concern the cell alone are found here, the others by
// Segment.problem.
type traceColumn struct {
	name     string
	required bool
	set      func(s *Segment, cell string) (rule string)
	get      func(s *Segment) string // "" where unknown
}

// traceColumns is in the order in which files are written.
var traceColumns = []traceColumn{
	{"start_s", true,
		func(s *Segment, cell string) string { return setSeconds(&s.Start, cell) },
		func(s *Segment) string { return formatSeconds(s.Start) }},
	{"end_s", true,
		func(s *Segment, cell string) string { return setSeconds(&s.End, cell) },
		func(s *Segment) string { return formatSeconds(s.End) }},
	{"node", true,
		func(s *Segment, cell string) string { s.Node = cell; return "" },
		func(s *Segment) string { return s.Node }},
	optionalColumn("rate_rps", setNumber(rateRule), formatFloat, func(s *Segment) *Optional[float64] { return &s.RateRPS }),
	{"error_ratio", true,
		func(s *Segment, cell string) string { return setNumber(ratioRule)(&s.ErrorRatio, cell) },
		func(s *Segment) string { return formatFloat(s.ErrorRatio) }},
	latencyColumn("latency_mean_s", func(s *Segment) *Optional[time.Duration] { return &s.LatencyMean }),
	latencyColumn("latency_p50_s", func(s *Segment) *Optional[time.Duration] { return &s.LatencyP50 }),
	latencyColumn("latency_p90_s", func(s *Segment) *Optional[time.Duration] { return &s.LatencyP90 }),
	latencyColumn("latency_p99_s", func(s *Segment) *Optional[time.Duration] { return &s.LatencyP99 }),
	optionalColumn("capacity_factor", setNumber(ratioRule), formatFloat, func(s *Segment) *Optional[float64] { return &s.CapacityFactor }),
	{"injected", false,
		func(s *Segment, cell string) string { s.Injected = cell; return "" },
		func(s *Segment) string { return s.Injected }},
}

func optionalColumn[T comparable](name string, set func(*T, string) string, format func(T) string, field func(*Segment) *Optional[T]) traceColumn {
	return traceColumn{name, false,
		func(s *Segment, cell string) string {
			if cell == "" {
				return ""
			}
			o := field(s)
			o.Known = true
			return set(&o.Value, cell)
		},
		func(s *Segment) string {
			if o := field(s); o.Known {
				return format(o.Value)
			}
			return ""
		},
	}
}

func latencyColumn(name string, field func(*Segment) *Optional[time.Duration]) traceColumn {
	return optionalColumn(name, setSeconds, formatSeconds, field)
}

func columnNames(only func(traceColumn) bool) string {
	var names []string
	for _, c := range traceColumns {
		if only(c) {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

func findColumn(name string) int {
	return slices.IndexFunc(traceColumns, func(c traceColumn) bool { return c.name == name })
}

// knownColumns lists the columns, after the one that a mistyped name is near.
func knownColumns(name string) string {
	all := make([]string, len(traceColumns))
	for i, c := range traceColumns {
		all[i] = c.name
	}
	const longest = 64 // characters compared
	r := []rune(strings.ToLower(name))
	return names.Known(string(r[:min(len(r), longest)]), all)
}

// setNumber reads a decimal number, not hexadecimal, infinite or NaN; rule is
// what to say of anything else.
func setNumber(rule string) func(v *float64, cell string) string {
	return func(v *float64, cell string) string {
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil || strings.Trim(cell, "+-.0123456789eE") != "" {
			return rule
		}
		*v = f + 0 // no negative zero
		return ""
	}
}

// formatFloat is the shortest decimal that reads back as f.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

var secondsRule = fmt.Sprintf("want seconds from 0 to %s", formatSeconds(math.MaxInt64))
