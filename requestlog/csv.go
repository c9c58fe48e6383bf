package requestlog

import (
	"io"
	"strconv"
	"strings"
	"time"
)

const csvBuffer = 1 << 16

// csvWriter writes rows as CSV with a header line. It allocates nothing for a
// row.
type csvWriter struct {
	w   io.Writer
	buf []byte

	second int64  // since 1970, of the stamp
	stamp  []byte // "2000-01-01T00:00:00."
}

func newCSVWriter(w io.Writer) *csvWriter {
	c := &csvWriter{w: w, buf: make([]byte, 0, csvBuffer)}
	c.buf = append(c.buf, strings.Join(Columns, ",")...)
	c.buf = append(c.buf, '\n')
	return c
}

func (c *csvWriter) write(r *Row) error {
	b := c.buf
	b = c.appendTime(b, r.TS)
	b = append(b, ',')
	b = strconv.AppendInt(b, r.RequestID, 10)
	b = append(b, ',')
	b = appendText(b, r.Service)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(r.Attempt), 10)
	b = append(b, ',')
	b = append(b, r.Status...)
	b = append(b, ',')
	b = append(b, r.CircuitState...)
	b = append(b, ',')
	b = strconv.AppendInt(b, r.LatencyNS/1e6, 10)
	b = append(b, '.')
	b = appendDigits(b, r.LatencyNS%1e6)
	b = append(b, ',')
	b = appendText(b, r.Caller)
	if r.Abandoned {
		b = append(b, ",true\n"...)
	} else {
		b = append(b, ",false\n"...)
	}
	if c.buf = b; len(b) < csvBuffer-csvBuffer/8 {
		return nil
	}
	return c.flush()
}

func (c *csvWriter) flush() error {
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

func (c *csvWriter) close() error { return c.flush() }

// appendTime appends microseconds since 1970 as RFC 3339 has them. Times of
// one second share their first part.
func (c *csvWriter) appendTime(b []byte, micros int64) []byte {
	second, rest := micros/1e6, micros%1e6
	if rest < 0 {
		second, rest = second-1, rest+1e6
	}
	if second != c.second || c.stamp == nil {
		c.second = second
		c.stamp = time.Unix(second, 0).UTC().AppendFormat(c.stamp[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, c.stamp...)
	b = appendDigits(b, rest)
	return append(b, 'Z')
}

// appendDigits appends n, from 0 to 999999, as six digits.
func appendDigits(b []byte, n int64) []byte {
	return append(b, byte('0'+n/100000), byte('0'+n/10000%10), byte('0'+n/1000%10),
		byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}

// appendText appends a field, between quotes where CSV wants them. An empty
// one has them too, since PostgreSQL takes it for NULL otherwise.
func appendText(b []byte, s string) []byte {
	quote := s == ""
	for i := 0; i < len(s) && !quote; i++ {
		switch s[i] {
		case ',', '"', '\n', '\r', '\\', ' ':
			quote = true
		}
	}
	if !quote {
		return append(b, s...)
	}
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		if s[i] == '"' {
			b = append(b, '"')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
