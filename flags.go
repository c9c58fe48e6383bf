package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/experiments"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/plots"
	"github.com/stormglass/stormglass/requestlog"
)

// settings are the flags as given.
type settings struct {
	exp       string
	factors   map[string]string // -set and its shorthands
	seed      uint64
	reps      int
	workers   int
	out       string
	charts    []string
	trace     string
	saveTrace string
	log       string
	logged    requestlog.Options

	scenario scenarioFlags
	replay   replayFlags
	seeded   bool // -seed was given

	mode  string // see modes
	quiet bool
}

// shorthands are flags that set a factor.
var shorthands = []struct{ flag, factor, doc string }{
	{"hours", "hours", "length of the simulated trace, `h`"},
	{"rate", "rate_rps", "calls per second, `1/s`"},
	{"arrivals", "arrivals", "how calls arrive: fixed, poisson, or fixed-float (detection-delay only)"},
}

func parseFlags(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{factors: map[string]string{}}
	fs := flag.NewFlagSet("stormglass", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	charts := "png"
	fs.StringVar(&s.exp, "exp", "", "experiments to run, or to list: `NAME[,NAME]` or all")
	fs.Bool("list", false, "list the experiments and their factors, with -exp those named")
	for _, sh := range shorthands {
		fs.Func(sh.flag, sh.doc+"; short for -set "+sh.factor+"=…", func(v string) error {
			return s.set(sh.factor, v)
		})
	}
	fs.Func("set", "set a factor's levels: `FACTOR=v1,v2` or FACTOR=from:to:step; may be repeated", func(v string) error {
		name, levels, ok := strings.Cut(v, "=")
		if !ok || name == "" || levels == "" {
			return fmt.Errorf("want FACTOR=v1,v2 or FACTOR=from:to:step")
		}
		return s.set(name, levels)
	})
	fs.Uint64Var(&s.seed, "seed", 1, "root `seed` of all random streams")
	fs.IntVar(&s.reps, "reps", 0, "replications per cell, `n`; 0 means the experiment's default")
	fs.IntVar(&s.workers, "workers", runtime.NumCPU(), "`n` replications at a time; results do not depend on it")
	fs.StringVar(&s.out, "out", "out", "`directory` of the files written")
	fs.StringVar(&charts, "charts", charts, "figure `formats`: png, svg, pdf (several with commas) or none")
	fs.Func("trace", "failure trace to run on, a CSV `file`", func(v string) error {
		if v == "" {
			return errors.New("want a file")
		}
		s.trace = v
		return nil
	})
	fs.StringVar(&s.saveTrace, "save-trace", "", "write the failure trace of replication 0 to a CSV `file`")
	fs.StringVar(&s.log, "log", "", "write every try of replication 0 to a `file` that ends in .csv or .parquet; each factor needs one level")
	fs.Func("epoch", "`instant` at which the run of -log begins, as 2006-01-02T15:04:05Z (default "+requestlog.DefaultEpoch.Format(time.RFC3339)+")", s.setEpoch)
	fs.Func("log-sample", "log this `share` of the requests, each with all its tries or none (default 1)", s.setSample)
	s.scenario.add(fs)
	s.replay.add(fs)
	fs.BoolVar(&s.quiet, "quiet", false, "print nothing but errors, and what -list, -import, -explain and -version print")
	fs.Bool("verify", false, "check every measurement of the articles that is built; exit 1 if one is out of range")
	fs.Bool("version", false, "print the version")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			printUsage(fs, stderr)
			return nil, err
		}
		return nil, usagef("%w (-h lists the flags)", err)
	}
	if fs.NArg() > 0 {
		return nil, usagef("argument %q, want flags only (-h lists them)", fs.Arg(0))
	}
	var given []string
	var empty error
	fs.Visit(func(f *flag.Flag) {
		if f.Value.String() != "false" {
			given = append(given, f.Name)
		}
		if v, ok := f.Value.(flag.Getter); ok && v.Get() == "" {
			empty = usagef("-%s is empty, want a value", f.Name)
		}
	})
	if empty != nil {
		return nil, empty
	}
	s.seeded = slices.Contains(given, "seed")
	if len(args) == 0 {
		printUsage(fs, stderr)
	}
	var err error
	if s.mode, err = modeOf(given); err != nil {
		return nil, err
	}
	return s, s.check(charts)
}

func (s *settings) set(factor, levels string) error {
	if _, given := s.factors[factor]; given {
		return fmt.Errorf("factor %s set twice, want all levels in one list", factor)
	}
	s.factors[factor] = levels
	return nil
}

func (s *settings) check(charts string) error {
	if s.workers < 1 || s.workers > 4096 {
		return usagef("-workers %d, want 1 to 4096", s.workers)
	}
	if s.reps < 0 {
		return usagef("-reps %d, want 1 or more, or 0 for the default", s.reps)
	}
	if err := s.checkLog(); err != nil {
		return err
	}
	if charts == "none" {
		return nil
	}
	for format := range strings.SplitSeq(charts, ",") {
		if !slices.Contains(plots.Formats(), format) {
			return usagef("-charts %q, want %s or none", format, strings.Join(plots.Formats(), ", "))
		}
		if !slices.Contains(s.charts, format) {
			s.charts = append(s.charts, format)
		}
	}
	return nil
}

func printUsage(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, "Stormglass simulates retries, retry budgets and circuit breakers under a virtual clock.\n\n"+
		"  stormglass -exp NAME[,NAME]|all [flags]  run experiments: table, CSV, figure\n"+
		"  stormglass -list [-exp NAME]             what there is to run, with factors\n"+
		"  stormglass -verify                       check the articles' measurements\n"+
		"  stormglass -init FILE.yaml               begin a scenario of your own\n"+
		"  stormglass -scenario FILE.yaml|FOLDER    run scenarios and judge their claims\n"+
		"  stormglass -explain FILE.yaml            what follows from its settings, without running\n"+
		"  stormglass -import FILE                  the scenario that your settings mean\n"+
		"  stormglass -replay FILE                  what breakers would have done on recorded traffic\n\nExperiments:\n")
	width := 0
	for _, e := range experiments.All() {
		width = max(width, len(e.Name))
	}
	for _, e := range experiments.All() {
		fmt.Fprintf(w, "  %-*s  %s\n", width, e.Name, e.Question())
	}
	fmt.Fprint(w, "\nFlags:\n")
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// named are the experiments of -exp, all if it is not given.
func (s *settings) named() ([]*experiments.Experiment, error) {
	if s.exp == "all" || s.exp == "" {
		return experiments.All(), nil
	}
	names := strings.Split(s.exp, ",")
	var all []*experiments.Experiment
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, usagef("-exp names %q twice", name)
		}
		e, err := experiments.Lookup(name)
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, e)
	}
	return all, nil
}

// list prints experiments with their factors and default levels.
func list(w io.Writer, all []*experiments.Experiment) {
	for i, e := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		unit := "replications"
		if e.Reps == 1 {
			unit = "replication"
		}
		fmt.Fprintf(w, "%s · %d %s\n", e.Name, e.Reps, unit)
		for line := range strings.SplitSeq(e.Doc, "\n") {
			fmt.Fprintf(w, "    %s\n", line)
		}
		for _, f := range e.Factors {
			fmt.Fprintf(w, "    -set %s=%s\n        %s\n", f.Name, strings.Join(f.Levels, ","), f.Doc)
		}
	}
}

// jobs resolves the experiments named and plans each.
func (s *settings) jobs() ([]job, error) {
	all, err := s.named()
	if err != nil {
		return nil, err
	}
	for i, e := range all {
		if s.trace != "" {
			if all[i], err = s.withTrace(e); err != nil {
				return nil, err
			}
		}
	}
	if s.saveTrace != "" && !slices.ContainsFunc(all, func(e *experiments.Experiment) bool { return e.Trace != nil }) {
		return nil, usagef("-save-trace: %s makes no trace", s.exp)
	}
	if s.log != "" && len(all) > 1 {
		return nil, usagef("-log: %d experiments, want one: a log is of one run", len(all))
	}
	var jobs []job
	for _, e := range all {
		plan, err := experiments.NewPlan(e, experiments.Options{Seed: s.seed, Reps: s.reps, Set: s.factorsOf(e, all)})
		if err != nil {
			return nil, usageError{err}
		}
		j := job{plan: plan}
		if s.log != "" {
			if err := j.logTo(s); err != nil {
				return nil, usageError{err}
			}
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// factorsOf leaves out the factors that e lacks, if another of the experiments
// has them: -exp all -hours 1 sets hours where there are any.
func (s *settings) factorsOf(e *experiments.Experiment, all []*experiments.Experiment) map[string]string {
	set := map[string]string{}
	for name, levels := range s.factors {
		elsewhere := slices.ContainsFunc(all, func(o *experiments.Experiment) bool { return o.Factor(name) != nil })
		if e.Factor(name) != nil || !elsewhere {
			set[name] = levels
		}
	}
	return set
}

// maxStem bounds the part of the results' file names that comes from the trace.
const maxStem = 100

// withTrace reads the trace and asks the experiment's question of it.
func (s *settings) withTrace(e *experiments.Experiment) (*experiments.Experiment, error) {
	if e.WithTrace == nil {
		return nil, usagef("%s takes no -trace", e.Name)
	}
	f, err := os.Open(s.trace)
	if err != nil {
		return nil, usagef("-trace: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	t, err := model.ReadTrace(s.trace, io.TeeReader(f, sum))
	if err != nil {
		return nil, usagef("-trace: %w", err)
	}
	stem := strings.TrimSuffix(filepath.Base(s.trace), filepath.Ext(s.trace))
	if len(stem) > maxStem {
		return nil, usagef("-trace: file name of %d bytes, want at most %d: it names the results", len(stem), maxStem)
	}
	e, err = e.WithTrace(stem, t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.trace, err)
	}
	e.Source = fmt.Sprintf("%s sha256:%x", filepath.Base(s.trace), sum.Sum(nil))
	return e, nil
}
