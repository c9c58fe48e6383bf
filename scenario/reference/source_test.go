package main

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

func TestDescribe(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x

// A Kind is one.
type Kind string

const (
	First  Kind = "first" // the first
	Second Kind = "second"
	Other       = "other"
)

type Config struct {
	// MaxWait is the longest wait, at least
	// Base; with Second none. The rest is for Deep.
	//
	// More of it.
	MaxWait int
	Base    Kind // as a text, such as Other
	// Rule is like Rule:
	//
	//	Base > 1
	//	Base > 2
	//
	// And so on.
	Rule string
	Bare int
}
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := newSource()
	for _, d := range file.Decls {
		s.add(d)
	}
	for _, tc := range []struct {
		field, doc string
		values     []string
	}{
		{"MaxWait", "`max_wait` is the longest wait, at least `base`; with `second` none. The rest is for `deep`.", nil},
		{"Base", "as a text, such as Other", []string{"`first`", "`second`"}},
		{"Rule", "`rule` is like `rule`: `Base > 1`, `Base > 2`", nil},
		{"Bare", "", nil},
	} {
		if doc, values := s.describe("Config", tc.field, map[string]string{"Deep": "deep"}); doc != tc.doc || !slices.Equal(values, tc.values) {
			t.Errorf("%s: %q %q, want %q %q", tc.field, doc, values, tc.doc, tc.values)
		}
	}
}
