package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/scenario/document"
	"github.com/stormglass/stormglass/scenario/importer"
)

// scenarioFlags are those of scenario files.
type scenarioFlags struct {
	files    []string
	junit    string
	timeline bool
	events   string
	init     string
	explain  string
	imported string
}

// add declares the flags.
func (s *scenarioFlags) add(fs *flag.FlagSet) {
	fs.Func("scenario", "run a scenario `file`, or all in a folder, and judge its claims; may be repeated; exit 1 if one fails", func(v string) error {
		if v == "" {
			return errors.New("want a file or a folder")
		}
		s.files = append(s.files, v)
		return nil
	})
	name := func(flag, usage string, into *string) {
		fs.Func(flag, usage, func(v string) error {
			if v == "" {
				return errors.New("want a file")
			}
			if *into != "" {
				return errors.New("given twice, want one file")
			}
			*into = v
			return nil
		})
	}
	name("junit", "with -scenario: write the claims as JUnit XML to a `file`", &s.junit)
	fs.BoolVar(&s.timeline, "timeline", false, "with -scenario: write what happens second by second in replication 0, as CSV and a figure")
	name("events", "with -scenario: write the tries of replication 0 as a Chrome trace to a `file`, for ui.perfetto.dev", &s.events)
	name("init", "write a commented scenario to begin with to a new `file`", &s.init)
	name("explain", "say what follows from the settings of a scenario `file` or of all in a folder, without running", &s.explain)
	name("import", "print the scenario that a settings `file` means: Resilience4j, Envoy, Istio, gRPC, Linkerd, Polly", &s.imported)
}

// errClaims says that a claim does not hold: exit code 1.
var errClaims = errors.New("not all claims hold")

// runScenarios runs the scenario files, prints what became of their claims and
// fails if one does not hold.
func runScenarios(s *settings, out, stderr io.Writer) (work, error) {
	cases, err := loadScenarios(s)
	if err != nil {
		return nil, err
	}
	files := timelineFiles(s, cases)
	return func(ctx context.Context) error {
		if s.scenario.timeline {
			if err := makeOut(s); err != nil {
				return err
			}
		}
		if err := checkPlaces(files.places(s), read(cases)); err != nil {
			return err
		}
		bar := newProgress(stderr, "scenario", s.quiet)
		reports, err := scenario.Run(ctx, cases, s.workers, bar.update)
		bar.finish()
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		if err != nil {
			err = fmt.Errorf("scenario: %w; %d of %d cases were judged before", err, len(reports), len(cases))
		}
		failed := err
		if len(reports) > 0 {
			failed = errors.Join(err, scenario.WriteText(out, reports), tally(out, reports))
		}
		if s.scenario.junit != "" {
			failed = errors.Join(failed, saveFile(s.scenario.junit, func(w io.Writer) error { return scenario.WriteJUnit(w, reports, cases) }))
		}
		return errors.Join(failed, files.write(ctx, s, out))
	}, nil
}

// tally prints how many claims hold, and fails if one does not.
func tally(out io.Writer, reports []scenario.Report) error {
	holds, fails, undecided := scenario.Tally(reports, scenario.Holds), scenario.Tally(reports, scenario.Fails), scenario.Tally(reports, scenario.Undecided)
	fmt.Fprintf(out, "\n%s, %s, %s\n", count(holds, "claim holds", "claims hold"), count(fails, "fails", "fail"), count(undecided, "is undecided", "are undecided"))
	if undecided > 0 {
		fmt.Fprintln(out, "Undecided: the interval holds both values that satisfy the claim and values that do not; more replications would tell (-reps).")
	}
	if fails > 0 {
		return fmt.Errorf("%w: %s", errClaims, count(fails, "fails", "fail"))
	}
	return nil
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// loadScenarios reads all files, so that the problems of all are told at once.
func loadScenarios(s *settings) ([]*scenario.Case, error) {
	var cases []*scenario.Case
	var failed error
	for _, path := range s.scenario.files {
		list, err := scenario.Load(path)
		failed = errors.Join(failed, err)
		cases = append(cases, list...)
	}
	if failed != nil {
		return nil, usageError{failed}
	}
	if s.reps > scenario.MaxReplications {
		return nil, usagef("-reps %d, want at most %d for scenarios", s.reps, scenario.MaxReplications)
	}
	for _, c := range cases {
		if s.reps > 0 {
			c.Replications = s.reps
		}
		if s.seeded {
			c.Seed = s.seed
		}
	}
	return cases, nil
}

// read lists the files that cases are made of.
func read(cases []*scenario.Case) []string {
	var list []string
	for _, c := range cases {
		list = append(list, c.Files...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// writeStarter writes the commented starter to a new file.
func writeStarter(path string, out io.Writer) error {
	if _, err := os.Lstat(path); err == nil {
		return usagef("-init: %s is there already, want a new file", path)
	}
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return usagef("-init: %s, want a file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return usagef("-init: %w", err)
	}
	if err := probe("-init", filepath.Dir(path)); err != nil {
		return err
	}
	if err := saveFile(path, func(w io.Writer) error {
		_, err := w.Write(scenario.Starter)
		return err
	}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "written: %s; run it with -scenario %s\n", path, path)
	return err
}

// explainScenario says what follows from the settings of each case.
func explainScenario(path string, out io.Writer) (work, error) {
	cases, err := scenario.Load(path)
	if err != nil {
		return nil, usageError{err}
	}
	return func(ctx context.Context) error {
		var all []*explain.Explanation
		for i, c := range cases {
			if ctx.Err() != nil {
				return fmt.Errorf("explain: interrupted before %s", c.Title())
			}
			if i > 0 {
				fmt.Fprintln(out)
			}
			title := c.Title()
			fmt.Fprintf(out, "%s\n%s\n\n", title, strings.Repeat("=", len([]rune(title))))
			e := explain.Explain(c.Config)
			if err := e.WriteText(out); err != nil {
				return err
			}
			all = append(all, e)
		}
		fmt.Fprintln(out)
		return explain.WriteLegend(out, all...)
	}, nil
}

// importSettings prints the scenario that a file of settings means.
func importSettings(path string, out io.Writer) (work, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("-import: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
	if err != nil {
		return nil, usagef("-import: %w", err)
	}
	im, err := importer.Read(path, text)
	if err != nil {
		return nil, usageError{err}
	}
	return func(context.Context) error { return im.Write(out) }, nil
}
