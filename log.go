package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/requestlog"
)

// The log of tries: -log, -epoch and -log-sample.

func (s *settings) setEpoch(v string) error {
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return errors.New("want an instant as 2006-01-02T15:04:05Z or 2006-01-02T15:04:05+08:00")
	}
	if t.IsZero() {
		return errors.New("want an instant after 0001-01-01T00:00:00Z")
	}
	s.logged.Epoch = t
	return nil
}

func (s *settings) setSample(v string) error {
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return errors.New("want a share above 0 and at most 1")
	}
	s.logged.Sample = x
	return nil
}

func (s *settings) checkLog() error {
	if s.log == "" {
		if s.logged != (requestlog.Options{}) {
			return usagef("-epoch and -log-sample are of a log, want -log FILE too")
		}
		return nil
	}
	if s.log == s.saveTrace {
		return usagef("-log and -save-trace: both %s, want two files", s.log)
	}
	var err error
	if s.logged.Format, err = requestlog.FormatOf(s.log); err == nil {
		err = s.logged.Validate()
	}
	if err != nil {
		return usagef("-log: %w", err)
	}
	return nil
}

// A tryLog is the log of a job while it is written.
type tryLog struct {
	path string
	file *newFile
	log  *requestlog.Log
	seen uint64 // tries
	done bool   // replication 0 has ended
}

// logTo has the job log its tries when it runs.
func (j *job) logTo(s *settings) error {
	t := &tryLog{path: s.log}
	plan, err := j.plan.LogTries(
		func(y *model.Try) { t.seen++; t.log.Try(y) },
		func() { t.done = true })
	j.plan, j.log = plan, t
	return err
}

// open begins the log's file. The context that it returns ends when the file
// cannot be written, or with end.
func (t *tryLog) open(ctx context.Context, s *settings) (runCtx context.Context, end func(), err error) {
	if t.file, err = createFile(t.path); err != nil {
		return nil, nil, fmt.Errorf("-log: %w", err)
	}
	if t.log, err = requestlog.New(t.file, s.logged); err != nil {
		t.file.discard()
		return nil, nil, err
	}
	runCtx, end = context.WithCancel(ctx)
	t.log.Failed = func(error) { end() }
	return runCtx, end, nil
}

// close gives the log its name if it is whole, and removes it if not.
func (t *tryLog) close() error {
	err := t.log.Err()
	if err == nil && !t.done {
		t.file.discard()
		return fmt.Errorf("-log: %s is not written: replication 0 has not ended", t.path)
	}
	if err == nil {
		err = t.log.Close()
	}
	if err != nil {
		t.file.discard()
		return fmt.Errorf("-log: %s: %w", t.path, err)
	}
	if err := t.file.keep(); err != nil {
		return fmt.Errorf("-log: %w", err)
	}
	return nil
}

// tell says how much is in the log.
func (t *tryLog) tell(out io.Writer) {
	fmt.Fprintf(out, "log: %d of %d tries of replication 0\n", t.log.Rows(), t.seen)
}
