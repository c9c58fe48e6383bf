// Stormglass tells what a retry or circuit-breaker configuration will do before
// production: it simulates services under a virtual clock and turns each
// question into a table (CSV) and a figure (PNG).
//
//	go run . -exp false-trips -hours 6
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"
)

// version is the release that settings files name.
const version = "0.4.0"

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone must not cost the files
	// What is read is read before: a reader that waits for a pipe ends with the
	// first signal.
	work, err := prepare(os.Args[1:], os.Stdout, os.Stderr)
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		go func() {
			<-ctx.Done()
			stop() // a second signal ends the program at once
		}()
		err = work(ctx)
	}
	var usage usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "stormglass:", visible(err.Error()))
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "stormglass:", visible(err.Error()))
		os.Exit(1)
	}
}

// visible is a text in which nothing moves the cursor of a terminal but the ends
// of lines.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// A usageError is the user's mistake on the command line: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// work is what the program does once all that it reads is read.
type work func(ctx context.Context) error

// run is the whole program: flags in, tables and files out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	w, err := prepare(args, stdout, stderr)
	if err != nil {
		return err
	}
	return w(ctx)
}

// prepare reads the flags and the files that they name.
func prepare(args []string, stdout, stderr io.Writer) (work, error) {
	s, err := parseFlags(args, stderr)
	if err != nil {
		return nil, err
	}
	printed := &printer{w: stdout}
	w, err := s.prepare(printed, stderr)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return errors.Join(w(ctx), printed.failure()) }, nil
}

// prepare is of the mode that is asked for. What is asked to be printed is
// printed, quiet or not.
func (s *settings) prepare(printed, stderr io.Writer) (work, error) {
	out := printed
	if s.quiet {
		out = io.Discard
	}
	switch s.mode {
	case "version":
		return func(context.Context) error {
			_, err := fmt.Fprintln(printed, "stormglass", version)
			return err
		}, nil
	case "list":
		all, err := s.named()
		return func(context.Context) error {
			list(printed, all)
			return nil
		}, err
	case "verify":
		return func(ctx context.Context) error { return verify(ctx, s, out, stderr) }, nil
	case "init":
		return func(context.Context) error { return writeStarter(s.scenario.init, out) }, nil
	case "import":
		return importSettings(s.scenario.imported, printed)
	case "explain":
		return explainScenario(s.scenario.explain, printed)
	case "import-trace":
		return importTrace(s, out)
	case "replay":
		return replay(s, out)
	case "scenario":
		return runScenarios(s, out, stderr)
	}
	return runExperiments(s, out, stderr)
}

// runExperiments runs those of -exp, one after the other.
func runExperiments(s *settings, out, stderr io.Writer) (work, error) {
	jobs, err := s.jobs()
	return func(ctx context.Context) error {
		var failed error
		for i, j := range jobs {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if err := j.run(ctx, s, out, stderr); err != nil {
				failed = errors.Join(failed, err)
				if ctx.Err() != nil {
					for _, rest := range jobs[i+1:] {
						failed = errors.Join(failed, fmt.Errorf("%s: not begun", rest.plan.Experiment.Name))
					}
					break
				}
			}
		}
		return failed
	}, err
}

// A printer remembers the first error, so that what is printed need not be
// checked line by line and the files are written all the same.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) Write(b []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
	return len(b), nil
}

// failure is the first error; a reader that has read enough is none.
func (p *printer) failure() error {
	if p.err == nil || errors.Is(p.err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("printing: %w", p.err)
}
