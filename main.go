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
	"syscall"
)

// version is the release that settings files name.
const version = "0.4.0"

func main() {
	signal.Ignore(syscall.SIGPIPE) // a reader that has gone must not cost the files
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	var usage usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, "stormglass:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "stormglass:", err)
		os.Exit(1)
	}
}

// A usageError is the user's mistake on the command line: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run is the whole program: flags in, tables and files out.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parseFlags(args, stderr)
	if err != nil {
		return err
	}
	printed := &printer{w: stdout}
	var out io.Writer = printed
	if s.quiet {
		out = io.Discard
	}
	switch {
	case s.version:
		fmt.Fprintln(printed, "stormglass", version)
		return printed.failure()
	case s.list:
		all, err := s.named()
		if err != nil {
			return err
		}
		list(printed, all)
		return printed.failure()
	case s.scenario.given():
		return errors.Join(s.scenario.run(ctx, s, out, stderr), printed.failure())
	case s.replay.given():
		return errors.Join(s.replay.run(ctx, s, out), printed.failure())
	case s.verify:
		return errors.Join(verify(ctx, s, out, stderr), printed.failure())
	}
	jobs, err := s.jobs()
	if err != nil {
		return err
	}
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
	return errors.Join(failed, printed.failure())
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
