package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/scenario"
)

// wantUsage wants a mistake of the user that mentions some words, and nothing
// in a directory that was not there before.
func wantUsage(t *testing.T, want string, args ...string) {
	t.Helper()
	out, err := command(t, args...)
	var usage usageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s\n\terror %v, want a usage error with %q\n%s", strings.Join(args, " "), err, want, out)
	}
}

// No output takes the place of an input, of another output or of something
// that is no file, and that is found before the run.
func TestPlacesAreCheckedBeforeTheRun(t *testing.T) {
	text := strings.Replace(smallScenario, "CLAIMED", "3", 1)
	mine := writeFile(t, "mine.yaml", text)
	dir := filepath.Dir(mine)
	in := func(name string) string { return filepath.Join(dir, name) }
	trace := in("t.csv")
	if err := os.WriteFile(trace, []byte("node,start_s,end_s,error_ratio\nb,0,5,0.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	traced := writeFile(t, "traced.yaml", strings.Replace(text, "faults: [{error: 100%}]", "trace: "+trace, 1))
	link := in("link.xml")
	if err := os.Symlink(mine, link); err != nil {
		t.Fatal(err)
	}
	wantUsage(t, "is read", "-scenario", mine, "-junit", mine)
	wantUsage(t, "is read", "-scenario", mine, "-junit", link)
	wantUsage(t, "is read", "-scenario", mine, "-events", dir+"/../"+filepath.Base(dir)+"/mine.yaml")
	wantUsage(t, "is read", "-scenario", traced, "-junit", trace)
	wantUsage(t, "want two files", "-scenario", mine, "-junit", in("x"), "-events", in("x"))
	wantUsage(t, "want two files", "-scenario", mine, "-timeline", "-out", dir, "-junit", in("mine_timeline.csv"))
	wantUsage(t, "no ordinary file", "-scenario", mine, "-junit", dir)
	wantUsage(t, "no such directory", "-scenario", mine, "-junit", in("nowhere/x.xml"))
	wantUsage(t, "-out: ", "-scenario", mine, "-timeline", "-out", mine)
	wantUsage(t, "is read", "-import-trace", trace, "-save-trace", trace)
	if after, err := os.ReadFile(mine); err != nil || string(after) != text {
		t.Errorf("the scenario is overwritten: %v", err)
	}
}

// A flag that would do nothing is refused.
func TestFlagsWithoutEffect(t *testing.T) {
	mine := writeFile(t, "mine.yaml", strings.Replace(smallScenario, "CLAIMED", "3", 1))
	for _, tc := range []struct{ args, want string }{
		{"-exp false-trips", "-scenario and -exp, want one of them"},
		{"-verify", "-verify and -scenario, want one of them"},
		{"-init x.yaml", "-init and -scenario, want one of them"},
		{"-hours 1", "-hours has no effect with -scenario, want it with -exp"},
		{"-set a=1", "-set has no effect"},
		{"-trace x.csv", "-trace has no effect"},
		{"-breakers polly", "-breakers has no effect with -scenario, want it with -replay"},
		{"-stamp end", "-stamp has no effect with -scenario, want it with -import-trace or -replay"},
		{"-reps 100001", "-reps 100001, want at most 100000"},
		{"-reps -1", "-reps -1"},
	} {
		wantUsage(t, tc.want, append([]string{"-scenario", mine}, strings.Fields(tc.args)...)...)
	}
	wantUsage(t, "-junit alone does nothing, want it with -scenario", "-junit", "x.xml")
	wantUsage(t, "want a file", "-explain", "")
	wantUsage(t, "want a file", "-scenario", mine, "-events", "")
}

// Input that is wrong is the user's mistake, and leaves nothing behind.
func TestWrongRecordsLeaveNothing(t *testing.T) {
	bad := writeFile(t, "bad.csv", "what,is,this\n1,2,3\n")
	out := filepath.Join(filepath.Dir(bad), "out")
	wantUsage(t, "bad.csv", "-replay", bad, "-out", out)
	wantUsage(t, "bad.csv", "-import-trace", bad, "-save-trace", filepath.Join(filepath.Dir(bad), "t.csv"))
	wantUsage(t, `breaker "nope"`, "-replay", bad, "-breakers", "nope", "-out", out)
	wantUsage(t, "-import", "-import", filepath.Dir(bad))
	if list, err := os.ReadDir(filepath.Dir(bad)); err != nil || len(list) != 1 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// What is asked to be printed is printed, quiet or not.
func TestQuietPrintsWhatIsAskedFor(t *testing.T) {
	mine := writeFile(t, "mine.yaml", strings.Replace(smallScenario, "CLAIMED", "3", 1))
	settings := writeFile(t, "application.yml", "resilience4j.retry.instances.stock: {max-attempts: 4}\n")
	for _, args := range [][]string{{"-explain", mine}, {"-import", settings}, {"-version"}, {"-list"}} {
		if text, err := command(t, append(args, "-quiet")...); err != nil || text == "" {
			t.Errorf("%v: %v, printed %q", args, err, text)
		}
	}
	if text, err := command(t, "-scenario", mine, "-quiet"); err != nil || text != "" {
		t.Errorf("%v, printed %q although quiet", err, text)
	}
}

func TestSlugsAreNamesAndDiffer(t *testing.T) {
	var cases []*scenario.Case
	for _, c := range [][2]string{
		{"a.yaml", ""}, {"b/a.yaml", ""}, {"a-2.yaml", ""}, {"A.yaml", ""}, {"日本.yaml", ""}, {"...yaml", ""}, {"a.yaml", "x y/z"}, {strings.Repeat("é", 60) + ".yaml", ""},
	} {
		cases = append(cases, &scenario.Case{File: c[0], Variant: c[1]})
	}
	got := slugs(cases)
	want := []string{"a", "a-2", "a-2-2", "A-3", "日本", "scenario", "a_x-y-z", strings.Repeat("é", 25) + "--" + strings.Repeat("é", 25)}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s, variant %q: %q, want %q", cases[i].File, cases[i].Variant, got[i], want[i])
		}
	}
}
