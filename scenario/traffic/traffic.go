package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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

// SplitSeries returns the series and the path of a file that may be given as
// "error-ratio=FILE" (see [Options]); without one of these words in front the
// series is empty, and the path is all of it.
func SplitSeries(arg string) (series, path string) {
	if series, path, ok := strings.Cut(arg, "="); ok && slices.Contains(seriesNames, series) {
		return series, path
	}
	return "", arg
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
	var files []os.FileInfo
	for _, path := range paths {
		series, path := SplitSeries(path)
		d.o.Series = cmp.Or(series, o.Series)
		f, err := os.Open(path)
		if err != nil {
			return nil, shown(err)
		}
		info, err := f.Stat()
		switch {
		case err != nil:
		case info.Mode().IsRegular() && slices.ContainsFunc(files, func(other os.FileInfo) bool { return os.SameFile(info, other) }):
			err = fmt.Errorf("%s: given twice, want each file once", path)
		default:
			err = d.file(path, f)
		}
		f.Close()
		if err == nil && series != "" && d.out.Format != Prometheus {
			err = fmt.Errorf("%s: %s= has no effect on a record of format %s, want its path alone", path, series, d.out.Format)
		}
		if err != nil {
			return nil, shown(err)
		}
		files = append(files, info)
	}
	return d.finish()
}
