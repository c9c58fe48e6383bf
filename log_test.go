package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/stormglass/stormglass/requestlog"
)

// loggable is a run that can be logged and takes milliseconds.
func loggable(dir string, more ...string) []string {
	return append([]string{"-exp", "amplification", "-set", "policy=budget-10", "-set", "failure_ratio=0.5", "-reps", "3", "-charts", "none", "-out", dir}, more...)
}

// readCSV reads a table as columns of text.
func readCSV(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %v", file, err)
	}
	columns := map[string][]string{}
	for _, row := range rows[1:] {
		for i, cell := range row {
			columns[rows[0][i]] = append(columns[rows[0][i]], cell)
		}
	}
	return columns
}

// The log holds replication 0, its measures are those of the table, and the
// results are the same as without it, for any number of workers.
func TestLog(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "tries.csv")
	out, err := stormglass(t, loggable(with, "-workers", "8", "-log", file, "-epoch", "2026-03-01T12:00:00+08:00")...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out, file) || !strings.Contains(out, "tries of replication 0\n") {
		t.Errorf("printed\n%s\nwant the log named", out)
	}
	if _, err := stormglass(t, loggable(without, "-workers", "1")...); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"amplification.csv", "amplification_summary.csv", "amplification.json"} {
		a, errA := os.ReadFile(filepath.Join(with, name))
		b, errB := os.ReadFile(filepath.Join(without, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs with a log (%v, %v)", name, errA, errB)
		}
	}
	log, runs := readCSV(t, file), readCSV(t, filepath.Join(with, "amplification.csv"))
	if len(log) != len(requestlog.Columns) {
		t.Fatalf("columns %v", log)
	}
	repeats, good := 0, 0
	for i, attempt := range log["attempt"] {
		if attempt != "1" {
			repeats++
			if log["status"][i] == "ok" {
				good++
			}
		}
	}
	for metric, want := range map[string]float64{
		"retry_ratio": float64(repeats) / float64(len(log["attempt"])), "retry_success_ratio": float64(good) / float64(repeats),
	} {
		if got, err := strconv.ParseFloat(runs[metric][0], 64); err != nil || got != want {
			t.Errorf("%s of replication 0: %v (%v), of the log %v", metric, got, err, want)
		}
	}
	if ts := log["ts"][0]; !strings.HasPrefix(ts, "2026-03-01T04:00:0") {
		t.Errorf("the first try ended at %s, want soon after the epoch", ts)
	}
}

// Parquet and CSV hold the same rows, also of a sample.
func TestLogAsParquet(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "a.parquet"} {
		if _, err := stormglass(t, loggable(dir, "-log", filepath.Join(dir, name), "-log-sample", "0.3")...); err != nil {
			t.Fatal(err)
		}
	}
	want := readCSV(t, filepath.Join(dir, "a.csv"))
	rows, err := parquet.ReadFile[requestlog.Row](filepath.Join(dir, "a.parquet"))
	if err != nil || len(rows) != len(want["ts"]) || len(rows) == 0 {
		t.Fatalf("%d rows, want %d, %v", len(rows), len(want["ts"]), err)
	}
	for i, r := range rows {
		if strconv.FormatInt(r.RequestID, 10) != want["request_id"][i] || strconv.Itoa(int(r.Attempt)) != want["attempt"][i] || r.Status != want["status"][i] {
			t.Fatalf("row %d: %+v", i, r)
		}
	}
}

func TestLogErrors(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "t.csv")
	for _, c := range []struct{ args, want string }{
		{"-exp amplification -log t.txt", "want a name that ends in .csv or .parquet"},
		{"-exp amplification -epoch 2026-01-01T00:00:00Z", "want -log FILE too"},
		{"-exp amplification -log-sample 0.5", "want -log FILE too"},
		{"-exp amplification -log " + log + " -epoch yesterday", "want an instant as"},
		{"-exp amplification -log " + log + " -epoch 9999-01-01T00:00:00Z", "epoch in the year 9999, want 1 to 9000"},
		{"-exp amplification -log " + log + " -log-sample 0", "want a share above 0"},
		{"-exp amplification -log " + log + " -log-sample NaN", "want a share above 0"},
		{"-exp amplification -log " + log + " -log-sample 1.5", "want a share above 0"},
		{"-exp amplification -log " + log, "want one level of each factor: set "},
		{"-exp all -log " + log, "want one: a log is of one run"},
		{"-exp false-trips -log " + log, "false-trips has no log"},
		{"-verify -log " + log, "-log has no effect with -verify, want it with -exp"},
		{"-exp false-trips -log a.csv -save-trace a.csv", "want two files"},
		{strings.Join(loggable(dir, "-log", filepath.Join(dir, "amplification.csv")), " "), "want a name that no result has"},
	} {
		_, err := stormglass(t, strings.Fields(c.args)...)
		var usage usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n  error %v\n  want a usage error with %q", c.args, err, c.want)
		}
	}
	for _, file := range []string{os.DevNull, filepath.Join(dir, "none", "t.csv")} {
		if _, err := stormglass(t, loggable(dir, "-log", file)...); err == nil {
			t.Errorf("-log %s is accepted", file)
		}
	}
	onlyResults(t, dir)
}

// onlyResults fails if a temporary file is left, or a log.
func onlyResults(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "t.") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// A log that is cut short is no log.
func TestInterruptedLog(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, loggable(dir, "-log", filepath.Join(dir, "t.csv")), &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(err.Error(), "t.csv is not written") {
		t.Errorf("error %v, want one that says what is missing", err)
	}
	onlyResults(t, dir)
}

// A log that cannot be written ends the run and says why.
func TestLogOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := parseFlags(loggable(dir, "-log", filepath.Join(dir, "t.csv"), "-reps", "1"), &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.jobs()
	if err != nil {
		t.Fatal(err)
	}
	sink := jobs[0].log
	runCtx, end, err := sink.open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	sink.file.Close() // as if the disk were full
	_, _ = jobs[0].plan.Run(runCtx, 1, nil)
	if err := sink.close(); err == nil || !strings.Contains(err.Error(), "t.csv") {
		t.Errorf("error %v, want one that names the file", err)
	}
	onlyResults(t, dir)
}
