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
	"time"

	"github.com/stormglass/stormglass/experiments"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/plots"
	"github.com/stormglass/stormglass/table"
)

// A job is one experiment to be run and written.
type job struct {
	plan *experiments.Plan
	log  *tryLog // nil if there is none
}

// run measures the plan, prints the tables and writes the files. What was
// measured is printed and written also when an error or a signal ends the run.
func (j job) run(ctx context.Context, s *settings, out, stderr io.Writer) error {
	if err := j.prepare(s); err != nil {
		return err
	}
	runCtx := ctx
	if j.log != nil {
		var (
			end func()
			err error
		)
		if runCtx, end, err = j.log.open(ctx, s); err != nil {
			return err
		}
		defer end()
	}
	j.printSettings(out)
	bar := newProgress(stderr, j.plan.Experiment.Name, s.quiet)
	result, runErr := j.plan.Run(runCtx, s.workers, bar.update)
	bar.finish()
	var logErr error
	if j.log != nil {
		logErr = j.log.close()
	}
	if runErr != nil {
		switch {
		case ctx.Err() != nil:
			runErr = fmt.Errorf("%s: interrupted", j.plan.Experiment.Name)
		case runCtx.Err() != nil:
			runErr = fmt.Errorf("%s: ended, since its log cannot be written", j.plan.Experiment.Name)
		}
		runErr = fmt.Errorf("%w; %d of %d jobs measured, the rest is missing from the tables", runErr, result.Done(), j.plan.Jobs())
	}
	runErr = errors.Join(runErr, logErr)
	if result.Done() == 0 {
		return runErr
	}
	files, writeErr := j.write(ctx, s, result)
	if j.log != nil && logErr == nil {
		files = append(files, j.log.path)
	}
	texts := j.plan.Experiment.Report(result)
	if t, ok := result.MeasuresTable(); ok {
		texts = append(texts, t)
	}
	for _, t := range texts {
		fmt.Fprintln(out)
		t.DropEmpty(experiments.Blank)
		if err := t.Write(out); err != nil {
			return errors.Join(runErr, writeErr, err)
		}
	}
	fmt.Fprintln(out, "\nwritten:", strings.Join(files, " "))
	if j.log != nil && logErr == nil {
		j.log.tell(out)
	}
	return errors.Join(runErr, writeErr)
}

// prepare fails before the work rather than after it if the files cannot be
// written.
func (j job) prepare(s *settings) error {
	if err := makeOut(s); err != nil {
		return err
	}
	var places []place
	if s.saveTrace != "" && j.plan.Experiment.Trace != nil {
		places = append(places, place{"-save-trace", s.saveTrace})
	}
	if j.log != nil {
		places = append(places, place{"-log", j.log.path})
	}
	for _, p := range places {
		dir, name := filepath.Split(filepath.Clean(p.path))
		if samePlace(cmp.Or(dir, "."), s.out) && strings.HasPrefix(name, j.plan.Experiment.Name) {
			return usagef("%s: %s, want a name that no result has: not %s…", p.flag, p.path, j.plan.Experiment.Name)
		}
	}
	var read []string
	if s.trace != "" {
		read = append(read, s.trace)
	}
	return checkPlaces(places, read)
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

// detailsAfterInterrupt is how long a run that was interrupted goes on with
// time lines and the like.
const detailsAfterInterrupt = 2 * time.Second

// write writes the tables, the figures and the settings, and returns the files.
// Figures of an earlier run that this one does not draw are removed, since they
// would show other numbers than the tables beside them.
func (j job) write(ctx context.Context, s *settings, result *experiments.Result) (files []string, failed error) {
	name := j.plan.Experiment.Name
	save := func(file string, write func(io.Writer) error) {
		path := filepath.Join(s.out, file)
		if err := saveFile(path, write); err != nil {
			failed = errors.Join(failed, err)
			return
		}
		files = append(files, path)
	}
	tables := []*table.Table{result.Runs(), result.Summary()}
	for _, t := range tables {
		save(t.Name+".csv", t.WriteCSV) // before anything that may take long
	}
	if j.plan.Experiment.Detail != nil {
		if ctx.Err() != nil { // interrupted before: what can be had at once
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), detailsAfterInterrupt)
			defer cancel()
		}
		detail, err := j.plan.Experiment.Detail(ctx, result)
		if ctx.Err() != nil {
			err = fmt.Errorf("%s: interrupted: time lines, and figures that need them, are missing", name)
		}
		failed = errors.Join(failed, err)
		for _, t := range detail {
			save(t.Name+".csv", t.WriteCSV)
		}
		tables = append(tables, detail...)
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
		if ctx.Err() == nil { // otherwise the reason is known
			failed = errors.Join(failed, err)
		}
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
