package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Result is what the replay of a recording brought.
type Result struct {
	Recording  *Recording
	Rows       int      // rows compared
	Answers    int      // answers compared in them
	Mismatches int      // answers that differ
	First      []string // the first of these in words
	Err        error    // the recording was not understood
}

// firsts is how many mismatches are told in words.
const firsts = 5

// A replayer replays the rows of one kind of recording. What it finds missing
// or unknown it reports by fail, which ends the replay.
type replayer func(*replay)

// Replay runs one recording.
func Replay(r *Recording) (result *Result) {
	result = &Result{Recording: r}
	run, err := find(r)
	if err != nil {
		result.Err = err
		return result
	}
	p := &replay{Result: result, row: -1, seen: make(map[string]bool), clock: &clock{now: epoch}}
	if p.lines, p.columns, err = r.read(); err != nil {
		result.Err = fmt.Errorf("%s: %w", r.File, err)
		return result
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			at := ""
			if p.row >= 0 && p.row < len(p.lines) {
				at = fmt.Sprintf(", line %d", p.row+2)
			}
			result.Err = fmt.Errorf("%s%s: %w", r.File, at, e.error)
		default:
			panic(e)
		}
	}()
	run(p)
	result.Rows = p.row
	p.complete()
	return result
}

// find returns the replayer for a recording.
func find(r *Recording) (replayer, error) {
	l, ok := libraries[r.manifest.Library]
	if !ok {
		return nil, fmt.Errorf("library %q, want one of %s", r.manifest.Library, list(libraries))
	}
	if !slices.Contains(l.versions, r.version()) {
		return nil, fmt.Errorf("%s: version %q, want one of %s", r.manifest.Library, r.version(), strings.Join(l.versions, ", "))
	}
	run, ok := l.kinds[r.Kind]
	if !ok {
		return nil, fmt.Errorf("%s: kind %q, want one of %s", r.manifest.Library, r.Kind, list(l.kinds))
	}
	return run, nil
}

func list[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// A library says which versions and kinds of recordings of it are understood.
type library struct {
	versions []string
	kinds    map[string]replayer
}

// A replay is a recording under way.
type replay struct {
	*Result
	lines   [][]string
	columns map[string]int
	row     int             // the present one; len(lines) at the end
	seen    map[string]bool // columns that were compared in some row
	time    time.Duration
	clock   *clock
}

// failure carries what was not understood to Replay.
type failure struct{ error }

func (p *replay) fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// must ends the replay with an error, if there is one.
func (p *replay) must(err error) {
	if err != nil {
		p.fail("%w", err)
	}
}

// config reads the configuration. Keys that the struct lacks are a failure.
func (p *replay) config(into any) {
	text, err := plainNumbers(p.Recording.Config)
	if err != nil {
		p.fail("config: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		p.fail("config: %w", err)
	}
}

// plainNumbers writes whole numbers such as 1e9 and 5.0 without a point or an
// exponent, so that fields of integers take them.
func plainNumbers(text []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var plain func(v any) any
	plain = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for k := range v {
				v[k] = plain(v[k])
			}
		case []any:
			for i := range v {
				v[i] = plain(v[i])
			}
		case json.Number:
			x, err := v.Float64()
			if err == nil && strings.ContainsAny(string(v), ".eE") && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
				return json.Number(strconv.FormatFloat(x, 'f', -1, 64))
			}
		}
		return v
	}
	return json.Marshal(plain(v))
}

// version is that of the library.
func (p *replay) version() string { return p.Recording.version() }

// next goes on to the next row, and sets the clock if rows have a time.
func (p *replay) next() bool {
	p.row++
	if p.row == len(p.lines) {
		return false
	}
	if p.has("t_ns") && p.text("t_ns") != "" {
		t := p.duration("t_ns")
		if t < p.time {
			p.fail("column t_ns: %d after %d, want times that do not go backwards", t, p.time)
		}
		p.time = t
		p.clock.set(t)
	}
	return true
}

// has reports whether there is such a column.
func (p *replay) has(column string) bool {
	_, ok := p.columns[column]
	return ok
}

// text returns a field of the present row.
func (p *replay) text(column string) string {
	i, ok := p.columns[column]
	if !ok {
		p.fail("no column %q", column)
	}
	return p.lines[p.row][i]
}

// integer, float, flag and duration return a field as such; it must not be
// empty.
func (p *replay) integer(column string) int {
	n, err := strconv.Atoi(p.text(column))
	if err != nil {
		p.fail("column %s: %w", column, err)
	}
	return n
}

func (p *replay) float(column string) float64 {
	x, err := strconv.ParseFloat(p.text(column), 64)
	if err != nil {
		p.fail("column %s: %w", column, err)
	}
	return x
}

func (p *replay) flag(column string) bool {
	switch text := p.text(column); text {
	case "0", "1":
		return text == "1"
	default:
		p.fail("column %s: %q, want 0 or 1", column, text)
		return false
	}
}

func (p *replay) duration(column string) time.Duration { return time.Duration(p.integer(column)) }

// expect compares an answer with the recording: a string, bool, int, int64,
// float64, float32 or time.Duration (in ns). Floats must be equal. An empty
// field means that the answer does not apply to the row.
func (p *replay) expect(column string, got any) {
	want := p.text(column)
	p.seen[column] = true
	if want == "" {
		return
	}
	p.Answers++
	var equal bool
	switch g := got.(type) {
	case string:
		equal = g == want
	case bool:
		equal = p.flag(column) == g
	case int:
		equal = p.integer(column) == g
	case int64:
		equal = int64(p.integer(column)) == g
	case time.Duration:
		equal = p.duration(column) == g
	case float64:
		equal = p.float(column) == g
	case float32:
		equal = float32(p.float(column)) == g
	default:
		p.fail("column %s: answer of type %T", column, got)
	}
	if !equal {
		p.mismatch("%s = %v here, the library says %s", column, got, want)
	}
}

// mismatch notes an answer that differs. It is for comparisons that expect
// cannot make; the caller then calls compared, too.
func (p *replay) mismatch(format string, args ...any) {
	p.Mismatches++
	if len(p.First) < firsts {
		p.First = append(p.First, fmt.Sprintf("line %d: ", p.row+2)+fmt.Sprintf(format, args...))
	}
}

// compared notes that an answer was compared in another way than by expect.
func (p *replay) compared(column string) {
	if p.text(column) != "" {
		p.Answers++
	}
	p.seen[column] = true
}

// complete fails if there are answers that nobody looked at.
func (p *replay) complete() {
	p.row = len(p.lines)
	for _, column := range slices.Sorted(maps.Keys(p.columns)) {
		if strings.HasPrefix(column, "x_") && !p.seen[column] {
			p.fail("column %s was not compared", column)
		}
	}
}
