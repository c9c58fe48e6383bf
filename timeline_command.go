package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/stormglass/stormglass/plots"
	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/table"
)

// caseFiles are the names of what is written of each case.
type caseFiles struct {
	cases  []*scenario.Case
	slugs  []string // begin the names of timelines; none if they are not asked for
	events []string // of event traces, likewise
}

func timelineFiles(s *settings, cases []*scenario.Case) caseFiles {
	f := caseFiles{cases: cases}
	list := slugs(cases)
	if s.scenario.timeline {
		f.slugs = list
	}
	if path := s.scenario.events; path != "" {
		for _, slug := range list {
			f.events = append(f.events, eventsPath(path, slug, len(cases)))
		}
	}
	return f
}

// eventsPath is where the events of one of some cases are written: run.json
// becomes run_SLUG.json if there are several, and SLUG.json if that begins so.
func eventsPath(path, slug string, cases int) string {
	if cases == 1 {
		return path
	}
	dir, name := filepath.Split(path)
	end := filepath.Ext(name)
	if stem := strings.TrimSuffix(name, end); !strings.HasPrefix(slug, stem) {
		slug = stem + "_" + slug
	}
	return dir + slug + end
}

// places are the files to be written; of figures the first.
func (f *caseFiles) places(s *settings) []place {
	var list []place
	if s.scenario.junit != "" {
		list = append(list, place{"-junit", s.scenario.junit})
	}
	for _, path := range f.events {
		list = append(list, place{"-events", path})
	}
	for _, slug := range f.slugs {
		for _, end := range append([]string{"csv"}, s.charts...) {
			list = append(list, place{"-timeline", timelinePath(s, slug, "", end)})
		}
	}
	return list
}

// write writes the timelines and the event traces of all cases.
func (f *caseFiles) write(ctx context.Context, s *settings, out io.Writer) error {
	var files []string
	var failed error
	for i, c := range f.cases {
		if f.slugs == nil && f.events == nil {
			break
		}
		if ctx.Err() != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: interrupted: no timeline", c.Title()))
			break
		}
		if f.slugs != nil {
			written, err := writeTimeline(ctx, s, c, f.slugs[i])
			files, failed = append(files, written...), errors.Join(failed, err)
		}
		if f.events != nil {
			n, cut := 0, false
			err := saveFile(f.events[i], func(w io.Writer) (err error) {
				n, cut, err = c.WriteEvents(ctx, w, scenario.DefaultEvents)
				return err
			})
			if ctx.Err() != nil {
				err = fmt.Errorf("%s: events: interrupted", c.Title())
			}
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			files = append(files, f.events[i])
			if cut {
				fmt.Fprintf(out, "\n%s ends after %d events: a shorter horizon has all of them.\n", f.events[i], n)
			}
		}
	}
	if len(files) > 0 {
		fmt.Fprintln(out, "\nwritten:", strings.Join(files, " "))
	}
	return failed
}

// timelinePath is where a timeline or its figure is written.
func timelinePath(s *settings, slug, suffix, end string) string {
	return filepath.Join(s.out, slug+"_timeline"+suffix+"."+end)
}

// writeTimeline writes the table and the figure of a case.
func writeTimeline(ctx context.Context, s *settings, c *scenario.Case, slug string) (files []string, err error) {
	t, err := c.Timeline(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: timeline: %w", c.Title(), err)
	}
	path := timelinePath(s, slug, "", "csv")
	if err := saveFile(path, t.WriteCSV); err != nil {
		return nil, err
	}
	files = append(files, path)
	if len(s.charts) == 0 {
		return files, nil
	}
	drawings, err := plots.Draw("timeline", []*table.Table{t}, fmt.Sprintf("stormglass %s · seed %d", version, c.Seed))
	if err != nil {
		return files, fmt.Errorf("%s: timeline: %w", c.Title(), err)
	}
	for i, d := range drawings {
		suffix := ""
		if i > 0 {
			suffix = d.Suffix
		}
		for _, format := range s.charts {
			path := timelinePath(s, slug, suffix, format)
			if err := saveFile(path, func(w io.Writer) error { return d.Figure.Write(w, format) }); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// keptOfSlug is how much of either end is kept of names that are too long, in
// bytes.
const keptOfSlug = 50

// slugs are names for the files of cases: the scenario's file, and the variant
// if there is one. No two are equal, whatever the case of their letters.
func slugs(cases []*scenario.Case) []string {
	used := make(map[string]bool)
	list := make([]string, len(cases))
	for i, c := range cases {
		name := strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
		if c.Variant != "" {
			name += "_" + c.Variant
		}
		name = strings.Trim(strings.Join(strings.FieldsFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.'
		}), "-"), ".")
		if n := len(name); n > 2*keptOfSlug {
			name = name[:keptOfSlug] + "--" + name[n-keptOfSlug:] // swept values stand at the end
		}
		name = cmp.Or(strings.ToValidUTF8(name, ""), "scenario")
		list[i] = name
		for n := 2; used[strings.ToLower(list[i])]; n++ {
			list[i] = fmt.Sprintf("%s-%d", name, n)
		}
		used[strings.ToLower(list[i])] = true
	}
	return list
}
