// Command mutate checks that the recordings notice a wrong rule: it changes one
// rule of the presets at a time, as mutations.txt says, and runs the conformance
// test, which must fail. The sources stay as they are. Run it from the top of
// the project.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	list := flag.String("list", filepath.Join("policies", "conformance", "mutate", "mutations.txt"), "file with the mutations")
	only := flag.String("run", "", "only mutations whose description or file matches this regular expression")
	flag.Parse()
	survived, err := run(*list, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if survived > 0 {
		os.Exit(1)
	}
}

// A mutation replaces a text that occurs once in a file.
type mutation struct {
	what, file, old, new string
}

func run(list, only string) (survived int, err error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	all, err := read(list)
	if err != nil {
		return 0, err
	}
	folder, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	for _, m := range all {
		if !match.MatchString(m.what) && !match.MatchString(m.file) {
			continue
		}
		failed, err := m.run(folder)
		switch {
		case err != nil:
			return survived, fmt.Errorf("%s: %w", m.what, err)
		case failed == 0:
			survived++
			fmt.Printf("SURVIVED  %-28s %s\n", m.file, m.what)
		default:
			fmt.Printf("caught by %3d recordings  %-28s %s\n", failed, m.file, m.what)
		}
	}
	return survived, nil
}

// read reads blocks of "# what", "file F", "- old" and "+ new" lines.
func read(list string) ([]mutation, error) {
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mutation
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			all = append(all, mutation{what: line[2:]})
		case len(all) == 0:
			return nil, fmt.Errorf("%s, line %d: want \"# what is changed\" first", list, n)
		case strings.HasPrefix(line, "file "):
			all[len(all)-1].file = line[5:]
		case strings.HasPrefix(line, "- "):
			all[len(all)-1].old += line[2:] + "\n"
		case strings.HasPrefix(line, "+ "):
			all[len(all)-1].new += line[2:] + "\n"
		default:
			return nil, fmt.Errorf("%s, line %d: %q, want #, file, - or +", list, n, line)
		}
	}
	return all, lines.Err()
}

// run applies a mutation over the sources and returns how many recordings
// notice it.
func (m mutation) run(folder string) (failed int, err error) {
	path, err := filepath.Abs(filepath.Join("policies", m.file))
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	old, new := strings.TrimSuffix(m.old, "\n"), strings.TrimSuffix(m.new, "\n")
	if n := strings.Count(string(text), old); n != 1 || old == "" {
		return 0, fmt.Errorf("%s holds %q %d times, want once", m.file, old, n)
	}
	mutant := filepath.Join(folder, "mutant.go")
	if err := os.WriteFile(mutant, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		return 0, err
	}
	overlay := filepath.Join(folder, "overlay.json")
	plan, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(overlay, plan, 0o600); err != nil {
		return 0, err
	}
	out, err := exec.Command("go", "test", "-overlay", overlay, "-vet=off", "-run", "Golden", "./policies/conformance").CombinedOutput()
	if err == nil {
		return 0, nil
	}
	failed = strings.Count(string(out), "    --- FAIL: TestGolden/")
	if failed == 0 {
		return 0, fmt.Errorf("the test did not run: %s", out)
	}
	return failed, nil
}
