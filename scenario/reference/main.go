// Command reference writes docs/SCENARIOS.md, the reference of scenario files:
// a text, the metrics of claims, the keys of every part and the parameters of
// presets. Run it from the top of the project.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/scenario/document"
)

//go:embed text.md
var text string

func main() {
	var b bytes.Buffer
	if err := write(&b, "."); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
	path := filepath.Join("docs", "SCENARIOS.md")
	if err := os.WriteFile(path+".tmp", b.Bytes(), 0o644); err == nil {
		err = os.Rename(path+".tmp", path)
		if err != nil {
			fmt.Fprintln(os.Stderr, "reference:", err)
			os.Exit(1)
		}
	}
}

// write writes the reference; root is the top of the project.
func write(w io.Writer, root string) error {
	var b strings.Builder
	b.WriteString(text)
	b.WriteString("\n## Metrics of claims\n\n| metric | of | unit | what it is | part of the run |\n|---|---|---|---|---|\n")
	for _, m := range scenario.Metrics() {
		part := "whole"
		switch {
		case m.Intervals:
			part = "after, until; per T"
		case m.Spans:
			part = "after, until, before opening"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Of, m.Unit, m.Doc, part)
	}
	b.WriteString("\n## Keys\n")
	for i, s := range document.Describe(scenario.File{}) {
		title := s.Name
		if i == 0 {
			title = "the file"
		}
		fmt.Fprintf(&b, "\n### %s\n\n", title)
		if s.Short {
			fmt.Fprintf(&b, "May also be written as a text: see the examples above.\n\n")
		}
		b.WriteString("| key | value | meaning |\n|---|---|---|\n")
		for _, k := range s.Keys {
			key := "`" + k.Name + "`"
			if k.Required {
				key += " (required)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", key, k.Type, k.Doc)
		}
	}
	if err := writeParams(&b, root); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}
