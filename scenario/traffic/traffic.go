package traffic

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A Call is one that was recorded.
type Call struct {
	End     time.Duration // since the Epoch of the traffic
	Latency time.Duration // from start to end; 0 if it was not recorded
	Failed  bool

	// Code says how it failed, as well as that is known. That of a call which
	// did not fail is its status from 400 on, or 0.
	Code policies.ErrorCode
}

// Start is when it began.
func (c Call) Start() time.Duration { return c.End - c.Latency }

// Traffic is what was recorded at one place.
type Traffic struct {
	Node string // the name of the place

	// Epoch is the instant from which times are counted; the zero Time if the
	// record does not tell.
	Epoch time.Time

	// Calls are in the order of their ends, at equal ends of their starts. There
	// are none if only rates were recorded.
	Calls []Call

	// Segments are intervals with the rate of calls by their start, the share
	// of them that failed and their latency. Where there is none nothing was
	// recorded.
	Segments []model.Segment

	Report Report

	blind bool // nothing is known of failures
}

// End is the last instant of what was recorded: the end of the last call, or
// of the last segment if only rates were recorded.
func (t *Traffic) End() time.Duration {
	if n := len(t.Calls); n > 0 {
		return t.Calls[n-1].End
	}
	if n := len(t.Segments); n > 0 {
		return t.Segments[n-1].End
	}
	return 0
}

// WriteTrace writes the segments as model.ReadTrace reads them. Where a
// scenario takes their rates for arrivals, the calls of a segment are as many
// as were recorded in it, but evenly spaced, the first half a gap after its
// start, or a Poisson process: see [model.TraceArrivals].
func (t *Traffic) WriteTrace(w io.Writer) error {
	trace, err := model.NewTrace(t.Segments)
	if err != nil {
		return err
	}
	return model.WriteTrace(w, trace)
}

// At is an instant in words: the time of day if it is known.
func (t *Traffic) At(d time.Duration) string {
	if t.Epoch.IsZero() {
		return d.Round(time.Millisecond).String()
	}
	return t.Epoch.Add(d).Format("2006-01-02 15:04:05.999 MST")
}

// Options say how to read a record. The zero value asks the record itself.
type Options struct {
	Format Format // "" tells it from the content

	// Node is the place that is meant in a trace of several; otherwise it is
	// what the place is to be called, "service" if empty.
	Node string

	// Width of the intervals that calls are counted in, at least 1 ms; 0 takes
	// the shortest of 1 s, 5 s, 10 s, ... with 20 calls in an interval on
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

const (
	defaultMaxCalls = 10_000_000
	maxBytes        = 8 << 30 // of a file, unpacked
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
	case o.Width < 0 || o.Width > 0 && o.Width < time.Millisecond:
		return fmt.Errorf("traffic: width %v, want at least 1ms", o.Width)
	case o.FailFrom != 0 && (o.FailFrom < 400 || o.FailFrom > 599):
		return fmt.Errorf("traffic: failures from status %d, want 400 to 599", o.FailFrom)
	case !(o.RateRPS >= 0 && o.RateRPS <= 1e9):
		return fmt.Errorf("traffic: rate %v, want calls per second from 0 to 1e9", o.RateRPS)
	case o.MaxCalls < 0 || o.MaxCalls > 1<<30:
		return fmt.Errorf("traffic: at most %d calls, want 0 to 2^30", o.MaxCalls)
	}
	if o.Node != "" {
		if err := (model.Segment{Node: o.Node, End: 1}).Validate(); err != nil {
			return err
		}
	}
	for _, err := range []error{
		known("format", string(o.Format), formatNames()...),
		known("unit of time", o.TimeUnit, "s", "ms", "us", "ns"),
		known("unit of latency", o.LatencyUnit, "s", "ms", "us", "ns"),
		known("time stamp", o.Stamp, "start", "end"),
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

// Read reads one file, whose path serves for messages. An error begins with
// the path and the line: "x.csv:17: column status: abc, want ...".
func Read(path string, r io.Reader, o Options) (*Traffic, error) {
	d, err := newReader(o)
	if err != nil {
		return nil, err
	}
	if err := d.file(path, r); err != nil {
		return nil, shown(err)
	}
	return d.finish()
}

// ReadFiles reads files that belong together: the parts of a log, or the rate
// and the error ratio of a service. Each is opened once and read from its
// beginning to its end, so it may be a pipe. Every error is one of the options
// or of a file, and names it.
func ReadFiles(paths []string, o Options) (*Traffic, error) {
	d, err := newReader(o)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("traffic: no files, want at least one")
	}
	for _, path := range paths {
		d.o.Series = o.Series
		if series, rest, ok := strings.Cut(path, "="); ok && isSeries(series) {
			d.o.Series, path = series, rest
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, shown(err)
		}
		err = d.file(path, f)
		f.Close()
		if err != nil {
			return nil, shown(err)
		}
	}
	return d.finish()
}
