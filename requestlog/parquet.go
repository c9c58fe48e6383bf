package requestlog

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

const (
	parquetBatch = 1 << 10 // rows that go to the library at a time

	// A row group is in memory until it is written.
	parquetGroup = 1 << 18 // rows
)

// parquetWriter writes rows as Parquet: row groups of bounded size, pages
// compressed with Snappy, and texts by dictionary.
type parquetWriter struct {
	w    *parquet.GenericWriter[Row]
	rows []Row
}

func newParquetWriter(w io.Writer) *parquetWriter {
	return &parquetWriter{
		w: parquet.NewGenericWriter[Row](w, parquet.NewSchema("request_log", parquet.SchemaOf(new(Row))),
			parquet.MaxRowsPerRowGroup(parquetGroup), parquet.Compression(&parquet.Snappy)),
		rows: make([]Row, 0, parquetBatch),
	}
}

func (p *parquetWriter) write(r *Row) error {
	if p.rows = append(p.rows, *r); len(p.rows) < parquetBatch {
		return nil
	}
	return p.flush()
}

func (p *parquetWriter) flush() error {
	_, err := p.w.Write(p.rows)
	p.rows = p.rows[:0]
	return err
}

func (p *parquetWriter) close() error {
	if err := p.flush(); err != nil {
		return err
	}
	return p.w.Close()
}
