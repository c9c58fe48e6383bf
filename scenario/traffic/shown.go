package traffic

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A shownError is an error whose words may go to a terminal.
type shownError struct{ err error }

func (e shownError) Error() string {
	var list faults
	if !errors.As(e.err, &list) {
		return printable(e.err.Error())
	}
	lines := make([]string, len(list))
	for i, err := range list {
		lines[i] = printable(err.Error())
	}
	return strings.Join(lines, "\n")
}

func (e shownError) Unwrap() error { return e.err }

// faults are the errors of a file, told in a line each.
type faults []error

func (f faults) Error() string { return errors.Join(f...).Error() }

func (f faults) Unwrap() []error { return f }

// shown is an error that may quote the input.
func shown(err error) error {
	if err == nil {
		return nil
	}
	return shownError{err}
}

// printable is text with every character that is not to be seen, such as the
// one that begins the commands of a terminal, as in a string of Go: \x1b.
func printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		piece := text[:size]
		if hidden(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.Quote(piece)
			piece = quoted[1 : len(quoted)-1]
		}
		b.WriteString(piece)
		text = text[size:]
	}
	return b.String()
}

func hidden(r rune) bool { return !unicode.IsPrint(r) }

// clip shortens text for a message.
func clip(s string) string {
	if len(s) <= 60 {
		return s
	}
	return strings.ToValidUTF8(s[:57], "") + "..."
}
