package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/experiments"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/plots"
	"github.com/stormglass/stormglass/table"
)

// A job is one experiment to be run and written.
type job struct{ plan *experiments.Plan }

// run measures the plan, prints the tables and writes the files. What was
// measured is printed and written also when an error or a signal ends the run.
func (j job) run(ctx context.Context, s *settings, out, stderr io.Writer) error {
	if err := j.prepare(s); err != nil {
		return err
	}
	j.printSettings(out)
	bar := newProgress(stderr, j.plan.Experiment.Name, s.quiet)
	result, runErr := j.plan.Run(ctx, s.workers, bar.update)
	bar.finish()
	if runErr != nil {
		if ctx.Err() != nil {
			runErr = fmt.Errorf("%s: interrupted", j.plan.Experiment.Name)
		}
		runErr = fmt.Errorf("%w; %d of %d jobs measured, the rest is missing from the tables", runErr, result.Done(), j.plan.Jobs())
	}
	if result.Done() == 0 {
		return runErr
	}
	files, writeErr := j.write(ctx, s, result)
	for _, t := range j.plan.Experiment.Report(result) {
		fmt.Fprintln(out)
		t.DropEmpty(experiments.Blank)
		if err := t.Write(out); err != nil {
			return errors.Join(runErr, writeErr, err)
		}
	}
	fmt.Fprintln(out, "\nwritten:", strings.Join(files, " "))
	return errors.Join(runErr, writeErr)
}

// prepare fails before the work rather than after it if the files cannot be
// written.
func (j job) prepare(s *settings) error {
	if err := j.checkSaveTrace(s); err != nil {
		return err
	}
	if err := os.MkdirAll(s.out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	probe, err := os.CreateTemp(s.out, ".stormglass-*")
	if err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	probe.Close()
	return os.Remove(probe.Name())
}

// checkSaveTrace refuses a place that is no ordinary file, or a result's own.
func (j job) checkSaveTrace(s *settings) error {
	if s.saveTrace == "" || j.plan.Experiment.Trace == nil {
		return nil
	}
	switch info, err := os.Stat(s.saveTrace); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("-save-trace: %s is no ordinary file", s.saveTrace)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("-save-trace: %w", err)
	}
	dir, name := filepath.Split(filepath.Clean(s.saveTrace))
	if filepath.Clean(dir) == filepath.Clean(s.out) && strings.HasPrefix(name, j.plan.Experiment.Name) {
		return usagef("-save-trace: %s, want a name that no result has: not %s…", s.saveTrace, j.plan.Experiment.Name)
	}
	if info, err := os.Stat(cmp.Or(dir, ".")); err != nil || !info.IsDir() {
		return fmt.Errorf("-save-trace: %s: no such directory", dir)
	}
	return nil
}

func (j job) printSettings(out io.Writer) {
	p := j.plan
	fmt.Fprintf(out, "%s: %s\n", p.Experiment.Name, p.Experiment.Question())
	fmt.Fprintf(out, "  seed=%d reps=%d", p.Seed, p.Reps)
	if p.Experiment.Source != "" {
		fmt.Fprintf(out, "\n  trace=%s", p.Experiment.Source)
	}
	for _, f := range p.Factors {
		fmt.Fprintf(out, "\n  %s=%s", f.Name, strings.Join(f.Levels, ","))
	}
	fmt.Fprintln(out)
	for _, n := range p.Notes() {
		fmt.Fprintln(out, "  note:", n)
	}
}

// write writes the tables, the figures and the settings, and returns the files.
// Figures of an earlier run that this one does not draw are removed, since they
// would show other numbers than the tables beside them.
func (j job) write(ctx context.Context, s *settings, result *experiments.Result) (files []string, failed error) {
	name := j.plan.Experiment.Name
	tables := []*table.Table{result.Runs(), result.Summary()}
	if j.plan.Experiment.Detail != nil {
		if ctx.Err() != nil {
			ctx = context.WithoutCancel(ctx) // interrupted before: keep what there is, with its details
		}
		detail, err := j.plan.Experiment.Detail(ctx, result)
		failed = err
		tables = append(tables, detail...)
	}
	save := func(file string, write func(io.Writer) error) {
		path := filepath.Join(s.out, file)
		if err := saveFile(path, write); err != nil {
			failed = errors.Join(failed, err)
			return
		}
		files = append(files, path)
	}
	for _, t := range tables {
		save(t.Name+".csv", t.WriteCSV)
	}
	if s.saveTrace != "" && j.plan.Experiment.Trace != nil {
		if err := j.saveTrace(s.saveTrace); err != nil {
			failed = errors.Join(failed, err)
		} else {
			files = append(files, s.saveTrace)
		}
	}
	var figures []string
	if len(s.charts) > 0 {
		drawings, err := plots.Draw(j.plan.Experiment.ChartName(), tables[1:], j.footnote(result))
		failed = errors.Join(failed, err)
		for _, d := range drawings {
			for _, format := range s.charts {
				file := name + d.Suffix + "." + format
				save(file, func(w io.Writer) error { return d.Figure.Write(w, format) })
				figures = append(figures, file)
			}
		}
	}
	removeOldFigures(s.out, name, figures)
	save(name+".json", func(w io.Writer) error { return writeSettings(w, result, tables, figures) })
	return files, failed
}

// removeOldFigures removes the figures that the settings of an earlier run
// name, but for the new ones. It is no failure if there was no such run.
func removeOldFigures(dir, name string, keep []string) {
	text, err := os.ReadFile(filepath.Join(dir, name+".json"))
	if err != nil {
		return
	}
	var old struct {
		Figures []string `json:"figures"`
	}
	if json.Unmarshal(text, &old) != nil {
		return
	}
	for _, f := range old.Figures {
		if filepath.Base(f) == f && strings.HasPrefix(f, name) && !slices.Contains(keep, f) {
			os.Remove(filepath.Join(dir, f))
		}
	}
}

func (j job) footnote(r *experiments.Result) string {
	p := j.plan
	unit := "replications"
	if r.Measured() == 1 {
		unit = "replication"
	}
	return fmt.Sprintf("%s · seed %d · %d %s · stormglass %s", p.Experiment.Name, p.Seed, r.Measured(), unit, version)
}

func (j job) saveTrace(path string) error {
	t, err := j.plan.Experiment.Trace(j.plan)
	if err != nil {
		return fmt.Errorf("-save-trace: %w", err)
	}
	return saveFile(path, func(w io.Writer) error { return model.WriteTrace(w, t) })
}

// saveFile writes to a temporary file and renames it, so that a file is whole
// or not there at all.
func saveFile(path string, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if err := write(tmp); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// writeSettings says how to run the experiment again and what the columns mean.
func writeSettings(w io.Writer, r *experiments.Result, tables []*table.Table, figures []string) error {
	p := r.Plan
	type factor struct {
		Name   string   `json:"name"`
		Doc    string   `json:"doc"`
		Levels []string `json:"levels"`
	}
	type columns struct {
		File   string         `json:"file"`
		Keys   []table.Column `json:"keys"`
		Values []table.Column `json:"values"`
	}
	doc := struct {
		Experiment   string    `json:"experiment"`
		Doc          string    `json:"doc"`
		Version      string    `json:"version"`
		Seed         uint64    `json:"seed"`
		Replications int       `json:"replications"`
		Measured     int       `json:"replications_measured"`
		Trace        string    `json:"trace,omitempty"`
		Notes        []string  `json:"notes,omitempty"`
		Factors      []factor  `json:"factors"`
		Tables       []columns `json:"tables"`
		Figures      []string  `json:"figures"`
	}{p.Experiment.Name, p.Experiment.Doc, version, p.Seed, p.Reps, r.Measured(), p.Experiment.Source, p.Notes(), nil, nil, figures}
	for _, f := range p.Factors {
		doc.Factors = append(doc.Factors, factor{f.Name, f.Doc, f.Levels})
	}
	for _, t := range tables {
		doc.Tables = append(doc.Tables, columns{t.Name + ".csv", t.Keys, t.Values})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}
