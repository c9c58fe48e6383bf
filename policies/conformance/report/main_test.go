package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestDocumentsAreCurrent(t *testing.T) {
	for _, d := range documents(filepath.Join("..", "testdata", "golden")) {
		var want bytes.Buffer
		if err := d.write(&want); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", d.name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("docs/%s is out of date: go run ./policies/conformance/report", d.name)
		}
	}
}
