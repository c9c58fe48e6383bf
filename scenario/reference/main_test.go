package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestReferenceIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := write(&want, filepath.Join("..", "..")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "SCENARIOS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/SCENARIOS.md is out of date: go run ./scenario/reference")
	}
}
