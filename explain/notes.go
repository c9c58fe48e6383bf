package explain

import (
	"strings"
)

// How bad what the model notes is, by words of the note; what is not listed is
// a Note.
var noted = []struct {
	words    string
	severity Severity
	rule     string
}{
	{"but no call is answered well in less than", Problem, "timeout-too-short"},
	{"waits for ever", Problem, "no-timeout"},
	{"is not shorter than the", Warning, "timeout-order"},
	{"by then the", Problem, "backoff-too-long"},
	{"is never repeated before the deadline", Warning, "backoff-too-long"},
	{"attempts inside the", Warning, "retry-layers"},
	{"unlimited attempts without back-off", Problem, "no-backoff"},
	{"capped to", Warning, "minimum-above-window"},
	{"drops expired calls, but", Warning, "no-deadline"},
	{"at the same instant", Warning, "no-pause"},
}

// notes takes over what the model says of the system.
func (x *explainer) notes() {
	for _, note := range x.c.Notes() {
		place, text := splitNote(note)
		s, rule := Note, "note"
		for _, n := range noted {
			if strings.Contains(text, n.words) {
				s, rule = n.severity, n.rule
				break
			}
		}
		x.find(s, rule, place, text, "")
	}
}

// splitNote cuts a note after its place, in which names are quoted.
func splitNote(note string) (place, text string) {
	quoted := false
	for i := 0; i < len(note); i++ {
		switch {
		case note[i] == '\\' && quoted:
			i++
		case note[i] == '"':
			quoted = !quoted
		case note[i] == ':' && !quoted && i+2 <= len(note):
			return note[:i], strings.TrimSpace(note[i+1:])
		}
	}
	return "", note
}
