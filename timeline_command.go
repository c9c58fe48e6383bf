package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stormglass/stormglass/plots"
	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/table"
)

// makeOut makes the directory of -out.
func makeOut(s *settings) error {
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	return nil
}

// writeTimelines writes the timelines and the event traces that are asked for,
// of each case under a name of its own.
func writeTimelines(ctx context.Context, s *settings, cases []*scenario.Case, out io.Writer) error {
	if !s.scenario.timeline && s.scenario.events == "" {
		return nil
	}
	if err := makeOut(s); err != nil {
		return err
	}
	var files []string
	var failed error
	for i, slug := range slugs(cases) {
		if ctx.Err() != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: interrupted: no timeline", cases[i].Title()))
			break
		}
		if s.scenario.timeline {
			written, err := writeTimeline(ctx, s, cases[i], slug)
			files, failed = append(files, written...), errors.Join(failed, err)
		}
		if s.scenario.events != "" {
			path := s.scenario.events
			if len(cases) > 1 {
				end := filepath.Ext(path)
				path = strings.TrimSuffix(path, end) + "_" + slug + end
			}
			n, cut := 0, false
			err := saveFile(path, func(w io.Writer) (err error) {
				n, cut, err = cases[i].WriteEvents(ctx, w, scenario.DefaultEvents)
				return err
			})
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			files = append(files, path)
			if cut {
				fmt.Fprintf(out, "\n%s ends after %d events: a shorter horizon has all of them.\n", path, n)
			}
		}
	}
	if len(files) > 0 {
		fmt.Fprintln(out, "\nwritten:", strings.Join(files, " "))
	}
	return failed
}

// writeTimeline writes the table and the figure of a case.
func writeTimeline(ctx context.Context, s *settings, c *scenario.Case, slug string) (files []string, err error) {
	t, err := c.Timeline(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: timeline: %w", c.Title(), err)
	}
	path := filepath.Join(s.out, slug+"_timeline.csv")
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
		name := slug + "_timeline"
		if i > 0 {
			name += d.Suffix
		}
		for _, format := range s.charts {
			path := filepath.Join(s.out, name+"."+format)
			if err := saveFile(path, func(w io.Writer) error { return d.Figure.Write(w, format) }); err != nil {
				return files, err
			}
			files = append(files, path)
		}
	}
	return files, nil
}

// slugs are names for the files of cases: the scenario's file, and the variant
// if there is one. No two are equal.
func slugs(cases []*scenario.Case) []string {
	seen := make(map[string]int)
	list := make([]string, len(cases))
	for i, c := range cases {
		name := strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
		if c.Variant != "" {
			name += "_" + c.Variant
		}
		name = strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
				return r
			}
			return '-'
		}, name), "-.")
		if len(name) > 80 {
			name = name[:80]
		}
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, seen[name])
		}
		list[i] = name
	}
	return list
}
