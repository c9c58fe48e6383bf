package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/scenario"
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
	fs.StringVar(&s.junit, "junit", "", "with -scenario: write the claims as JUnit XML to a `file`")
	fs.BoolVar(&s.timeline, "timeline", false, "with -scenario: write what happens second by second in replication 0, as CSV and a figure")
	fs.StringVar(&s.events, "events", "", "with -scenario: write the tries of replication 0 as a Chrome trace to a `file`, for ui.perfetto.dev")
	fs.StringVar(&s.init, "init", "", "write a commented scenario to begin with to a new `file`")
	fs.StringVar(&s.explain, "explain", "", "say what follows from the settings of a scenario `file`, without running it")
	fs.StringVar(&s.imported, "import", "", "print the scenario that a settings `file` means: Resilience4j, Envoy, Istio, gRPC, Linkerd, Polly")
}

// given reports whether there is something to do.
func (s *scenarioFlags) given() bool {
	return len(s.files) > 0 || s.init != "" || s.explain != "" || s.imported != ""
}

// check refuses flags that need others.
func (s *scenarioFlags) check() error {
	for _, f := range []struct {
		name  string
		given bool
	}{{"-junit", s.junit != ""}, {"-timeline", s.timeline}, {"-events", s.events != ""}} {
		if f.given && len(s.files) == 0 {
			return usagef("%s without -scenario, want the scenario that is meant", f.name)
		}
	}
	return nil
}

// run does what the flags ask for.
func (s *scenarioFlags) run(ctx context.Context, all *settings, out, stderr io.Writer) error {
	switch {
	case s.init != "":
		return writeStarter(s.init, out)
	case s.imported != "":
		return importSettings(s.imported, out)
	case s.explain != "":
		return explainScenario(s.explain, out)
	}
	return runScenarios(ctx, all, out, stderr)
}

// errClaims says that a claim does not hold: exit code 1.
var errClaims = errors.New("claims fail")

// runScenarios runs the scenario files, prints what became of their claims and
// fails if one does not hold.
func runScenarios(ctx context.Context, s *settings, out, stderr io.Writer) error {
	cases, err := loadScenarios(s)
	if err != nil {
		return err
	}
	bar := newProgress(stderr, "scenario", s.quiet)
	reports, err := scenario.Run(ctx, cases, s.workers, bar.update)
	bar.finish()
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return fmt.Errorf("scenario: %w", err)
	}
	if err := scenario.WriteText(out, reports); err != nil {
		return err
	}
	if s.scenario.junit != "" {
		if err := saveFile(s.scenario.junit, func(w io.Writer) error { return scenario.WriteJUnit(w, reports) }); err != nil {
			return err
		}
	}
	if err := writeTimelines(ctx, s, cases, out); err != nil {
		return err
	}
	holds, fails, undecided := scenario.Tally(reports, scenario.Holds), scenario.Tally(reports, scenario.Fails), scenario.Tally(reports, scenario.Undecided)
	fmt.Fprintf(out, "\n%s, %s, %s\n", count(holds, "claim holds", "claims hold"), count(fails, "fails", "fail"), count(undecided, "is undecided", "are undecided"))
	if undecided > 0 {
		fmt.Fprintln(out, "Undecided: the interval holds both values that satisfy the claim and values that do not; more replications would tell (-reps).")
	}
	if fails > 0 {
		return fmt.Errorf("%d %w", fails, errClaims)
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

// writeStarter writes the commented starter to a new file.
func writeStarter(path string, out io.Writer) error {
	if _, err := os.Stat(path); err == nil {
		return usagef("-init: %s is there already, want a new file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("-init: %w", err)
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

// explainScenario says what follows from the settings of each case of a file.
func explainScenario(path string, out io.Writer) error {
	cases, err := scenario.Load(path)
	if err != nil {
		return usageError{err}
	}
	for i, c := range cases {
		if i > 0 {
			fmt.Fprintln(out)
		}
		title := c.Title()
		fmt.Fprintf(out, "%s\n%s\n\n", title, strings.Repeat("=", len([]rune(title))))
		if err := explain.Explain(c.Config).WriteText(out); err != nil {
			return err
		}
	}
	return nil
}

// maxSettings bounds a settings file, in bytes.
const maxSettings = 4 << 20

// importSettings prints the scenario that a file of settings means.
func importSettings(path string, out io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return usagef("-import: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return fmt.Errorf("-import: %w", err)
	}
	if len(text) > maxSettings {
		return usagef("-import: %s is larger than %d bytes", path, maxSettings)
	}
	im, err := importer.Read(path, text)
	if err != nil {
		return usageError{err}
	}
	var b bytes.Buffer
	if err := im.Write(&b); err != nil {
		return err
	}
	_, err = out.Write(b.Bytes())
	return err
}
