package model

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits of a trace in memory, where a segment takes about 200 bytes: a day of
// six nodes, second by second, is 518,400 rows.
const (
	MaxTraceBytes = 256 << 20 // of a file
	MaxTraceRows  = 512 << 10 // segments
)

// ReadTrace reads a trace from comma-separated values in UTF-8. The first line
// names the columns, in any order:
//
//	start_s, end_s    required: the segment is [start, end); seconds since the trace began
//	node              required: name of the node
//	error_ratio       required: share of calls that fail, from 0 to 1
//	rate_rps          mean arrivals per second
//	latency_mean_s, latency_p50_s, latency_p90_s, latency_p99_s
//	                  mean and quantiles of the latency in seconds
//	capacity_factor   share of the node's capacity that is left, from 0 to 1
//	injected          kind of fault injected into this node; empty for none
//
// The cells of the last four groups may be empty where nothing was reported.
// Rows may come in any order, but rows of one node must not overlap; where a
// node has no row it was not observed. Seconds are exact to the nanosecond.
// Spaces around a cell, a byte order mark, CRLF and quotes are accepted.
//
// An error begins with name, the file's, and the line: "x.csv:17: column
// error_ratio: 1.5, want a number from 0 to 1".
func ReadTrace(name string, r io.Reader) (*Trace, error) {
	t := &traceReader{name: name, names: make(map[string]string)}
	in := bufio.NewReader(&limitedReader{r: r, left: MaxTraceBytes})
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
	} else if bytes.HasPrefix(mark, []byte{0xfe, 0xff}) || bytes.HasPrefix(mark, []byte{0xff, 0xfe}) {
		return nil, t.errorf(1, "UTF-16, want UTF-8")
	}
	t.csv = csv.NewReader(in)
	t.csv.FieldsPerRecord = -1
	t.csv.ReuseRecord = true
	if err := t.readHeader(); err != nil {
		return nil, err
	}
	for {
		err := t.readRow()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if len(t.segments) == 0 {
		return nil, t.errorf(t.headerLine, "no rows after the header, want at least one")
	}
	trace, overlap := buildTrace(t.segments)
	if overlap != nil {
		a, b := overlap[0], overlap[1]
		if t.lines[b] < t.lines[a] {
			a, b = b, a
		}
		return nil, t.errorf(t.lines[b], "column start_s: %s to %s overlaps line %d (%s to %s) of node %q",
			formatSeconds(t.segments[b].Start), formatSeconds(t.segments[b].End), t.lines[a],
			formatSeconds(t.segments[a].Start), formatSeconds(t.segments[a].End), t.segments[a].Node)
	}
	return trace, nil
}

type traceReader struct {
	name       string
	csv        *csv.Reader
	columns    []traceColumn // by position in the file
	headerLine int
	segments   []Segment
	lines      []int             // of the segments
	names      map[string]string // nodes and labels, each kept once
}

func (t *traceReader) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", t.name, line, fmt.Sprintf(format, args...))
}

// next reads a record and trims its cells.
func (t *traceReader) next() ([]string, error) {
	record, err := t.csv.Read()
	var syntax *csv.ParseError
	switch {
	case errors.As(err, &syntax):
		if errors.Is(err, csv.ErrQuote) {
			return nil, t.errorf(syntax.StartLine, `a quoted cell goes wrong at line %d, byte %d, want "" for a quote inside and one quote at its end`,
				syntax.Line, syntax.Column)
		}
		return nil, t.errorf(syntax.Line, "byte %d: a quote in a cell that does not begin with one, want the whole cell quoted", syntax.Column)
	case err == io.EOF:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	for i, cell := range record {
		record[i] = strings.TrimSpace(cell)
	}
	return record, nil
}

func (t *traceReader) readHeader() error {
	header, err := t.next()
	if err == io.EOF {
		return t.errorf(1, "empty file, want a header with %s", columnNames(isRequired))
	}
	if err != nil {
		return err
	}
	t.headerLine, _ = t.csv.FieldPos(0)
	if len(header) == 1 && strings.ContainsAny(header[0], ";\t|") {
		return t.errorf(t.headerLine, "one column %q, want columns separated by commas", clip(header[0]))
	}
	seen := make(map[string]bool)
	for i, name := range header {
		line, _ := t.csv.FieldPos(i)
		c := findColumn(name)
		switch {
		case !utf8.ValidString(name):
			return t.errorf(line, "column %d: %q, want UTF-8", i+1, clip(name))
		case name == "":
			return t.errorf(line, "column %d: no name, want one of %s", i+1, columnNames(anyColumn))
		case c < 0:
			return t.errorf(line, "column %s: unknown, %s", clip(name), knownColumns(name))
		case seen[name]:
			return t.errorf(line, "column %s: named twice, want it once", name)
		}
		seen[name] = true
		t.columns = append(t.columns, traceColumns[c])
	}
	for _, c := range traceColumns {
		if c.required && !seen[c.name] {
			return t.errorf(t.headerLine, "column %s: missing, want %s", c.name, columnNames(isRequired))
		}
	}
	return nil
}

func (t *traceReader) readRow() error {
	row, err := t.next()
	if err != nil {
		return err
	}
	line, _ := t.csv.FieldPos(0)
	if len(row) != len(t.columns) {
		return t.errorf(line, "%d cells, want %d as in the header", len(row), len(t.columns))
	}
	if len(t.segments) == MaxTraceRows {
		return t.errorf(line, "more than %d rows, want a shorter trace or longer segments", MaxTraceRows)
	}
	var s Segment
	for i, c := range t.columns {
		if rule := c.set(&s, row[i]); rule != "" {
			return t.cellError(row, i, rule)
		}
	}
	if p := s.problem(); p != nil {
		for i, c := range t.columns {
			if c.name == p.column {
				return t.cellError(row, i, p.rule)
			}
		}
	}
	s.Node, s.Injected = t.keep(s.Node), t.keep(s.Injected)
	t.segments = append(t.segments, s)
	t.lines = append(t.lines, line)
	return nil
}

func (t *traceReader) cellError(row []string, i int, rule string) error {
	line, _ := t.csv.FieldPos(i)
	value := clip(row[i])
	switch {
	case value == "":
		value = "empty"
	case !isPlain(value):
		value = fmt.Sprintf("%q", value)
	}
	return t.errorf(line, "column %s: %s, %s", t.columns[i].name, value, rule)
}

// keep returns a copy of a name that does not hold on to the whole row.
func (t *traceReader) keep(name string) string {
	if kept, ok := t.names[name]; ok {
		return kept
	}
	kept := strings.Clone(name)
	t.names[kept] = kept
	return kept
}

func isRequired(c traceColumn) bool { return c.required }
func anyColumn(traceColumn) bool    { return true }

// isPlain reports whether a value can stand in a message without quotes.
func isPlain(s string) bool {
	return strings.Trim(s, "+-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_%:/") == ""
}

// clip shortens text for a message.
func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:57], "") + "..."
}

// maxLine bounds the memory that a file without line ends can take.
const maxLine = 1 << 20

// limitedReader fails, rather than ends, where a file or a line is too long.
type limitedReader struct {
	r    io.Reader
	left int64
	line int // bytes of the present line
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("longer than %d MiB, want a shorter trace or longer segments", MaxTraceBytes>>20)
	}
	if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
		l.line = n - 1 - end
	} else if l.line += n; l.line > maxLine {
		return 0, fmt.Errorf("a line of more than %d MiB, want rows of a trace", maxLine>>20)
	}
	return n, err
}
