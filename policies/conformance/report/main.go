// Command report replays the recordings of real libraries and writes the table
// docs/CONFORMANCE.md. Run it from the top of the project.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/stormglass/stormglass/policies/conformance"
)

func main() {
	folder := flag.String("golden", conformance.DefaultFolder, "folder with the recordings")
	out := flag.String("o", filepath.Join("docs", "CONFORMANCE.md"), "file to write, - for the terminal")
	flag.Parse()
	if err := run(*folder, *out); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(folder, out string) error {
	var text bytes.Buffer
	if err := conformance.WriteMarkdown(&text, folder); err != nil {
		return err
	}
	if out == "-" {
		_, err := os.Stdout.Write(text.Bytes())
		return err
	}
	temporary := out + ".tmp"
	if err := os.WriteFile(temporary, text.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, out)
}
