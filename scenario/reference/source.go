package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/scenario/document"
)

// A source is what the comments of a package say of the fields of its structs.
type source struct {
	structs map[string]*ast.StructType
	values  map[string][]string // of the constants of a type, in order
	named   map[string]string   // the value of a constant
}

// sources are those of packages by their path.
type sources map[string]*source

const modulePath = "github.com/stormglass/stormglass/"

// of returns the source of the package that a type is of.
func (s sources) of(root string, t reflect.Type) (*source, error) {
	path := strings.TrimPrefix(t.PkgPath(), modulePath)
	if s[path] != nil {
		return s[path], nil
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path), "*.go"))
	if err != nil {
		return nil, err
	}
	s[path] = newSource()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			s[path].add(d)
		}
	}
	return s[path], nil
}

func newSource() *source {
	return &source{make(map[string]*ast.StructType), make(map[string][]string), make(map[string]string)}
}

// add keeps what a declaration says.
func (s *source) add(d ast.Decl) {
	general, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if t, ok := spec.Type.(*ast.StructType); ok {
				s.structs[spec.Name.Name] = t
			}
		case *ast.ValueSpec:
			of, typed := spec.Type.(*ast.Ident)
			if !typed || general.Tok != token.CONST || len(spec.Values) != 1 {
				continue
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, _ := strconv.Unquote(literal.Value)
				s.values[of.Name] = append(s.values[of.Name], "`"+value+"`")
				s.named[spec.Names[0].Name] = "`" + value + "`"
			}
		}
	}
}

// describe returns the comment of a field, in which keys take the place of the
// names of fields, and the values of constants that of their names; and the
// values that the field may have, if they are constants.
func (s *source) describe(owner, field string, keys map[string]string) (doc string, values []string) {
	t := s.structs[owner]
	if t == nil {
		return "", nil
	}
	keys = maps.Clone(keys)
	for _, f := range t.Fields.List {
		for _, name := range f.Names {
			keys[name.Name] = document.ParamKey(name.Name)
			if name.Name != field {
				continue
			}
			doc = f.Doc.Text()
			if doc == "" {
				doc = f.Comment.Text()
			}
			if of, ok := f.Type.(*ast.Ident); ok {
				values = s.values[of.Name]
			}
		}
	}
	return inWords.ReplaceAllStringFunc(inLine(doc), func(word string) string {
		if key, ok := keys[word]; ok {
			return "`" + key + "`"
		}
		if value, ok := s.named[word]; ok {
			return value
		}
		return word
	}), values
}

var inWords = regexp.MustCompile("`[^`]*`|\\w+")

// inLine is the first paragraph of a comment, with the examples that follow it,
// in one line.
func inLine(doc string) string {
	first, rest, _ := strings.Cut(doc, "\n\n")
	text := strings.Join(strings.Fields(first), " ")
	var examples []string
	for _, line := range strings.Split(rest, "\n") {
		example, ok := strings.CutPrefix(line, "\t")
		if !ok {
			break
		}
		examples = append(examples, "`"+example+"`")
	}
	return strings.TrimSpace(text + " " + strings.Join(examples, ", "))
}
