package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// A reader gathers what files say, with times in nanoseconds since 1970 or
// since the beginning of the run.
type reader struct {
	o         Options // with what is known besides
	asked     Options
	calls     []Call
	series    map[string]*series
	segments  []model.Segment // of what states intervals itself
	kind      records         // of all files
	incidents []incident      // of the present file
	relative  bool
	fine      bool // time stamps cannot be equal by chance
	parted    bool // some have parts of a second
	report    Report

	// Of the present file.
	path   string
	out    *FileReport
	stamps stamper
	stamp  string // what a time stamp is of its call: stampStart or stampEnd
	faults faults // errors of rows
	left   int    // calls with status 499
}

// records are what a file holds, in the words of messages.
type records string

const (
	ofCalls    records = "calls"
	ofRates    records = "rates"    // at the points of range queries
	ofSegments records = "segments" // with the intervals that it states itself
)

func newReader(o Options) (*reader, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	asked := o
	o.fill()
	return &reader{o: o, asked: asked, series: make(map[string]*series)}, nil
}

// A badRow is an error in the content of a row.
type badRow struct {
	where, rule string // such as "column status"
	err         error
}

func (b *badRow) Error() string { return b.err.Error() }

func (d *reader) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", d.path, line, fmt.Sprintf(format, args...))
}

// bad makes the error of a value.
func (d *reader) bad(line int, where, value, rule string) error {
	shown := fmt.Sprintf("%q", clip(value))
	if value == "" {
		shown = "empty"
	}
	return &badRow{where, rule, d.errorf(line, "%s: %s, %s", where, shown, rule)}
}

// forgive turns the error of a row into a skipped row, if that was asked for,
// and else keeps it, so that several can be told at once.
func (d *reader) forgive(line int, err error) error {
	var b *badRow
	switch {
	case !errors.As(err, &b):
		return err
	case d.o.SkipBad:
		d.out.skip(line, b.where+": "+b.rule)
		return nil
	}
	if d.faults = append(d.faults, err); len(d.faults) == maxFaults {
		return d.errorf(line, "%d errors, want them mended before the rows that follow are read", maxFaults)
	}
	return nil
}

// maxFaults is how many errors of a file are told at once.
const maxFaults = 20

// file reads one file of any format.
func (d *reader) file(path string, r io.Reader) error {
	d.path = path
	d.report.Files = append(d.report.Files, FileReport{Path: path})
	d.out = &d.report.Files[len(d.report.Files)-1]
	in := &budget{r: r, total: maxBytes, perRow: rowBytes}
	b := bufio.NewReaderSize(in, 1<<16)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return d.errorf(1, "%v", gzipError(err))
		}
		in.perRow = 0
		in = &budget{r: unpacked{z}, total: maxBytes, perRow: rowBytes}
		b = bufio.NewReaderSize(in, 1<<16)
	}
	switch mark, _ := b.Peek(3); {
	case string(mark) == "\ufeff":
		b.Discard(3)
	case bytes.HasPrefix(mark, []byte{0xfe, 0xff}), bytes.HasPrefix(mark, []byte{0xff, 0xfe}):
		return d.errorf(1, "UTF-16, want UTF-8")
	}
	head, err := b.Peek(1 << 15)
	if err != nil && err != io.EOF {
		return d.errorf(1, "%v", err)
	}
	format, comma := detect(head)
	if d.o.Format != "" {
		format = d.o.Format
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return d.errorf(1, "empty file, want a record")
	}
	d.out.Format = format
	d.stamps = stamper{unit: d.o.TimeUnit, asked: d.o.TimeUnit != "", zone: d.o.Zone}
	err = d.content(format, comma, b, in)
	if len(d.faults) > 0 {
		if err != nil {
			d.faults = append(d.faults, err)
		}
		return d.faults
	}
	if err != nil {
		return err
	}
	if format.isCSV() && in.last != '\n' && in.last != '\r' {
		d.report.note("%s: the last line has no end: if the file is cut, its last value may be, too", path)
	}
	d.out.Times = d.stamps.words()
	if w := d.out.Times; w != "" && d.kind == ofCalls {
		d.out.Times = w + ", of the " + d.stamp + " of a call"
	}
	if d.out.Used == 0 {
		return d.nothing()
	}
	d.fine = d.fine || d.stamps.fine
	d.parted = d.parted || d.stamps.parted
	return nil
}

// nothing is the error of a file with no usable row.
func (d *reader) nothing() error {
	if len(d.out.Skipped) > 0 {
		s := d.out.Skipped[0]
		return d.errorf(s.Line, "none of %d rows can be used: the first one is skipped (%s)", d.out.Rows, s.Reason)
	}
	return d.errorf(1, "no rows, want at least one")
}

func (d *reader) content(format Format, comma rune, b *bufio.Reader, in *budget) error {
	switch format {
	case "":
		head, _ := b.Peek(1 << 12)
		line, _, _ := strings.Cut(strings.TrimLeft(string(head), " \t\r\n"), "\n")
		hint := near([]byte(line))
		if hint != "" {
			hint += "? "
		}
		return d.errorf(1, "no known format, begins with %q: %swant one of %s, with its header", clip(strings.TrimSpace(line)), hint, strings.Join(formatNames(), ", "))
	case Trace:
		return d.trace(b, in)
	case Prometheus:
		return d.prometheus(b, in)
	case K6JSON:
		return d.lines(b, in, d.k6Line)
	case VegetaJSON:
		return d.lines(b, in, d.vegetaLine)
	case JMeterXML:
		return d.jmeterXML(b, in)
	}
	return d.table(format, comma, b, in)
}

// begin says what the records of the present file are.
func (d *reader) begin(kind records) error {
	if d.kind != "" && d.kind != kind {
		return d.errorf(1, "%s after a file of %s, want files that go together", kind, d.kind)
	}
	d.kind = kind
	return nil
}

// time reads a time stamp.
func (d *reader) time(text string, decimalComma bool) (time.Duration, string) {
	first := d.stamps.kind == ""
	ns, rule := d.stamps.parse(text, decimalComma)
	if rule != "" {
		return 0, rule
	}
	if first {
		if len(d.report.Files) > 1 && d.stamps.relative() != d.relative {
			return 0, "times since 1970 beside times since an unknown instant, want files of one kind"
		}
		d.relative = d.stamps.relative()
	}
	return time.Duration(ns), ""
}

// call takes a call with its time stamp.
func (d *reader) call(line int, at time.Duration, c Call) error {
	if d.stamp == stampStart {
		at += c.Latency
	}
	c.End = at
	if !c.Failed && c.Code < 400 {
		c.Code = 0
	}
	if len(d.calls) == d.o.MaxCalls {
		return d.errorf(line, "more than %d calls, want a part of the record", d.o.MaxCalls)
	}
	d.calls = append(d.calls, c)
	d.out.Used++
	return nil
}

// stampIs sets what the time stamps of the format are, unless the user says so.
func (d *reader) stampIs(which string) {
	d.stamp = cmp.Or(d.o.Stamp, which)
}

func (d *reader) trace(b *bufio.Reader, in *budget) error {
	if err := d.begin(ofSegments); err != nil {
		return err
	}
	in.perRow = 0 // the reader of traces has limits of its own
	t, err := model.ReadTrace(d.path, b)
	if err != nil {
		return err
	}
	node := d.o.Node
	if node == "" && len(t.Nodes()) == 1 {
		node = t.Nodes()[0]
	}
	list := t.Segments(node)
	if len(list) == 0 {
		return d.errorf(1, "column node: no %q, want one of %s", node, strings.Join(t.Nodes(), ", "))
	}
	d.o.Node = node
	d.out.Rows, d.out.Used = t.Len(), len(list)
	if other := t.Len() - len(list); other > 0 {
		d.out.Skipped = append(d.out.Skipped, Skipped{"another node", other, 2})
	}
	d.out.Times = "s since an unknown instant"
	d.relative = true
	d.segments = append(d.segments, list...)
	return nil
}

// rowBytes bounds the memory that one row can take.
const rowBytes = 16 << 20

// unpacked tells that an error is one of gzip.
type unpacked struct{ z *gzip.Reader }

// Read implements io.Reader.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if err != nil && err != io.EOF {
		err = gzipError(err)
	}
	return n, err
}

func gzipError(err error) error {
	return fmt.Errorf("gzip: %s, want a whole file with nothing after its end", strings.TrimPrefix(err.Error(), "gzip: "))
}

// A budget fails, rather than ends, where a file or a row of it is too long.
type budget struct {
	r             io.Reader
	total         int64
	perRow, inRow int64
	last          byte // that was read
}

// row begins a new row.
func (b *budget) row() { b.inRow = 0 }

// Read implements io.Reader.
func (b *budget) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 {
		b.last = p[n-1]
	}
	b.total -= int64(n)
	b.inRow += int64(n)
	switch {
	case b.total < 0:
		return 0, fmt.Errorf("longer than %d GiB, want a part of the record", maxBytes>>30)
	case b.perRow > 0 && b.inRow > b.perRow:
		return 0, fmt.Errorf("a row of more than %d MiB, want rows of a record", rowBytes>>20)
	}
	return n, err
}
