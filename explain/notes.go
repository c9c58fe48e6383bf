package explain

import (
	"regexp"
	"strings"
)

// A kind of note of the model: the words of it, with a verb where values stand,
// as in the sources of [model.Config.Notes]; what it is called here, and how bad
// it is. A test holds the list against the sources.
type kind struct {
	severity Severity
	rule     string
	format   string
	pattern  *regexp.Regexp
}

var kinds = patterns([]kind{
	{Problem, "timeout-too-short", "timeout %v, but no call is answered well in less than %v", nil},
	{Problem, "no-timeout", "leaves calls without answer, and a caller without timeout waits for ever", nil},
	{Problem, "backoff-too-long", "retry: the first wait is at least %v, and by then the timeout %v around it (%s) is over", nil},
	{Problem, "backoff-too-long", "retry: the first wait is at least %v, and by then the deadline %v is over", nil},
	{Problem, "no-backoff", "retry: unlimited attempts without back-off: a callee that fails at once is called without a pause until the deadline", nil},
	{Warning, "backoff-too-long", "retry: an attempt that runs into the timeout %v inside is never repeated before the deadline %v", nil},
	{Warning, "timeout-order", "timeout %v is not shorter than the %v around it (%s)", nil},
	{Warning, "retry-layers", "retry: %s inside the %s: up to %s for each request", nil},
	{Warning, "minimum-above-window", "breaker: minimum %d above the %s window of %d: capped to %d", nil},
	{Warning, "slow-without-rate", "breaker: slow after %v without a slow rate: slow calls are counted but never trip", nil},
	{Warning, "no-deadline", "drops expired calls, but no caller tells it a deadline", nil},
	{Warning, "no-deadline", "tells the node a deadline, but there is none to tell", nil},
	{Warning, "no-pause", "a refused request is followed by the next at the same instant, for want of think time or a pause after a failure", nil},
	{Warning, "never-happens", "starts at %v, not before the horizon %v", nil},
	{Warning, "never-happens", "has the effect of a good call, but the node writes nothing", nil},
	{Warning, "never-happens", "leaves a share %v of an unlimited number of workers, which is all of them", nil},
	{Warning, "never-happens", "sheds above %d in flight, but no more than %d fit its workers and its queue", nil},
	{Warning, "never-called", "no client's requests reach it", nil},
	{Note, "no-effect", "has a service law, but the script repeats and never leaves a call to it", nil},
	{Note, "no-effect", "recognises requests without writes: there is no effect to be had twice", nil},
	{Note, "no-effect", "%d instances for %d clients: some have none", nil},
	{Note, "no-effect", "step %d: needs 1 of 1 call, which is all", nil},
	{Note, "no-effect", "balance %s over 1 replica: there is nothing to choose", nil},
	{Note, "no-effect", "retry: a budget beside 1 attempt: there is no retry to grant", nil},
	{Note, "no-effect", "retry: 1 attempt with back-off: there is no retry to wait for", nil},
})

var verb = regexp.MustCompile(`%[.\d]*[a-z]`)

// patterns makes of each format what matches its texts from end to end.
func patterns(list []kind) []kind {
	for i := range list {
		var words []string
		for _, w := range verb.Split(list[i].format, -1) {
			words = append(words, regexp.QuoteMeta(w))
		}
		list[i].pattern = regexp.MustCompile(`(?s)^(?:fault \d+ \([^)]*\): )?` + strings.Join(words, ".+") + "$")
	}
	return list
}

// kindOf is the kind of a note's text, a Note called "note" if it is not known.
func kindOf(text string) (Severity, string) {
	for i := range kinds {
		if kinds[i].pattern.MatchString(text) {
			return kinds[i].severity, kinds[i].rule
		}
	}
	return Note, "note"
}

// notes takes over what the model says of the system.
func (x *explainer) notes() {
	for _, note := range x.c.Notes() {
		place, text := splitNote(note)
		severity, rule := kindOf(text)
		x.find(severity, rule, place, text, "")
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
