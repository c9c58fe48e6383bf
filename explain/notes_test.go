package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/model"
)

// Every finding has its meaning in the legend, be it one of the sources here or
// a remark of the model, and no other has.
func TestRulesHaveMeanings(t *testing.T) {
	want := map[string]bool{"not-valid": true}
	for _, rule := range model.RemarkRules() {
		want[rule] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			for _, rule := range found(t, file) {
				want[rule] = true
			}
		}
	}
	for rule := range want {
		if rules[rule] == "" {
			t.Errorf("the legend does not know %q", rule)
		}
	}
	for rule := range rules {
		if !want[rule] {
			t.Errorf("nothing finds %q", rule)
		}
	}
}

// found lists the rules of the findings that a file makes.
func found(t *testing.T, file string) (list []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "find" {
			return true
		}
		if rule, ok := call.Args[1].(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(rule.Value)
			list = append(list, name)
		}
		return true
	})
	return list
}
