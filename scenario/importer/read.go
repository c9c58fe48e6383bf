package importer

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// An Import is what the settings of a file mean.
type Import struct {
	File   string
	Format string // such as "Resilience4j"

	policies []*policy
	stacks   []*stack
	lost     []loss   // what has no counterpart
	perHost  []string // breakers that a library has for each host
}

// A stack is the layers that a call passes, outermost first.
type stack struct {
	name    string
	client  string // that calls
	node    string // that is called
	from    string // where in the file it is described
	order   string // what is peculiar about the order of the layers
	sidecar bool   // it is that of a proxy beside the caller
	layers  []*policy
	pool    *pool // the threads that the call passes inside of the layers, if any

	replicas, replicasFrom string // of the node, if the file lists them
}

// A pool is threads of the caller, with places to wait, that call the node. It
// is a node of its own.
type pool struct {
	name          string
	threads, held int64  // threads, and those with places to wait
	from, waiting string // where the numbers are from
	layers        []*policy
}

// A loss is what has no counterpart, with its line.
type loss struct {
	line int
	text string
}

// A format is a family of settings.
type format struct {
	name     string
	spelling spelling
	match    func(root *yaml.Node) bool
	read     func(r *reader, roots []*yaml.Node)
}

// formats returns the known families; the first that matches is taken.
func formats() []format {
	return []format{
		{"Resilience4j", loose, isResilience4j, readResilience4j},
		{"gRPC service config", exact, isGRPC, readGRPC},
		{"Istio", exact, isIstio, readIstio},
		{"Linkerd", exact, isLinkerd, readLinkerd},
		{"Polly", loose, isPolly, readPolly},
		{"Hystrix", loose, isHystrix, readHystrix},
		{"Sentinel", loose, isSentinel, readSentinel},
		{"Dapr", exact, isDapr, readDapr},
		{"Envoy", proto, isEnvoy, readEnvoy},
	}
}

// Read reads a file of settings. The path is for messages; its ending .properties
// says that the text is in that form, all else is YAML or JSON. The error holds
// all problems, a line each.
func Read(path string, text []byte) (*Import, error) {
	r := &reader{
		problems: &document.Problems{File: path}, out: &Import{File: path},
		marks: make(map[*yaml.Node]mark), inner: make(map[*yaml.Node]bool),
		under: make(map[*yaml.Node][]*yaml.Node), known: make(map[known]bool), taken: make(map[string]int), told: make(map[string]bool),
	}
	roots := r.parse(path, text)
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	groups := make(map[string][]*yaml.Node)
	all := formats()
	for _, root := range roots {
		name := "" // in no format
		for _, f := range all {
			if f.match(root) {
				name = f.name
				break
			}
		}
		groups[name] = append(groups[name], root)
		r.application(root)
	}
	var found []string
	for _, f := range all {
		if group := groups[f.name]; group != nil {
			found = append(found, f.name)
			r.spelling = f.spelling
			f.read(r, group)
		}
	}
	if found == nil {
		var known []string
		for _, f := range all {
			known = append(known, f.name)
		}
		r.problems.Add(document.Place{Line: 1, Column: 1}, "no known settings in it, want those of one of: %s", strings.Join(known, ", "))
		return nil, r.problems.Err()
	}
	r.out.Format = strings.Join(found, " and ")
	if len(r.out.stacks) == 0 && len(r.problems.List) == 0 {
		hint := ""
		r.leftovers(all, groups)
		for _, lost := range r.out.lost {
			if strings.HasPrefix(lost.text, unknown) {
				hint += "; " + lost.text
			}
		}
		r.problems.Add(document.Place{Line: roots[0].Line, Column: roots[0].Column}, "settings of %s without a policy in them%s", r.out.Format, hint)
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	r.leftovers(all, groups)
	for _, root := range groups[""] {
		if of := kind(root); of != "" {
			r.lose(root.Line, "not read: the document of kind %q", of)
			continue
		}
		r.leftover(root, "", false, 0)
	}
	slices.SortStableFunc(r.out.lost, func(a, b loss) int { return a.line - b.line })
	return r.out, nil
}

// A reader holds what is known while a file is read.
type reader struct {
	problems *document.Problems
	marks    map[*yaml.Node]mark         // by the node of the key
	inner    map[*yaml.Node]bool         // mappings that were looked into
	under    map[*yaml.Node][]*yaml.Node // keys that another covers
	asked    []string                    // keys that were looked for
	known    map[known]bool              // the same, by spelling
	spelling spelling                    // of the family that is read
	caller   string                      // the program whose settings these are, if it has a name
	taken    map[string]int              // names of policies and nodes
	told     map[string]bool             // problems and losses
	out      *Import
}

// A mark says what became of a key.
type mark uint8

const (
	opened   mark = iota + 1 // its value was looked into
	consumed                 // its value was read whole
)

var properties = regexp.MustCompile(`(?m)^\s*(resilience4j|hystrix)\.[^\s:=]+\s*=`)

// parse returns the documents of a file.
func (r *reader) parse(path string, text []byte) []*yaml.Node {
	top := document.Place{Line: 1, Column: 1}
	if len(text) > document.MaxBytes {
		r.problems.Add(top, "too long, want at most %d bytes", document.MaxBytes)
		return nil
	}
	content := strings.TrimPrefix(string(text), "\ufeff")
	if strings.HasSuffix(strings.ToLower(path), ".properties") || properties.MatchString(content) {
		return []*yaml.Node{r.properties(content)}
	}
	if start := strings.TrimLeft(content, " \t\r\n"); start != "" && strings.ContainsRune("{[/", rune(start[0])) {
		content = plainJSON(content)
	}
	var roots []*yaml.Node
	for _, d := range documents(content) {
		root, err := document.Parse(path, []byte(d))
		if err != nil {
			var p document.Problem
			if !errors.As(err, &p) {
				p.Rule = err.Error()
			}
			if strings.Contains(d, "{{") {
				p.Rule += " (it looks like a template: render it first)"
			}
			r.problems.Add(p.Place, "%s", p.Rule)
			continue
		}
		roots = append(roots, root)
	}
	if len(roots) == 0 && len(r.problems.List) == 0 {
		r.problems.Add(top, "empty, want settings")
	}
	return roots
}

// documents cuts a text into its YAML documents, each with so many empty lines
// before it that its own lines keep their numbers.
func documents(text string) []string {
	var list []string
	var b strings.Builder
	line, full := 0, false
	end := func() {
		if full {
			list = append(list, b.String())
		}
		b.Reset()
		b.WriteString(strings.Repeat("\n", line))
		full = false
	}
	for _, l := range strings.SplitAfter(text, "\n") {
		bare := strings.TrimRight(l, " \t\r\n")
		switch {
		case bare == "---" || bare == "..." || strings.HasPrefix(l, "--- "):
			end()
			rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(bare, "---"), "..."))
			if rest != "" && rest[0] != '#' {
				full = true
				fmt.Fprintf(&b, "    %s", rest)
			}
			b.WriteByte('\n')
		case !full && strings.HasPrefix(l, "%"): // a directive
			b.WriteByte('\n')
		default:
			if bare = strings.TrimSpace(bare); bare != "" && bare[0] != '#' {
				full = true
			}
			b.WriteString(l)
		}
		line++
	}
	end()
	return list
}

// plainJSON blanks the comments of a text that is JSON, and its tabs, which
// YAML does not like.
func plainJSON(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '"':
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case b[i] == '\t':
			b[i] = ' '
		case strings.HasPrefix(string(b[i:min(i+2, len(b))]), "//"):
			for ; i < len(b) && b[i] != '\n'; i++ {
				b[i] = ' '
			}
		case strings.HasPrefix(string(b[i:min(i+2, len(b))]), "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				end = len(text) - i - 4
			}
			for k := i; k < min(i+end+4, len(b)); k++ {
				if b[k] != '\n' {
					b[k] = ' '
				}
			}
			i += max(end+3, 1)
		}
	}
	return string(b)
}
