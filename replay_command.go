package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/stormglass/stormglass/scenario/traffic"
)

// replayFlags are those of recorded traffic.
type replayFlags struct {
	files    []string // to replay
	traces   []string // to be turned into segments
	breakers string
	options  traffic.Options
}

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
	fs.StringVar(&r.breakers, "breakers", "resilience4j-count,hystrix-1.5.13,gobreaker,polly", "with -replay: `names` of presets")
	fs.StringVar(&r.options.Stamp, "stamp", "", "with -replay, -import-trace: time stamps are the `start` or the end of calls (default: as the format has it)")
	fs.BoolVar(&r.options.SkipBad, "skip-bad", false, "with -replay, -import-trace: skip rows that make no sense, and count them")
}

func (r *replayFlags) given() bool { return len(r.files) > 0 || len(r.traces) > 0 }

// run replays or imports.
func (r *replayFlags) run(ctx context.Context, s *settings, out io.Writer) error {
	if len(r.traces) > 0 {
		if s.saveTrace == "" {
			return usagef("-import-trace without -save-trace, want the file to write")
		}
		return saveFile(s.saveTrace, func(w io.Writer) error { return traffic.Import(out, w, r.traces, r.options) })
	}
	breakers, err := traffic.Presets(strings.Split(r.breakers, ",")...)
	if err != nil {
		return usagef("-breakers: %w", err)
	}
	play := traffic.PlayOptions{Seed: s.seed, Replications: s.reps, Workers: s.workers}
	path := filepath.Join(s.out, "replay.csv")
	if err := makeOut(s); err != nil {
		return err
	}
	if err := saveFile(path, func(w io.Writer) error {
		return traffic.ReplayFiles(ctx, out, w, r.files, r.options, breakers, play)
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "\nwritten:", path)
	return err
}
