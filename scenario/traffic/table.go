package traffic

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// A sheet is a table with one row at hand.
type sheet struct {
	d      *reader
	csv    *csv.Reader
	comma  rune
	header []string // in lower case
	row    []string
	line   int
}

// column finds one of some names separated by |.
func (s *sheet) column(names string) int { return columnOf(s.header, names) }

// choose finds a column as column does, and tells of those that are passed over.
func (s *sheet) choose(what, names string) int {
	i := s.column(names)
	s.tell(what, i, names)
	return i
}

// tell tells which of some columns is taken, if there are others.
func (s *sheet) tell(what string, chosen int, names string) {
	var others []string
	for name := range strings.SplitSeq(names, "|") {
		if i := slices.Index(s.header, name); i >= 0 && i != chosen {
			others = append(others, name)
		}
	}
	if chosen >= 0 && len(others) > 0 {
		s.d.report.note("%s: %s: column %s is taken, %s not", s.d.path, what, s.header[chosen], strings.Join(others, ", "))
	}
}

// cell returns the trimmed text of a column, "" if there is none.
func (s *sheet) cell(i int) string {
	if i < 0 || i >= len(s.row) {
		return ""
	}
	return strings.TrimSpace(s.row[i])
}

// decimalComma reports whether numbers may have one.
func (s *sheet) decimalComma() bool { return s.comma != ',' }

// bad is the error of a cell.
func (s *sheet) bad(i int, rule string) error {
	line := s.line
	if i < len(s.row) {
		line, _ = s.csv.FieldPos(i)
	}
	return s.d.bad(line, "column "+s.header[i], s.cell(i), rule)
}

// need is a column that must be there.
func (s *sheet) need(names string) (int, error) {
	i := s.column(names)
	if i < 0 {
		return 0, s.d.errorf(s.line, "column %s: missing, want it in the header", strings.ReplaceAll(names, "|", " or "))
	}
	return i, nil
}

// next reads a row. It wants as many cells as the header has.
func (s *sheet) next(in *budget) error {
	in.row()
	row, err := s.csv.Read()
	var syntax *csv.ParseError
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &syntax):
		return s.d.errorf(syntax.Line, "byte %d: a quoted cell goes wrong, want \"\" for a quote inside and one quote at its end", syntax.Column)
	case err != nil:
		return s.d.errorf(s.line+1, "%v", err)
	}
	s.row = row
	s.line, _ = s.csv.FieldPos(0)
	return nil
}

// vegetaHeader names the columns of a format that has no header.
var vegetaHeader = strings.Split("timestamp,code,latency,bytes_out,bytes_in,error,body,attack,seq,method,url,headers", ",")

// table reads a file of separated values.
func (d *reader) table(format Format, comma rune, b *bufio.Reader, in *budget) error {
	s := &sheet{d: d, csv: csv.NewReader(b), comma: comma}
	s.csv.Comma = comma
	s.csv.FieldsPerRecord = -1
	s.csv.ReuseRecord = true
	s.csv.LazyQuotes = comma == '\t' || comma == '|' // often written without any rule
	if format == VegetaCSV {
		s.header, s.line = vegetaHeader, 1
	} else {
		if err := s.next(in); err != nil {
			return err
		}
		for _, cell := range s.row {
			s.header = append(s.header, strings.Clone(headerName(cell)))
		}
		if err := d.twice(s); err != nil {
			return err
		}
	}
	take, err := d.rows(format, s)
	if err != nil {
		return err
	}
	for {
		err := s.next(in)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		d.out.Rows++
		if n := len(s.row); n > len(s.header) || n < len(s.header) && format != VegetaCSV || n < 9 && format == VegetaCSV {
			err = &badRow{"row", "cells missing or too many", d.errorf(s.line, "row: %d cells, want %d as in the header", n, len(s.header))}
		} else {
			err = take()
		}
		if err != nil {
			if err = d.forgive(s.line, err); err != nil {
				return err
			}
		}
	}
	if format == Incidents {
		return d.endIncidents()
	}
	return nil
}

// twice refuses a column that is named twice; columns without a name do not
// matter.
func (d *reader) twice(s *sheet) error {
	seen := make(map[string]bool)
	for _, name := range s.header {
		if name != "" && seen[name] {
			return d.errorf(s.line, "column %s: named twice, want it once", clip(name))
		}
		seen[name] = true
	}
	return nil
}

// rows returns what takes the row at hand.
func (d *reader) rows(format Format, s *sheet) (func() error, error) {
	switch format {
	case Incidents:
		return d.incidentRows(s)
	case Locust:
		return d.locustRows(s)
	}
	if err := d.begin(ofCalls); err != nil {
		return nil, err
	}
	switch format {
	case K6CSV:
		return d.k6Rows(s)
	case VegetaCSV:
		return d.callRows(s, callColumns{time: "timestamp", stamp: stampStart, latency: "latency", unit: "ns", status: "code", text: "error", name: "attack"})
	case JMeterCSV:
		return d.callRows(s, callColumns{time: "timestamp", stamp: stampStart, latency: "elapsed", unit: "ms", status: "responsecode", text: "responsemessage", success: "success", name: "label"})
	case Hey:
		d.report.note("hey leaves calls without an answer out of its file")
		return d.callRows(s, callColumns{time: "offset", stamp: stampStart, latency: "response-time", unit: "s", status: "status-code"})
	}
	return d.callRows(s, callColumns{time: accessTime, stamp: stampEnd, latency: accessLatency, status: accessStatus, success: accessSuccess, text: "error", name: "route|name|label|path|url"})
}
