package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/scenario/traffic"
)

// replayFlags are those of recorded traffic.
type replayFlags struct {
	files    []string // to replay
	traces   []string // to be turned into segments
	breakers string
	options  recordOptions
	keys     []string // of -record, as given
}

// defaultBreakers are asked where neither -breakers nor -scenario names some.
const defaultBreakers = "resilience4j-count,hystrix-1.5.13,gobreaker,polly"

// add declares the flags.
func (r *replayFlags) add(fs *flag.FlagSet) {
	list := func(into *[]string) func(string) error {
		return func(v string) error {
			if v == "" {
				return errors.New("want a file")
			}
			*into = append(*into, v)
			return nil
		}
	}
	fs.Func("replay", "show the calls of a recorded `file` to breakers and say when each would have opened; may be repeated: k6, vegeta, JMeter, hey, Locust, access logs, Prometheus, traces", list(&r.files))
	fs.Func("import-trace", "turn a recorded `file` into the trace that -save-trace names, for scenarios; may be repeated", list(&r.traces))
	fs.StringVar(&r.breakers, "breakers", "", "with -replay: `names` of presets (default "+defaultBreakers+"; with -scenario none but its own)")
	fs.Func("record", "with -replay, -import-trace: how a record is read, `KEY=VALUE`; may be repeated; keys: "+strings.Join(recordKeyNames(), ", "), r.record)
	fs.StringVar(&r.options.Stamp, "stamp", "", "with -replay, -import-trace: time stamps are the `start` or the end of calls (default: as the format has it)")
	fs.BoolVar(&r.options.SkipBad, "skip-bad", false, "with -replay, -import-trace: skip rows that make no sense, and count them")
}

// importTrace writes the segments of recorded traffic.
func importTrace(s *settings, out io.Writer) (work, error) {
	if s.saveTrace == "" {
		return nil, usagef("-import-trace without -save-trace, want the file to write")
	}
	if slices.Contains(s.replay.keys, "share") {
		return nil, usagef("-record share has no effect with -import-trace, want it with -replay")
	}
	if err := checkPlaces([]place{{"-save-trace", s.saveTrace}}, recordPaths(s.replay.traces)); err != nil {
		return nil, err
	}
	if ext := strings.ToLower(filepath.Ext(s.saveTrace)); ext != "" && ext != ".csv" {
		return nil, usagef("-save-trace: %s, want a name that ends in .csv: a trace is written as plain CSV", s.saveTrace)
	}
	t, err := traffic.ReadFiles(s.replay.traces, s.replay.options.Options)
	if err != nil {
		return nil, usagef("-import-trace: %w", err)
	}
	return func(context.Context) error {
		if err := t.Report.Write(out); err != nil {
			return err
		}
		if err := saveFile(s.saveTrace, t.WriteTrace); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out, "\nwritten:", s.saveTrace)
		return err
	}, nil
}

// replay shows recorded calls to breakers, prints what each would have done and
// writes its openings.
func replay(s *settings, out io.Writer) (work, error) {
	breakers, files, err := s.replay.players(s)
	if err != nil {
		return nil, err
	}
	files = append(files, recordPaths(s.replay.files)...)
	options := traffic.PlayOptions{Seed: s.seed, Replications: s.reps, Share: s.replay.options.share, Workers: s.workers}
	if err := options.Validate(); err != nil {
		return nil, usageError{err}
	}
	t, err := traffic.ReadFiles(s.replay.files, s.replay.options.Options)
	if err != nil {
		return nil, usagef("-replay: %w", err)
	}
	if err := t.CanPlay(); err != nil {
		return nil, usagef("-replay: %w", err)
	}
	if n := len(t.Calls); n > 0 && s.reps > 0 {
		return nil, usagef("-reps %d has no effect on the %s that were recorded, want it where only rates were: calls are drawn then", s.reps, count(n, "call", "calls"))
	}
	return func(ctx context.Context) error {
		path := filepath.Join(s.out, "replay.csv")
		if err := makeOut(s); err != nil {
			return err
		}
		if err := checkPlaces([]place{{"-out", path}}, files); err != nil {
			return err
		}
		if err := t.Report.Write(out); err != nil {
			return err
		}
		r, err := t.Play(ctx, breakers, options)
		if ctx.Err() != nil {
			return errors.New("replay: interrupted, nothing written")
		}
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		fmt.Fprintln(out)
		if err := r.Write(out); err != nil {
			return err
		}
		if err := saveFile(path, r.Table().WriteCSV); err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, "\nwritten:", path)
		return err
	}, nil
}

// recordPaths are the files of recorded traffic, without what series they are.
func recordPaths(args []string) []string {
	paths := make([]string, len(args))
	for i, arg := range args {
		_, paths[i] = traffic.SplitSeries(arg)
	}
	return paths
}

// players are the breakers that are asked, presets and those of scenarios, and
// the files of the scenarios.
func (r *replayFlags) players(s *settings) (list []traffic.Breaker, files []string, err error) {
	names := r.breakers
	if names == "" && len(s.scenario.files) == 0 {
		names = defaultBreakers
	}
	if names != "" {
		if list, err = traffic.Presets(strings.Split(names, ",")...); err != nil {
			return nil, nil, usagef("-breakers: %w", err)
		}
	}
	if len(s.scenario.files) == 0 {
		return list, nil, nil
	}
	cases, err := loadScenarios(s)
	if err != nil {
		return nil, nil, err
	}
	found := false
	for _, c := range cases {
		for _, b := range traffic.Breakers(c.Config) {
			found = true
			if len(cases) > 1 {
				b.Name = c.Title() + ": " + b.Name
			}
			list = append(list, b)
		}
	}
	if !found {
		return nil, nil, usagef("-scenario: no link has a breaker, want one to replay")
	}
	return list, read(cases), nil
}
