package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Every note that the sources of the model make is known here, and no other.
func TestKindsOfNotes(t *testing.T) {
	var want []string
	for _, f := range literals(t, "../model/config_notes_rules.go", "add") {
		if !strings.HasSuffix(f, ": %s") { // those of a policy
			want = append(want, f)
		}
	}
	for prefix, file := range map[string]string{"retry: ": "../policies/retry.go", "breaker: ": "../policies/rule.go"} {
		for _, f := range literals(t, file, "append") {
			want = append(want, prefix+f)
		}
	}
	var got []string
	for _, k := range kinds {
		got = append(got, k.format)
	}
	slices.Sort(want)
	slices.Sort(got)
	want = slices.Compact(want) // a fault and a client may start too late
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant the notes of the model %q", got, want)
	}
}

// literals is literalsOf of a file that has some.
func literals(t *testing.T, file, name string) []string {
	t.Helper()
	list := literalsOf(t, file, name)
	if len(list) == 0 {
		t.Fatalf("no notes in %s", file)
	}
	return list
}

// literalsOf are the texts that the calls of a function have as their second
// argument; those of append in functions of notes alone.
func literalsOf(t *testing.T, file, name string) (list []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || name == "append" && fn.Name.Name != "Notes" {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || called(call) != name {
				return true
			}
			if s := text(call.Args[1]); s != "" {
				list = append(list, s)
			}
			return true
		})
	}
	return list
}

// called is the name of the function that is called.
func called(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// text is the value of a literal, or of the first one in a call.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.CallExpr:
		return text(e.Args[0])
	}
	return ""
}

// Names in a note do not make it another.
func TestKindOfNote(t *testing.T) {
	for _, tc := range []struct {
		text, rule string
		severity   Severity
	}{
		{"fault 2 (crash): starts at 3s, not before the horizon 2s", "never-happens", Warning},
		{`timeout 2s is not shorter than the 1s around it (client "is capped to: waits for ever", stack layer 1)`, "timeout-order", Warning},
		{`retry: the first wait is at least 1s, and by then the timeout 1s around it (client "attempts inside the", stack layer 1) is over`, "backoff-too-long", Problem},
		{"something else that waits for ever", "note", Note},
	} {
		if s, rule := kindOf(tc.text); s != tc.severity || rule != tc.rule {
			t.Errorf("%q is a %v %s, want a %v %s", tc.text, s, rule, tc.severity, tc.rule)
		}
	}
}

// Every finding that the sources make has its meaning in the legend, and no
// other has.
func TestRulesHaveMeanings(t *testing.T) {
	want := map[string]bool{"not-valid": true, "note": true}
	for _, k := range kinds {
		want[k.rule] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			for _, rule := range literalsOf(t, file, "find") {
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
