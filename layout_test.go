package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const modulePath = "github.com/stormglass/stormglass/"

// Each package may import only these packages of this module. The reasons are
// what would break if it imported more.
var layers = map[string]struct {
	allowed []string
	reason  string
}{
	"names":                       {nil, "a word list knows nothing of what the words mean"},
	"sim":                         {nil, "the engine is reusable as it is and knows no requests or policies"},
	"policies":                    {nil, "a policy also runs in production, where there is no simulator"},
	"policies/presets":            {[]string{"policies", "names"}, "what a library does is a policy like any other"},
	"policies/conformance":        {[]string{"policies", "policies/presets"}, "recordings are held against the policies alone, without a simulator"},
	"policies/conformance/report": {[]string{"policies/conformance", "policies/presets"}, "a command that prints what the package finds"},
	"policies/conformance/mutate": {nil, "a command that runs the test of the package"},
	"table":                       {nil, "tables know neither simulation nor drawing"},
	"theory":                      {nil, "closed forms must not share code with what they check"},
	"model":                       {[]string{"sim", "policies", "names"}, "the model is the physics, not the questions asked of it"},
	"scenario/document":           {[]string{"names"}, "a reader of documents knows nothing of what they mean"},
	"scenario":                    {[]string{"scenario/document", "model", "policies", "policies/presets", "sim", "theory", "table", "names"}, "a scenario is a model and claims about it"},
	"scenario/importer":           {[]string{"scenario/document", "policies/presets"}, "settings are translated, not run"},
	"scenario/traffic":            {[]string{"model", "policies", "policies/presets", "sim", "table", "names"}, "recorded traffic is held against policies"},
	"scenario/reference":          {[]string{"scenario", "scenario/document"}, "a command that prints the reference"},
	"explain":                     {[]string{"model", "policies", "policies/presets", "table"}, "arithmetic on a model, however it came about"},
	"scenarios":                   {nil, "files, and the test that runs them"},
	"requestlog":                  {[]string{"model", "policies"}, "a log is of any run, whatever was asked"},
	"plots":                       {[]string{"table"}, "any figure can be redrawn from its table"},
	"experiments":                 {[]string{"sim", "policies", "policies/presets", "model", "table", "theory", "names"}, "results exist without pictures"},
}

func TestImportsFollowTheLayers(t *testing.T) {
	for name, layer := range layers {
		for _, path := range imports(t, name) {
			rest, ours := strings.CutPrefix(path, modulePath)
			if !ours {
				continue
			}
			ok := false
			for _, a := range layer.allowed {
				ok = ok || rest == a
			}
			if !ok {
				t.Errorf("package %s imports %s: %s", name, rest, layer.reason)
			}
		}
	}
}

func TestEveryPackageHasALayer(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || path == "." {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || path == "bench" {
			return fs.SkipDir
		}
		files, _ := filepath.Glob(filepath.Join(path, "*.go"))
		if _, known := layers[filepath.ToSlash(path)]; len(files) > 0 && !known {
			t.Errorf("package %s has no entry in layers: say what it may import, and why", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// imports lists what the non-test files of a package import.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("package %s: no Go files (%v)", dir, err)
	}
	var paths []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			paths = append(paths, strings.Trim(i.Path.Value, `"`))
		}
	}
	return paths
}

// Files are of one idea each.
func TestNoFileIsLong(t *testing.T) {
	const limit = 400
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if n := strings.Count(string(text), "\n"); n > limit {
			t.Errorf("%s has %d lines, want at most %d", path, n, limit)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
