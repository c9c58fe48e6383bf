package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every mutation must find what it changes; whether it is noticed takes minutes
// and is the command's work.
func TestMutationsApply(t *testing.T) {
	all, err := read("mutations.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		text, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if n := strings.Count(string(text), strings.TrimSuffix(m.old, "\n")); n != 1 || m.old == m.new {
			t.Errorf("%s: %s holds %q %d times, want once", m.what, m.file, m.old, n)
		}
	}
}
