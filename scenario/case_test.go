package scenario

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// scenarioFiles lists every scenario of the repository, the starter first.
func scenarioFiles(t testing.TB) []string {
	t.Helper()
	list := []string{"starter.yaml"}
	err := filepath.WalkDir(filepath.Join("..", "scenarios"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".yaml" {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// locatedForm is how every error of a file begins.
var locatedForm = regexp.MustCompile(`^x\.yaml:[1-9]\d*:[1-9]\d*: .+: \S`)

func FuzzParse(f *testing.F) {
	for _, path := range scenarioFiles(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(string(text), "/dev") || strings.Contains(string(text), "/proc") {
			return // traces are files
		}
		cases, err := Parse("x.yaml", text)
		if err == nil {
			if len(cases) == 0 {
				t.Error("no case and no error")
			}
			for _, c := range cases {
				if err := c.Config.Validate(); err != nil {
					t.Error(err)
				}
			}
			return
		}
		if line, _, _ := strings.Cut(err.Error(), "\n"); !locatedForm.MatchString(line) {
			t.Errorf("error without a place: %s", line)
		}
	})
}

// A value that cannot be read does not hide what is wrong elsewhere, and brings
// no false problem with it.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := Parse("f", []byte(`horizon: 1m
nodes: {b: {service: exponental 5ms}}
clients:
  web:
    arrivals: 100/s
    calls: [{to: b, stack: [retry: {on: [5xxx], backoff: {base: 1s, kind: exponental}}]}, {to: c}]
`))
	want := []string{`f:2:22: nodes.b.service: "exponental"`, `f:6:`, `retry on "5xxx"`, `backoff.kind: "exponental"`, `there is no node "c"`}
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Errorf("%v, want %s", err, w)
		}
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d problems, want 4:\n%v", n, err)
	}
}
