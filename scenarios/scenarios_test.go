// Package scenarios_test runs every scenario below this folder.
package scenarios_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/scenario"
)

// files lists the scenarios below this folder.
func files(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
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

// Every claim of every scenario holds: none fails, none is undecided, and no
// case is without one.
func TestScenarios(t *testing.T) {
	list := files(t)
	for i := range 20 {
		if name := filepath.Join("cases", fmt.Sprintf("case-%02d.yaml", i+1)); !slices.Contains(list, name) {
			t.Errorf("there is no %s", name)
		}
	}
	for _, file := range list {
		t.Run(filepath.ToSlash(strings.TrimSuffix(file, ".yaml")), func(t *testing.T) {
			if !strings.HasPrefix(file, "cases") && (raceDetector || testing.Short()) {
				t.Skip("long runs")
			}
			cases, err := scenario.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			reports, err := scenario.Run(t.Context(), cases, runtime.GOMAXPROCS(0), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range reports {
				if len(r.Verdicts) == 0 {
					t.Errorf("%s: no claim", r.Case.Title())
				}
				for _, v := range r.Verdicts {
					if v.Status != scenario.Holds {
						t.Errorf("%s: %s: %s: %v from %v to %v, share %v", r.Case.Title(), v.Claim, v.Status, v.Mean, v.Lo, v.Hi, v.Share)
					} else if testing.Verbose() {
						t.Logf("%s: %s: %v from %v to %v, share %v", r.Case.Title(), v.Claim, v.Mean, v.Lo, v.Hi, v.Share)
					}
				}
			}
		})
	}
}
