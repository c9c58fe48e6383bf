package conformance

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
)

// A Summary adds up the recordings of one library and version.
type Summary struct {
	Library, Version                     string
	Kinds                                []string
	Recordings, Rows, Answers, Different int
	Failed                               int // recordings that were not understood
}

// Summarize replays every recording in and below a folder.
func Summarize(folder string) ([]Summary, error) {
	manifests, err := Manifests(folder)
	if err != nil {
		return nil, err
	}
	var all []Summary
	for _, m := range manifests {
		if m.Err != nil {
			return nil, m.Err
		}
		at := make(map[string]int) // by version
		for _, r := range m.Traces {
			i, ok := at[r.version()]
			if !ok {
				i = len(all)
				at[r.version()] = i
				all = append(all, Summary{Library: m.Library, Version: shortVersion(r.version())})
			}
			all[i].add(Replay(r))
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return strings.ToLower(all[i].Library) < strings.ToLower(all[j].Library) })
	return all, nil
}

func (s *Summary) add(r *Result) {
	s.Recordings++
	s.Rows += r.Rows
	s.Answers += r.Answers
	s.Different += r.Mismatches
	if r.Err != nil {
		s.Failed++
	}
	for _, k := range s.Kinds {
		if k == r.Recording.Kind {
			return
		}
	}
	s.Kinds = append(s.Kinds, r.Recording.Kind)
}

// shortVersion cuts the hashes of commits to the length that people read.
func shortVersion(v string) string {
	words := strings.FieldsFunc(v, func(r rune) bool { return r == ' ' })
	for i, w := range words {
		hash, end := w, ""
		if strings.HasSuffix(w, ",") {
			hash, end = w[:len(w)-1], ","
		}
		if len(hash) == 40 && strings.Trim(hash, "0123456789abcdef") == "" {
			words[i] = hash[:8] + end
		}
	}
	return strings.Join(words, " ")
}

// WriteMarkdown writes the document docs/CONFORMANCE.md for a folder of
// recordings. It returns an error, when all is written, if a recording was not
// understood or an answer differs.
func WriteMarkdown(w io.Writer, folder string) error {
	all, err := Summarize(folder)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(head)
	sum := Summary{Library: "all"}
	for _, s := range all {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.Library, s.Version, strings.Join(s.Kinds, ", "), s.figures())
		sum.Recordings += s.Recordings
		sum.Rows += s.Rows
		sum.Answers += s.Answers
		sum.Different += s.Different
		sum.Failed += s.Failed
	}
	fmt.Fprintf(&b, "| **%s** | | | %s |\n", sum.Library, sum.figures())
	fmt.Fprintf(&b, tail, filepath.ToSlash(DefaultFolder))
	if _, err = io.WriteString(w, b.String()); err != nil {
		return err
	}
	if sum.Different > 0 || sum.Failed > 0 {
		return fmt.Errorf("conformance: folder %s: %d answers differ, %d recordings were not understood: go test ./policies/... -run Golden names them",
			folder, sum.Different, sum.Failed)
	}
	return nil
}

// DefaultFolder is where the recordings lie, seen from the top of the project.
var DefaultFolder = filepath.Join("policies", "conformance", "testdata", "golden")

func (s *Summary) figures() string {
	text := fmt.Sprintf("%d | %d | %d | %d", s.Recordings, s.Rows, s.Answers, s.Different)
	if s.Failed > 0 {
		text += fmt.Sprintf(" (%d recordings not understood)", s.Failed)
	}
	return text
}

const head = `# Conformance

The presets in [policies/presets](../policies/presets) are held against recordings of the real libraries: each library ran under a scripted clock on
scripted inputs, and every answer that it gave is compared with the answer of the preset. An answer is one field, such as whether a call was
permitted, the state after it, or a figure that the library shows; a row of a recording has several.

| library | version | kinds | recordings | rows | answers compared | mismatches |
|---|---|---|--:|--:|--:|--:|
`

const tail = `
` + "`go run ./policies/conformance/report`" + ` makes this table anew, from %s. ` + "`go test ./policies/... -run Golden`" + ` makes the same
comparison as a test, one for each recording; with the variable GOLDEN_DIR it takes the recordings from another folder of the same format (add ` + "`-count=1`" + `: Go
remembers results and does not notice that files outside the module have changed).

Waits with jitter are random: there the shortest and the longest wait of the preset are compared with the bounds of the library, and waits between
must lie within. Polly, Envoy, Istio, Spring, Linkerd's back-off and the throttle of the Google SRE book were not recorded; these presets follow the
sources and documents that their files name, and are tested by hand-made cases.
`
