package scenario

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	aKey   = regexp.MustCompile(`[a-z_]+:`)
	aValue = regexp.MustCompile(`: *[^\s{}\[\],#]+`)
	aUnit  = regexp.MustCompile(`(\d)(ms|s|m|h|%|x|/s|/min)\b`)
)

// misfits are values that hardly any key takes.
var misfits = []string{"", "-1", "1e400", "99999999999999999999", "lots", "[]", "[[1]]", "{}", "{k: v}", "*none", "'", "!!int x", "~", "..", "\u00a0"}

// misunits take the place of units.
var misunits = []string{"", "s", "parsecs", "/s/s", "%%", " ms", "-", "µ"}

// A mutation changes one place of a text, given as its lines; false if there is
// no place for it in that line.
type mutation func(r *rand.Rand, lines []string, at int) ([]string, bool)

// replaceOne puts another text in the place of one match of a line.
func replaceOne(form *regexp.Regexp, other func(r *rand.Rand, old string) string) mutation {
	return func(r *rand.Rand, lines []string, at int) ([]string, bool) {
		all := form.FindAllStringIndex(lines[at], -1)
		if all == nil {
			return nil, false
		}
		m, line := all[r.IntN(len(all))], lines[at]
		lines[at] = line[:m[0]] + other(r, line[m[0]:m[1]]) + line[m[1]:]
		return lines, lines[at] != line
	}
}

var mutations = map[string]mutation{
	"key": replaceOne(aKey, func(r *rand.Rand, old string) string {
		i := r.IntN(len(old) - 1)
		return old[:i] + string(rune('a'+r.IntN(26))) + old[i+r.IntN(2):]
	}),
	"value": replaceOne(aValue, func(r *rand.Rand, _ string) string { return ": " + misfits[r.IntN(len(misfits))] }),
	"unit":  replaceOne(aUnit, func(r *rand.Rand, old string) string { return old[:1] + misunits[r.IntN(len(misunits))] }),
	"indentation": func(r *rand.Rand, lines []string, at int) ([]string, bool) {
		bare := strings.TrimLeft(lines[at], " ")
		depth := len(lines[at]) - len(bare)
		lines[at] = strings.Repeat(" ", max(0, depth+[]int{-2, -1, 1, 2}[r.IntN(4)])) + bare
		return lines, bare != "" && !strings.HasPrefix(bare, "#")
	},
	"line left out": func(_ *rand.Rand, lines []string, at int) ([]string, bool) {
		return slices.Delete(lines, at, at+1), true
	},
	"line given twice": func(_ *rand.Rand, lines []string, at int) ([]string, bool) {
		return slices.Insert(lines, at, lines[at]), true
	},
}

// mutants are texts with one change of a kind, the same in every run.
func mutants(text, kind string, n int, r *rand.Rand) (list []string) {
	lines := strings.SplitAfter(text, "\n")
	for range 20 * n {
		changed, ok := mutations[kind](r, slices.Clone(lines), r.IntN(len(lines)))
		if joined := strings.Join(changed, ""); ok && joined != text && !slices.Contains(list, joined) {
			list = append(list, joined)
		}
		if len(list) == n {
			break
		}
	}
	return list
}

var problemForm = regexp.MustCompile(`^([^:]+):([1-9]\d*):([1-9]\d*): [^:]+.*: \S`)

// wantLocated wants a place in the text for every problem.
func wantLocated(path, text string, err error) error {
	lines := strings.Split(text, "\n")
	for i, problem := range strings.Split(err.Error(), "\n") {
		m := problemForm.FindStringSubmatch(problem)
		if m == nil || m[1] != path {
			if i > 0 && strings.HasSuffix(problem, " more problems") {
				continue
			}
			return fmt.Errorf("a problem without a place: %s", problem)
		}
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		if line > len(lines) {
			return fmt.Errorf("line %d of %d: %s", line, len(lines), problem)
		}
		if column > len(lines[line-1])+1 {
			return fmt.Errorf("column %d of %q: %s", column, lines[line-1], problem)
		}
	}
	return nil
}

// changedLine is the number of the first line that differs.
func changedLine(a, b string) int {
	n := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '\n' {
			n++
		}
	}
	return n
}

// Every scenario of the repository with one place changed still loads, or is
// refused with places in the file.
func TestMutants(t *testing.T) {
	const each = 4 // of every file and kind
	kinds := slices.Sorted(maps.Keys(mutations))
	refused, loaded, there := map[string]int{}, map[string]int{}, map[string]int{}
	r := rand.New(rand.NewPCG(1, 2))
	for _, path := range scenarioFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			for _, mutant := range mutants(string(text), kind, each, r) {
				err := parseMutant(path, mutant)
				if err == nil {
					loaded[kind]++
					continue
				}
				refused[kind]++
				if strings.Contains(err.Error(), fmt.Sprintf("%s:%d:", path, changedLine(string(text), mutant))) {
					there[kind]++
				}
				if err := wantLocated(path, mutant, err); err != nil {
					t.Errorf("%s, %s: %v\n%s", path, kind, err, mutant)
				}
			}
		}
	}
	all := 0
	for _, kind := range kinds {
		all += refused[kind]
		t.Logf("%-16s %4d refused, %4d of them at the changed line, %4d loaded", kind, refused[kind], there[kind], loaded[kind])
		if refused[kind] < 20 {
			t.Errorf("%s: %d refused, want more of what breaks a file", kind, refused[kind])
		}
		if inPlace := slices.Contains([]string{"key", "value", "unit", "line given twice"}, kind); inPlace && 4*there[kind] < 3*refused[kind] {
			t.Errorf("%s: %d of %d problems are told at the line that was changed, want three in four", kind, there[kind], refused[kind])
		}
	}
	if t.Logf("%d broken files were refused", all); all < 100 {
		t.Errorf("%d refused, want at least 100", all)
	}
}

// parseMutant returns the error of a text, also of one that panics, as a
// problem without a place.
func parseMutant(path, text string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	cases, err := Parse(path, []byte(text))
	if err == nil && len(cases) == 0 {
		return fmt.Errorf("no case and no error")
	}
	for _, c := range cases {
		if err := c.Config.Validate(); err != nil {
			return fmt.Errorf("loaded, but: %v", err)
		}
	}
	return err
}
