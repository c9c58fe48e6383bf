package traffic

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// Options say how to read a record. The zero value asks the record itself. An
// option that no file of a record has any use for is an error.
type Options struct {
	Format Format // "" tells it from the content

	// Node is the place that is meant in a trace of several; otherwise it is
	// what the place is to be called, "service" if empty.
	Node string

	// Width of the intervals that calls are counted in, from 1 ms to 365 days; 0
	// takes the shortest of 1 s, 5 s, 10 s, ... with 20 calls in an interval on
	// average.
	Width time.Duration

	// TimeUnit of time stamps that are numbers, and LatencyUnit of latencies
	// whose column does not tell: "s", "ms", "us" or "ns".
	TimeUnit, LatencyUnit string

	// Stamp says that a time stamp is the "start" or the "end" of its call.
	Stamp string

	// Zone of time stamps that state none; nil is UTC.
	Zone *time.Location

	// Only takes the calls of one label (JMeter), name (k6, Locust), attack
	// (vegeta) or route (access logs).
	Only string

	// FailFrom is the lowest status that is a failure, from 400 to 599; 0 means
	// 500. No status at all and 499, at which the caller has left, are
	// failures, too. Where a column says whether a call succeeded, that decides.
	FailFrom int

	// Series says what a range query is of, if neither its labels nor the name
	// of the file tell: "rate" (calls per second), "errors" (failures per
	// second), "error-ratio" (from 0 to 1) or "latency" (mean, in seconds). A
	// file may also be given as "error-ratio=FILE".
	Series string

	// RateRPS is the rate of calls where only failures were recorded.
	RateRPS float64

	// SkipBad skips rows that make no sense and counts them in the report; they
	// are errors otherwise.
	SkipBad bool

	// MaxCalls is the most calls to read, each of which may take 100 bytes of
	// memory; 0 means 10 million.
	MaxCalls int
}

// What a time stamp is of its call.
const (
	stampStart = "start"
	stampEnd   = "end"
)

const (
	defaultMaxCalls = 10_000_000
	maxBytes        = 8 << 30 // of a file, unpacked
	maxWidth        = 365 * 24 * time.Hour
)

// Validate reports the first option that makes no sense.
func (o Options) Validate() error {
	known := func(name, value string, list ...string) error {
		for _, v := range append(list, "") {
			if value == v {
				return nil
			}
		}
		return fmt.Errorf("traffic: %s %q, want one of %s", name, value, strings.Join(list, ", "))
	}
	switch {
	case o.Width != 0 && (o.Width < time.Millisecond || o.Width > maxWidth):
		return fmt.Errorf("traffic: width %v, want 1ms to %v", o.Width, maxWidth)
	case o.FailFrom != 0 && (o.FailFrom < 400 || o.FailFrom > 599):
		return fmt.Errorf("traffic: fail-from %d, want 400 to 599", o.FailFrom)
	case !(o.RateRPS >= 0 && o.RateRPS <= 1e9):
		return fmt.Errorf("traffic: rate %v, want calls per second from 0 to 1e9", o.RateRPS)
	case o.MaxCalls < 0 || o.MaxCalls > 1<<30:
		return fmt.Errorf("traffic: max-calls %d, want 0 to 2^30", o.MaxCalls)
	}
	if o.Node != "" {
		if err := (model.Segment{Node: o.Node, End: 1}).Validate(); err != nil {
			return err
		}
	}
	for _, err := range []error{
		known("format", string(o.Format), formatNames()...),
		known("time-unit", o.TimeUnit, "s", "ms", "us", "ns"),
		known("latency-unit", o.LatencyUnit, "s", "ms", "us", "ns"),
		known("stamp", o.Stamp, stampStart, stampEnd),
		known("series", o.Series, seriesNames...),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) fill() {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.FailFrom == 0 {
		o.FailFrom = 500
	}
	if o.MaxCalls == 0 {
		o.MaxCalls = defaultMaxCalls
	}
}

// unused is the error of an option that is given, though none of the formats of
// the files has any use for it.
func (o Options) unused(files []FileReport) error {
	for _, option := range []struct {
		name  string
		given bool
		of    func(Format) bool
	}{
		{"width", o.Width != 0, Format.ofCalls},
		{"time-unit", o.TimeUnit != "", func(f Format) bool { return f != Trace }},
		{"latency-unit", o.LatencyUnit != "", func(f Format) bool { return f == AccessLog || f == Incidents }},
		{"stamp", o.Stamp != "", Format.ofCalls},
		{"zone", o.Zone != nil, func(f Format) bool { return f != Trace }},
		{"only", o.Only != "", func(f Format) bool { return f.ofCalls() && f != Hey || f == Locust }},
		{"fail-from", o.FailFrom != 0, Format.ofCalls},
		{"series", o.Series != "", func(f Format) bool { return f == Prometheus }},
		{"rate", o.RateRPS != 0, func(f Format) bool { return !f.ofCalls() }},
		{"max-calls", o.MaxCalls != 0, Format.ofCalls},
	} {
		if option.given && !slices.ContainsFunc(files, func(f FileReport) bool { return option.of(f.Format) }) {
			return fmt.Errorf("traffic: %s has no effect on a record of format %s, want it left out", option.name, files[0].Format)
		}
	}
	return nil
}
