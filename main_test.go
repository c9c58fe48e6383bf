package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

// stormglass runs the program and returns what it printed.
func stormglass(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	err = run(context.Background(), args, &out, &errOut)
	return out.String(), err
}

// quick is a run of the main job that takes milliseconds.
func quick(dir string, more ...string) []string {
	return append([]string{"-exp", "false-trips", "-hours", "0.2", "-reps", "3", "-set", "policy=count-20-20-20,time-10s-20-20", "-out", dir}, more...)
}

func TestMainJobWritesItsFiles(t *testing.T) {
	dir := t.TempDir()
	out, err := stormglass(t, quick(dir, "-charts", "png,svg,pdf", "-set", "mode=observe,breaker")...)
	if err != nil {
		t.Fatal(err)
	}
	settings, table := strings.Index(out, "seed=1 reps=3"), strings.Index(out, "count 20, min 20, ≥ 20 %")
	files := strings.Index(out, "written:")
	if settings < 0 || table < settings || files < table {
		t.Errorf("want settings, then tables, then files:\n%s", out)
	}
	for file, magic := range map[string]string{
		"false-trips.csv": "experiment,policy,", "false-trips_summary.csv": "experiment,policy,", "false-trips.json": "{",
		"false-trips.png": "\x89PNG", "false-trips.svg": "<", "false-trips.pdf": "%PDF", "false-trips_mode-breaker.png": "\x89PNG",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.HasPrefix(string(text), magic) {
			t.Errorf("%s: %v, begins %.12q, want %q", file, err, text, magic)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("temporary file %s is left", e.Name())
		}
	}
}

// A minimum that its count window can never hold is capped, and said to be.
func TestCappedMinimumIsSaid(t *testing.T) {
	out, err := stormglass(t, "-exp", "detection-delay", "-set", "policy=count-5-10-50", "-rate", "1", "-charts", "none", "-out", t.TempDir())
	if err != nil || !strings.Contains(out, "note: policy count-5-10-50: minimum 10 above the count window of 5: capped to 5") {
		t.Errorf("%v, printed\n%s", err, out)
	}
}

// Same flags and seed: the same bytes, for any number of workers.
func TestBytesDoNotDependOnWorkers(t *testing.T) {
	one, eight := t.TempDir(), t.TempDir()
	for dir, workers := range map[string]string{one: "1", eight: "8"} {
		for _, exp := range []string{"false-trips", "window-grid"} {
			args := []string{"-exp", exp, "-hours", "0.1", "-reps", "5", "-quiet", "-workers", workers, "-out", dir, "-charts", "png,svg,pdf"}
			if out, err := stormglass(t, args...); err != nil || out != "" {
				t.Fatalf("%v, printed %q although quiet", err, out)
			}
		}
	}
	entries, _ := os.ReadDir(one)
	if len(entries) < 10 {
		t.Errorf("%d files, want at least 10", len(entries))
	}
	for _, e := range entries {
		a, errA := os.ReadFile(filepath.Join(one, e.Name()))
		b, errB := os.ReadFile(filepath.Join(eight, e.Name()))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs between 1 and 8 workers (%v, %v)", e.Name(), errA, errB)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no -exp given"},
		{"-exp false-trip", `did you mean "false-trips"? known: false-trips, detection-delay, slow-calls, window-grid`},
		{"-exp false-trips,false-trips", "twice"},
		{"-exp false-trips extra", `argument "extra"`},
		{"-exp false-trips -nope", "nope"},
		{"-exp false-trips -hours 0", "factor hours: 0, want a number from 0.000001 to 2000000"},
		{"-exp false-trips -hours -1", "factor hours: -1, want a number from 0.000001"},
		{"-exp false-trips -hours NaN", `factor hours: "NaN", want a finite decimal number`},
		{"-exp false-trips -hours 1e9", "factor hours: 1e9, want a number from 0.000001 to 2000000"},
		{"-exp false-trips -rate -5", "factor rate_rps: -5, want"},
		{"-exp false-trips -rate NaN", "factor rate_rps"},
		{"-exp false-trips -rate 0", "rate"},
		{"-exp false-trips -rate 1e300", "factor rate_rps"},
		{"-exp false-trips -set xyzzy=1", "false-trips has no factor \"xyzzy\", known: policy"},
		{"-exp false-trips -set probe=1", `did you mean "probes"?`},
		{"-exp false-trips -set hours", "want FACTOR=v1,v2"},
		{"-exp false-trips -hours 1 -set hours=2", "set twice"},
		{"-exp false-trips -set policy=count-20-20", "count-20-20"},
		{"-exp false-trips -set policy=count-20-20-150", "count-20-20-150"},
		{"-exp false-trips -set policy=time-0s-20-50", "time-0s-20-50"},
		{"-exp false-trips -reps -1", "-reps -1"},
		{"-exp false-trips -reps 99999999", "replications 99999999"},
		{"-exp false-trips -workers 0", "-workers 0"},
		{"-exp false-trips -charts jpg", `-charts "jpg", want png, svg, pdf or none`},
		{"-exp false-trips -seed -1", "seed"},
		{"-exp slow-calls -hours 6", `slow-calls has no factor "hours"`},
		{"-exp slow-calls -trace examples/petshop-high.csv", "slow-calls takes no -trace"},
		{"-exp detection-delay -arrivals fixed-float -set outage_s=99999", "healthy_s + outage_s"},
		{"-exp detection-delay -arrivals fixed-float -set policy=time-120s-10-50", "window 2m0s, want at most 112 s"},
		{"-exp detection-delay -set policy=count-20-10-50-slow-1s-50", "slow-call rule"},
		{"-exp false-trips -rate 1e-8", "factor rate_rps: 1e-08"},
		{"-exp slow-calls -set rounds=100000 -set slow_s=100000", "rounds × slow_s"},
		{"-exp false-trips -trace examples/petshop-high.csv -set policy=count-20-10-50-slow-1s-50-inflight", "inflight"},
		{"-exp false-trips -set policy=count-20-20-50,count-020-20-50", "given twice"},
		{"-exp false-trips -set glitch_s=1e-10", "factor glitch_s: 1e-10"},
		{"-exp false-trips -set open_s=1e-10", "factor open_s: 1e-10"},
		{"-exp slow-calls -save-trace t.csv", "-save-trace: slow-calls makes no trace"},
		{"-verify -exp false-trips", "-verify and -exp, want one of them"},
	} {
		_, err := stormglass(t, strings.Fields(c.args)...)
		var usage usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n  error %v\n  want a usage error with %q", c.args, err, c.want)
		}
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("start_s,end_s,node,error_ratio\n0,10,web,1.5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"output is a file", quick(file), "-out"},
		{"no such trace", []string{"-exp", "false-trips", "-trace", filepath.Join(dir, "none.csv")}, "none.csv"},
		{"trace is a folder", []string{"-exp", "false-trips", "-trace", dir}, dir},
		{"malformed trace", []string{"-exp", "false-trips", "-trace", file}, "file:2: column error_ratio: 1.5"},
		{"trace cannot be saved", quick(dir, "-save-trace", filepath.Join(dir, "none", "t.csv"), "-charts", "none"), "none"},
		{"trace over a result", quick(dir, "-save-trace", filepath.Join(dir, "false-trips.csv"), "-charts", "none"), "want a name that no result has"},
		{"trace to a device", quick(dir, "-save-trace", os.DevNull, "-charts", "none"), "is no ordinary file"},
	} {
		_, err := stormglass(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// -exp all sets a factor wherever there is one.
func TestFactorOfSomeExperiments(t *testing.T) {
	s, err := parseFlags([]string{"-exp", "all", "-hours", "1"}, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := s.jobs()
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		for _, f := range j.plan.Factors {
			if f.Name == "hours" && strings.Join(f.Levels, ",") != "1" {
				t.Errorf("%s: hours %v, want 1", j.plan.Experiment.Name, f.Levels)
			}
		}
	}
}

// A figure of an earlier run does not stay beside the tables of a later one.
func TestOldFiguresAreRemoved(t *testing.T) {
	dir := t.TempDir()
	if _, err := stormglass(t, quick(dir, "-set", "mode=observe,breaker")...); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "false-trips-of-mine.png")
	if err := os.WriteFile(other, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := stormglass(t, quick(dir, "-set", "trace=outage")...); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{"false-trips.png": false, "false-trips_mode-breaker.png": false, "false-trips-of-mine.png": true} {
		if _, err := os.Stat(filepath.Join(dir, file)); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %v", file, err, want)
		}
	}
}

// What is computed is written even if nobody reads what is printed.
func TestClosedOutputKeepsTheFiles(t *testing.T) {
	dir := t.TempDir()
	err := run(context.Background(), quick(dir), brokenPipe{}, &bytes.Buffer{})
	if err != nil {
		t.Errorf("a reader that has gone is an error: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "false-trips_summary.csv")); err != nil {
		t.Error(err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// Ctrl-C in the middle: what was measured is written and the figures say how
// much that was.
func TestInterruptKeepsWholeResults(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	err := run(ctx, []string{"-exp", "slow-calls", "-reps", "50000", "-out", dir}, &out, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "slow-calls: interrupted;") {
		t.Fatalf("error %v, want one that says what is missing", err)
	}
	for _, want := range []string{"of 50000 replications", "slow-calls_timeline.csv", "slow-calls.png"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed\n%s\nwant %q", out.String(), want)
		}
	}
	settings, err := os.ReadFile(filepath.Join(dir, "slow-calls.json"))
	if err != nil || !bytes.Contains(settings, []byte(`"replications_measured"`)) || bytes.Contains(settings, []byte(`"replications_measured": 50000`)) {
		t.Errorf("settings: %v\n%s", err, settings)
	}
}

// A run that is interrupted writes what it has and says what is missing.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := run(ctx, quick(dir), &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "false-trips: interrupted; 0 of 9 jobs measured") {
		t.Errorf("error %v, want one that says what is missing", err)
	}
}

func TestListAndVersion(t *testing.T) {
	out, err := stormglass(t, "-list")
	if err != nil || !strings.Contains(out, "-set policy=") || !strings.Contains(out, "window-grid · ") {
		t.Errorf("-list: %v\n%s", err, out)
	}
	out, err = stormglass(t, "-list", "-exp", "contention")
	if err != nil || !strings.HasPrefix(out, "contention · ") || strings.Contains(out, "window-grid · ") {
		t.Errorf("-list -exp contention: %v\n%s", err, out)
	}
	if _, err := stormglass(t, "-list", "-exp", "contentoin"); err == nil || !strings.Contains(err.Error(), "contention") {
		t.Errorf("-list of an unknown experiment: %v", err)
	}
	if out, err := stormglass(t, "-version"); err != nil || out != "stormglass "+version+"\n" {
		t.Errorf("-version: %q, %v", out, err)
	}
	if _, err := stormglass(t, "-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}

// The saved trace is read back as any user's.
func TestSavedTraceCanBeReplayed(t *testing.T) {
	dir := t.TempDir()
	saved := filepath.Join(dir, "generated.csv")
	args := []string{"-exp", "false-trips", "-hours", "1", "-reps", "1", "-set", "policy=count-20-20-50", "-charts", "none", "-out", dir}
	if _, err := stormglass(t, append(args, "-save-trace", saved)...); err != nil {
		t.Fatal(err)
	}
	out, err := stormglass(t, "-exp", "false-trips", "-trace", saved, "-reps", "1", "-out", dir, "-set", "policy=count-20-20-50")
	if err != nil || !strings.Contains(out, "false-trips-generated") {
		t.Errorf("replay: %v\n%s", err, out)
	}
}

// A table that was to be filled in is filled in.
func TestReadmeHasNoPlaceholders(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^[A-Z]{3,}$`).Find(text); m != nil {
		t.Errorf("README has a line %q", m)
	}
}

// Every command of the README that starts with "go run ." is accepted.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)go run \. ([^\n#`+"`"+`|]*)`).FindAllStringSubmatch(string(text), -1)
	if len(commands) < 5 {
		t.Fatalf("%d commands found, want at least 5", len(commands))
	}
	for _, c := range commands {
		args := strings.Fields(strings.ReplaceAll(c[1], `'`, ""))
		s, err := parseFlags(args, &bytes.Buffer{})
		if err == nil && s.exp != "" {
			_, err = s.jobs()
		}
		if err != nil {
			t.Errorf("go run . %s: %v", c[1], err)
		}
	}
}
