package scenario

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/scenario/document"
)

// A Case is one system to run: a scenario, one of its variants, or one
// combination of its swept values.
type Case struct {
	File    string // as it was given
	Name    string // of the scenario
	Variant string // "", or the variant and the swept values
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
	maxReplications = 100_000
	maxCases        = 10_000
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
	var files []string
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		found, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("scenario: folder %s: no .yaml file in it", path)
	}
	sort.Strings(files)
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
	if len(problems.List) == 0 {
		l.all()
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
		changed, ok := root, true
		for k, path := range v.Set.Keys {
			next, err := document.Set(changed, path, v.Set.Values[k])
			if err != nil {
				l.problems.Add(v.Set.Places[k], "%v", err)
				ok = false
				continue
			}
			changed = next
		}
		if !ok {
			continue
		}
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
	f := new(File)
	if !l.collect(variant, func(p *document.Problems) { document.Decode(root, f, p) }) {
		return nil
	}
	return f
}

func (l *loader) sweep(root *document.Node, f *File, variant, doc string) {
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
				l.problems.Add(f.Sweep.Places[i], "%v", err)
				return
			}
			changed = next
			words = append(words, path+"="+value.Text())
		}
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
		File: l.path, Name: f.Name, Variant: variant, Doc: doc, Seed: 1, Replications: max(f.Replications, 1),
	}
	if c.Name == "" {
		c.Name = strings.TrimSuffix(filepath.Base(l.path), filepath.Ext(l.path))
	}
	if f.Seed != nil {
		c.Seed = *f.Seed
	}
	if f.Replications < 0 || f.Replications > maxReplications {
		problems.Add(f.At("replications"), "%d, want 1 to %d", f.Replications, maxReplications)
	}
	b := &builder{file: f, folder: filepath.Dir(l.path), problems: problems, traces: l.traces}
	c.Config = b.build()
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

// A world is what claims can be about.
type world struct {
	clients, nodes, links []string
	shares                map[string]int // first link of a breaker or budget that is shared
	source                []int          // link whose breakers a link's are
	horizon               time.Duration
}

func (w *world) entities(of string) []string {
	switch of {
	case "client":
		return w.clients
	case "node":
		return w.nodes
	}
	return w.links
}

// world lists the entities of a model. Links are named from-to, and from-to#2
// if there are several.
func (b *builder) world(c model.Config) *world {
	w := &world{shares: make(map[string]int), horizon: c.Horizon}
	seen := make(map[string]int)
	steps := func(from string, list []model.Step) {
		for _, s := range list {
			for i := range s.Calls {
				call := &s.Calls[i]
				name := from + "-" + call.To
				if seen[name]++; seen[name] > 1 {
					name = fmt.Sprintf("%s#%d", name, seen[name])
				}
				link := len(w.links)
				w.links = append(w.links, name)
				w.source = append(w.source, link)
				for _, stack := range []model.Stack{call.Stack, call.Sidecar} {
					for _, l := range stack {
						if l.Breaker != nil && l.Breaker.Share != "" {
							w.source[link] = w.share(l.Breaker.Share, link)
						}
						if l.Retry != nil && l.Retry.Share != "" {
							w.share(l.Retry.Share, link)
						}
					}
				}
			}
		}
	}
	for i := range c.Nodes {
		w.nodes = append(w.nodes, c.Nodes[i].Name)
		steps(c.Nodes[i].Name, c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		w.clients = append(w.clients, c.Clients[i].Name)
		steps(c.Clients[i].Name, c.Clients[i].Steps)
	}
	return w
}

func (w *world) share(name string, link int) int {
	if at, ok := w.shares[name]; ok {
		return at
	}
	w.shares[name] = link
	return link
}
