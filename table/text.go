package table

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Text is a table for the terminal: a caption, a header, aligned cells, and
// notes below. Columns after the first Left ones are aligned to the right.
type Text struct {
	Caption string
	Header  []string
	Left    int // how many leading columns are text, aligned left
	Rows    [][]string
	Notes   []string
}

// Append adds a row; missing cells are blank.
func (t *Text) Append(cells ...string) { t.Rows = append(t.Rows, cells) }

// DropEmpty removes the columns right of Left in which every cell is the given
// blank.
func (t *Text) DropEmpty(blank string) {
	for i := len(t.Header) - 1; i >= t.Left; i-- {
		empty := len(t.Rows) > 0
		for _, row := range t.Rows {
			empty = empty && i < len(row) && row[i] == blank
		}
		if !empty {
			continue
		}
		t.Header = slices.Delete(t.Header, i, i+1)
		for k := range t.Rows {
			t.Rows[k] = slices.Delete(t.Rows[k], i, i+1)
		}
	}
}

// Write prints the table with two spaces between columns. Every rune counts
// one column wide.
func (t *Text) Write(w io.Writer) error {
	width := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			if i < len(width) {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			}
		}
	}
	b := bufio.NewWriter(w)
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n\n")
	}
	t.writeRow(b, t.Header, width)
	rule := make([]string, len(width))
	for i, n := range width {
		rule[i] = strings.Repeat("-", n)
	}
	t.writeRow(b, rule, width)
	for _, row := range t.Rows {
		t.writeRow(b, row, width)
	}
	if len(t.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range t.Notes {
		b.WriteString(note + "\n")
	}
	return b.Flush()
}

func (t *Text) writeRow(b *bufio.Writer, row []string, width []int) {
	var line strings.Builder
	for i, n := range width {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		pad := strings.Repeat(" ", n-utf8.RuneCountInString(cell))
		if i > 0 {
			line.WriteString("  ")
		}
		if i < t.Left {
			line.WriteString(cell + pad)
		} else {
			line.WriteString(pad + cell)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}
