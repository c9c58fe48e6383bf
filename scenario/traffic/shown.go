package traffic

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A shownError is an error whose words may go to a terminal.
type shownError struct{ err error }

func (e shownError) Error() string { return printable(e.err.Error()) }

func (e shownError) Unwrap() error { return e.err }

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
