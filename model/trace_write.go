package model

import (
	"encoding/csv"
	"io"
)

// WriteTrace writes a trace as ReadTrace reads it, and ReadTrace gets the same
// trace back, to the nanosecond and the last bit. Rows are sorted by start, at
// equal starts in the order of Nodes. Optional columns that are empty in every
// row are left out. Lines end in LF.
func WriteTrace(w io.Writer, t *Trace) error {
	rows := t.ordered()
	var columns []traceColumn
	for _, c := range traceColumns {
		used := c.required
		for i := 0; i < len(rows) && !used; i++ {
			used = c.get(rows[i]) != ""
		}
		if used {
			columns = append(columns, c)
		}
	}
	out := csv.NewWriter(w)
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, s := range rows {
		for i, c := range columns {
			record[i] = c.get(s)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
