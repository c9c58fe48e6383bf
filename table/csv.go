package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
)

// WriteCSV writes the header and all rows. Numbers are in the shortest form
// that reads back as the same float64; NaN is an empty cell.
func (t *Table) WriteCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	record := make([]string, 0, len(t.Keys)+len(t.Values))
	for _, c := range t.Keys {
		record = append(record, c.Name)
	}
	for _, c := range t.Values {
		record = append(record, c.Name)
	}
	if err := cw.Write(record); err != nil {
		return err
	}
	for _, r := range t.Rows {
		record = append(record[:0], r.Keys...)
		for _, v := range r.Values {
			record = append(record, Format(v))
		}
		if err := cw.Write(record); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

// Format renders a number for CSV: shortest exact decimal, "" for NaN.
func Format(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// ReadCSV reads a table that WriteCSV wrote: the first keys columns are text,
// the others numbers. The error names line and column.
func ReadCSV(name string, keys int, r io.Reader) (*Table, error) {
	cr := csv.NewReader(r)
	header, err := cr.Read()
	if err != nil {
		return nil, fmt.Errorf("table: %s: header: %w", name, err)
	}
	if keys < 0 || keys > len(header) {
		return nil, fmt.Errorf("table: %s: %d key columns, want at most the %d of the header", name, keys, len(header))
	}
	columns := make([]Column, len(header))
	for i, h := range header {
		columns[i].Name = h
	}
	t := &Table{Name: name, Keys: columns[:keys], Values: columns[keys:]}
	for {
		record, err := cr.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("table: %s: %w", name, err)
		}
		row := Row{Keys: record[:keys:keys], Values: make([]float64, len(record)-keys)}
		for i, text := range record[keys:] {
			row.Values[i] = math.NaN()
			if text == "" {
				continue
			}
			if row.Values[i], err = strconv.ParseFloat(text, 64); err != nil {
				line, _ := cr.FieldPos(keys + i)
				return nil, fmt.Errorf("table: %s: line %d: column %s: %q, want a number", name, line, header[keys+i], text)
			}
		}
		t.Rows = append(t.Rows, row)
	}
}
