package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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

// nearestColumn is the known column with the smallest edit distance.
func nearestColumn(name string) string {
	name = strings.ToLower(name)
	if r := []rune(name); len(r) > 64 {
		name = string(r[:64])
	}
	best, least := "", math.MaxInt
	for _, c := range traceColumns {
		if d := editDistance(name, c.name); d < least {
			best, least = c.name, d
		}
	}
	return best
}

// editDistance is the least number of insertions, deletions and substitutions
// of a character that turn a into b (Levenshtein 1966).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
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
