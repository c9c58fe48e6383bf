package traffic

import (
	"fmt"
	"io"
	"strings"
)

// A Report says how a record was understood, so that its owner can compare it
// with the source.
type Report struct {
	Files []FileReport

	First, Last string // first start and last end, in words
	Calls       float64
	Failed      float64 // both are expected numbers if only rates were recorded
	Notes       []string
}

// A FileReport is about one file.
type FileReport struct {
	Path    string
	Format  Format
	Times   string // how time stamps were understood
	Rows    int    // read, without a header
	Used    int
	Skipped []Skipped
}

// Skipped counts rows that were left out.
type Skipped struct {
	Reason string
	Rows   int
	Line   int // of the first
}

func (f *FileReport) skip(line int, reason string) {
	for i := range f.Skipped {
		if f.Skipped[i].Reason == reason {
			f.Skipped[i].Rows++
			return
		}
	}
	f.Skipped = append(f.Skipped, Skipped{reason, 1, line})
}

func (r *Report) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range r.Notes {
		if n == text {
			return
		}
	}
	r.Notes = append(r.Notes, text)
}

// Write prints the report.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Files {
		fmt.Fprintf(&b, "%s: %s, %d rows read, %d used", printable(f.Path), f.Format, f.Rows, f.Used)
		if f.Times != "" {
			fmt.Fprintf(&b, "; times: %s", f.Times)
		}
		b.WriteByte('\n')
		for _, s := range f.Skipped {
			fmt.Fprintf(&b, "  skipped %d: %s (first at line %d)\n", s.Rows, printable(s.Reason), s.Line)
		}
	}
	fmt.Fprintf(&b, "from %s to %s: %.10g calls, %.10g failed", r.First, r.Last, r.Calls, r.Failed)
	if r.Calls > 0 {
		fmt.Fprintf(&b, " (%.3g %%)", 100*r.Failed/r.Calls)
	}
	b.WriteByte('\n')
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", printable(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
