package scenario

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/scenario/document"
)

// A Case is one system to run: a scenario, one of its variants, or one
// combination of its swept values.
type Case struct {
	File    string   // as it was given
	Files   []string // that and the traces that the case reads
	Name    string   // of the scenario
	Variant string   // "", or the variant and the swept values
	Doc     string

	Config       model.Config // without the watching of breakers
	Seed         uint64
	Replications int

	statements []statement
	world      *world
}

// Title is the name of the scenario and of the variant.
func (c *Case) Title() string {
	if c.Variant == "" {
		return c.Name
	}
	return c.Name + " [" + c.Variant + "]"
}

// Claims is the number of claims.
func (c *Case) Claims() int { return len(c.statements) }

// Limits, so that a slip of the pen cannot ask for years of work.
const (
	MaxReplications = 100_000
	maxCases        = 10_000
	maxRead         = 2_000_000 // values of a file, times its cases: a few seconds of reading
)

// Load reads a scenario file, or every scenario in a folder, and returns its
// cases. The error holds all problems of all files, a line each.
func Load(path string) ([]*Case, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", path, reason(err))
	}
	if !info.IsDir() {
		return loadFile(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: folder %s: %w", path, reason(err))
	}
	var files []string
	for _, e := range entries { // in the order of their names
		end := strings.ToLower(filepath.Ext(e.Name()))
		if !e.IsDir() && e.Name()[0] != '.' && (end == ".yaml" || end == ".yml") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("scenario: folder %s: no .yaml file in it", path)
	}
	var all []*Case
	var bad []string
	for _, f := range files {
		cases, err := loadFile(f)
		if err != nil {
			bad = append(bad, err.Error())
		}
		all = append(all, cases...)
	}
	if bad != nil {
		return nil, fmt.Errorf("%s", strings.Join(bad, "\n"))
	}
	return all, nil
}

func loadFile(path string) ([]*Case, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", path, reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, document.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", path, reason(err))
	}
	return Parse(path, text)
}

// Parse reads the text of a scenario file. The path is for messages, and says
// where traces are looked for.
func Parse(path string, text []byte) ([]*Case, error) {
	root, err := document.Parse(path, text)
	if err != nil {
		return nil, err
	}
	problems := &document.Problems{File: path}
	var file File
	document.Decode(root, &file, problems)
	l := loader{path: path, root: root, file: &file, problems: problems, told: make(map[string]bool), traces: make(map[string]*model.Trace)}
	if len(problems.List) > 0 {
		l.rest()
	} else if l.all(); len(problems.List) == 0 {
		l.idle()
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return l.cases, nil
}

// A loader makes the cases of a file.
type loader struct {
	path     string
	root     *document.Node // as it is written
	file     *File          // the same
	problems *document.Problems
	told     map[string]bool // the problems of cases, without their variants
	failed   int             // cases with problems
	written  map[string]bool // the problems of the scenario as it is written, once a variant has some
	traces   map[string]*model.Trace
	read     int // values that were read so far, of all cases
	cases    []*Case
}

// mostFailed is the number of cases with problems after which no other is
// looked at, and of problems after which no other claim is.
const mostFailed = 50

// collect runs a step of making a case, and reports whether it found no
// problem. A problem is told once. It names the variant if the scenario as it
// is written, which comes first, is without it.
func (l *loader) collect(variant string, step func(*document.Problems)) bool {
	if variant == "" {
		step(l.problems)
		for _, p := range l.problems.List {
			l.told[p.Error()] = true
		}
		return len(l.problems.List) == 0
	}
	own := &document.Problems{File: l.path}
	step(own)
	if len(own.List) == 0 {
		return true
	}
	l.failed++
	if l.written == nil {
		l.look()
	}
	for _, p := range own.List {
		text := p.Error()
		if l.told[text] {
			continue
		}
		l.told[text] = true
		if !l.written[text] {
			p.Rule = fmt.Sprintf("%s (in variant %.200q)", p.Rule, variant)
		}
		l.problems.Add(p.Place, "%s", p.Rule)
	}
	return false
}

// look finds the problems of the scenario as it is written.
func (l *loader) look() {
	own := &document.Problems{File: l.path}
	l.one(l.file, "", "", own)
	l.written = make(map[string]bool)
	for _, p := range own.List {
		l.written[p.Error()] = true
	}
}

// all makes the scenario itself, if it has claims or nothing else, and its
// variants, each for all combinations of swept values.
func (l *loader) all() {
	root, f := l.root, l.file
	if len(f.Variants.Keys) == 0 || len(f.Claims) > 0 {
		l.sweep(root, f, "", f.Doc)
	}
	for i, name := range f.Variants.Keys {
		if l.failed >= mostFailed {
			return
		}
		v := &f.Variants.Values[i]
		changed, ok := root, l.apart(v.Set.Keys, v.Set.Places, "variants", "sweep")
		for k, path := range v.Set.Keys {
			next, err := document.Set(changed, path, v.Set.Values[k])
			if err != nil {
				l.problems.Add(v.Set.Places[k], "%v", err)
				l.failed++
				ok = false
				continue
			}
			changed = next
		}
		if !ok {
			continue
		}
		changed = document.Prune(changed)
		g := l.decode(changed, name)
		if g == nil {
			continue
		}
		if len(v.Claims) > 0 {
			g.Claims = v.Claims
		}
		doc := v.Doc
		if doc == "" {
			doc = f.Doc
		}
		l.sweep(changed, g, name, doc)
	}
}

// decode reads a changed document; nil if that brings problems.
func (l *loader) decode(root *document.Node, variant string) *File {
	if l.read > maxRead {
		return nil
	}
	if l.read += document.Size(root); l.read > maxRead {
		l.problems.Add(l.file.Place, "more than %d values in all variants and swept combinations, want fewer of them or a smaller file", maxRead)
		return nil
	}
	f := new(File)
	if !l.collect(variant, func(p *document.Problems) { document.Decode(root, f, p) }) {
		return nil
	}
	return f
}

func (l *loader) sweep(root *document.Node, f *File, variant, doc string) {
	if !l.apart(f.Sweep.Keys, f.Sweep.Places, "variants", "sweep", "claims") {
		return
	}
	n := 1
	for i, path := range f.Sweep.Keys {
		if n *= len(f.Sweep.Values[i]); n == 0 || n > maxCases {
			l.problems.Add(f.Sweep.Places[i], "%s: %d combinations, want 1 to %d", path, n, maxCases)
			return
		}
	}
	if len(l.cases)+n > maxCases {
		l.problems.Add(f.Place, "%d variants and combinations of swept values, want at most %d", len(l.cases)+n, maxCases)
		return
	}
	for k := range n {
		if l.failed >= mostFailed {
			return
		}
		changed, words := root, []string{}
		if variant != "" {
			words = append(words, variant)
		}
		left := n // combinations of the paths that follow
		for i, path := range f.Sweep.Keys {
			values := f.Sweep.Values[i]
			left /= len(values)
			value := values[k/left%len(values)]
			next, err := document.Set(changed, path, value)
			if err != nil {
				if variant != "" {
					err = fmt.Errorf("%w (in variant %.200q)", err, variant)
				}
				l.problems.Add(f.Sweep.Places[i], "%v", err)
				return
			}
			changed = next
			words = append(words, path+"="+value.Text())
		}
		changed = document.Prune(changed)
		g, name := f, strings.Join(words, ", ")
		if len(f.Sweep.Keys) > 0 {
			if g = l.decode(changed, name); g == nil {
				continue
			}
			g.Claims = f.Claims
		}
		var c *Case
		if l.collect(name, func(p *document.Problems) { c = l.one(g, name, doc, p) }) {
			l.cases = append(l.cases, c)
		}
	}
}

// one makes a case, and adds what is wrong with it to problems.
func (l *loader) one(f *File, variant, doc string, problems *document.Problems) *Case {
	c := &Case{
		File: l.path, Name: string(f.Name), Variant: variant, Doc: doc, Seed: 1, Replications: max(f.Replications, 1),
	}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(filepath.Base(l.path), filepath.Ext(l.path))
	}
	if f.Seed != nil {
		c.Seed = *f.Seed
	}
	if _, given := f.Keys["replications"]; given && (f.Replications < 1 || f.Replications > MaxReplications) {
		problems.Add(f.At("replications"), "%d, want 1 to %d", f.Replications, MaxReplications)
	}
	b := &builder{file: f, folder: filepath.Dir(l.path), problems: problems, traces: l.traces}
	c.Config = b.build()
	c.Files = append([]string{l.path}, slices.Sorted(maps.Keys(l.traces))...)
	c.world = b.world(c.Config)
	for i := range f.Claims {
		if len(problems.List) >= mostFailed {
			break
		}
		s, err := f.Claims[i].parse(c.world)
		if err != nil {
			problems.Add(f.Claims[i].At("claim"), "%v", err)
			continue
		}
		s.lacks = c.world.lacks(&s)
		c.statements = append(c.statements, s)
		if s.per > 0 {
			if c.Config.Interval != 0 && c.Config.Interval != s.per {
				problems.Add(f.Claims[i].At("claim"), "per %v, want %v as in the claims before", s.per, c.Config.Interval)
			}
			c.Config.Interval = s.per
			if err := c.Config.Validate(); err != nil && len(problems.List) == 0 {
				problems.Add(f.Claims[i].At("claim"), "per %v: %s", s.per, strings.TrimPrefix(err.Error(), "model: "))
			}
		}
	}
	return c
}
