package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestDocumentIsCurrent(t *testing.T) {
	var want bytes.Buffer
	if err := WriteMarkdown(&want, filepath.Join("testdata", "golden")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "CONFORMANCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/CONFORMANCE.md is out of date: go run ./policies/conformance/report")
	}
}
