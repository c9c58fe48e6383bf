package requestlog

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// A Format is a kind of file.
type Format string

// The formats that a log can have.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// FormatOf tells the format of a file by the end of its name.
func FormatOf(file string) (Format, error) {
	switch f := Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))); f {
	case CSV, Parquet:
		return f, nil
	}
	return "", fmt.Errorf("requestlog: file %q, want a name that ends in .csv or .parquet", file)
}

// Options say what the rows of a log are like.
type Options struct {
	Format Format

	// Epoch is the instant at which the run began, in the years 1 to 9000; the
	// zero Time means DefaultEpoch.
	Epoch time.Time

	// Sample is the share of the requests whose tries are logged, all of them
	// or none, above 0 and at most 1; 0 means 1. Which requests these are
	// follows from their numbers alone, so logs of several runs have the same,
	// and a greater share has those of a smaller one too.
	Sample float64
}

// DefaultEpoch is where runs begin unless said otherwise.
var DefaultEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// lastYear leaves room behind it for the longest run, 292 years.
const lastYear = 9000

// Validate checks the options.
func (o Options) Validate() error {
	if o.Format != CSV && o.Format != Parquet {
		return fmt.Errorf("requestlog: format %q, want %q or %q", o.Format, CSV, Parquet)
	}
	if !(o.Sample >= 0 && o.Sample <= 1) {
		return fmt.Errorf("requestlog: sample %v, want a share above 0 and at most 1", o.Sample)
	}
	if y := o.Epoch.UTC().Year(); y < 1 || y > lastYear {
		return fmt.Errorf("requestlog: epoch in the year %d, want 1 to %d", y, lastYear)
	}
	return nil
}

// A Log writes tries. It is for one goroutine.
type Log struct {
	options Options
	below   uint64 // hashes that are kept, if not all are
	sink    sink
	row     Row
	rows    uint64
	err     error

	// Failed is called with the first error, which ends the log: a run goes on
	// for nothing then.
	Failed func(error)
}

type sink interface {
	write(*Row) error
	close() error
}

// New returns a log that writes to w. Its errors are those of Validate.
func New(w io.Writer, o Options) (*Log, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Epoch.IsZero() {
		o.Epoch = DefaultEpoch
	}
	if o.Sample == 0 {
		o.Sample = 1
	}
	l := &Log{options: o, below: uint64(math.Ldexp(min(o.Sample, 0.5), 64))}
	if o.Sample > 0.5 && o.Sample < 1 { // 2^64 itself is no uint64
		l.below = -uint64(math.Ldexp(1-o.Sample, 64))
	}
	if o.Format == Parquet {
		l.sink = newParquetWriter(w)
	} else {
		l.sink = newCSVWriter(w)
	}
	return l, nil
}

// Try writes the row of a try, if its request is in the sample. After an
// error it does nothing.
func (l *Log) Try(t *model.Try) {
	if l.err != nil || l.options.Sample < 1 && mix(t.Request) >= l.below {
		return
	}
	err := l.row.fill(t, l.options.Epoch)
	if err == nil {
		err = l.sink.write(&l.row)
	}
	if err != nil {
		l.err = err
		if l.Failed != nil {
			l.Failed(err)
		}
		return
	}
	l.rows++
}

// Rows is the number of rows so far.
func (l *Log) Rows() uint64 { return l.rows }

// Err is the first error.
func (l *Log) Err() error { return l.err }

// Close writes what is left; the log is whole only then. It returns the first
// error of the log.
func (l *Log) Close() error {
	if l.err == nil {
		l.err = l.sink.close()
	}
	return l.err
}

// mix spreads the numbers of requests over all of uint64: the finalizer of
// SplitMix64 (Steele, Lea, Flood 2014), which maps no two to the same.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
