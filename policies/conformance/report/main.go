// Command report writes docs/CONFORMANCE.md, what the recordings of real
// libraries say of the presets, and docs/PRESETS.md, the list of the presets.
// Run it from the top of the project.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stormglass/stormglass/policies/conformance"
)

func main() {
	golden := os.Getenv("GOLDEN_DIR")
	if golden == "" {
		golden = conformance.DefaultFolder
	}
	folder := flag.String("golden", golden, "folder with the recordings; its default is $GOLDEN_DIR, if that is set")
	out := flag.String("out", "docs", "folder to write to, - for the comparison alone on the terminal")
	flag.Parse()
	if err := run(*folder, *out); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(folder, out string) error {
	if out == "-" {
		return conformance.WriteMarkdown(os.Stdout, folder)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	for _, d := range documents(folder) {
		var text bytes.Buffer
		if err := d.write(&text); err != nil {
			return err
		}
		path := filepath.Join(out, d.name)
		if err := os.WriteFile(path+".tmp", text.Bytes(), 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			return err
		}
	}
	return nil
}

type document struct {
	name  string
	write func(io.Writer) error
}

func documents(folder string) []document {
	return []document{
		{"CONFORMANCE.md", func(w io.Writer) error { return conformance.WriteMarkdown(w, folder) }},
		{"PRESETS.md", writeCatalogue},
	}
}
