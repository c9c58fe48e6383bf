package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Manifest describes a folder of recordings of one library.
type Manifest struct {
	Format   string
	Library  string
	Version  string
	Versions map[string]string // of a library of which several were recorded
	Traces   []*Recording

	Folder string `json:"-"` // where it lies
}

// A Recording is one CSV file and how it was made.
type Recording struct {
	File        string
	Kind        string
	Description string
	Hystrix     string // the version, in a folder with several
	Config      json.RawMessage
	Columns     []string
	Rows        int

	manifest *Manifest
}

// format is the only one there is.
const format = "golden-trace/1"

// Manifests reads every manifest.json in and below a folder, in the order of
// the paths. None is an error.
func Manifests(folder string) ([]*Manifest, error) {
	var all []*Manifest
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "manifest.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m := &Manifest{Folder: filepath.Dir(path)}
		if err := json.Unmarshal(text, m); err != nil {
			return fmt.Errorf("conformance: %s: %w", path, err)
		}
		if m.Format != format {
			return fmt.Errorf("conformance: %s: format %q, want %q", path, m.Format, format)
		}
		if len(m.Traces) == 0 {
			return fmt.Errorf("conformance: %s: traces empty, want at least one", path)
		}
		for i, r := range m.Traces {
			switch {
			case r == nil:
				return fmt.Errorf("conformance: %s: trace %d: null, want a recording", path, i+1)
			case !filepath.IsLocal(r.File):
				return fmt.Errorf("conformance: %s: trace %d: file %q, want one in the folder", path, i+1, r.File)
			}
			r.manifest = m
		}
		all = append(all, m)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("conformance: folder %s: no manifest.json in it", folder)
	}
	return all, err
}

// version is the one that was recorded.
func (r *Recording) version() string {
	if r.Hystrix != "" {
		return r.Hystrix
	}
	return r.manifest.Version
}

// read returns the lines of the CSV file below its head, and the place of each
// column.
func (r *Recording) read() (lines [][]string, columns map[string]int, err error) {
	text, err := os.ReadFile(filepath.Join(r.manifest.Folder, r.File))
	if err != nil {
		return nil, nil, err
	}
	if strings.HasSuffix(r.File, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, nil, err
		}
		if text, err = io.ReadAll(z); err != nil {
			return nil, nil, err
		}
	}
	lines, err = csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	if len(lines) < 2 {
		return nil, nil, fmt.Errorf("%d lines, want a head and at least one row", len(lines))
	}
	if r.Rows != 0 && r.Rows != len(lines)-1 {
		return nil, nil, fmt.Errorf("%d rows, want %d as the manifest says", len(lines)-1, r.Rows)
	}
	if r.Columns != nil && !slices.Equal(r.Columns, lines[0]) {
		return nil, nil, fmt.Errorf("columns %s, want %s as the manifest says", strings.Join(lines[0], ","), strings.Join(r.Columns, ","))
	}
	columns = make(map[string]int)
	for i, name := range lines[0] {
		if _, twice := columns[name]; twice {
			return nil, nil, fmt.Errorf("column %s twice, want each once", name)
		}
		columns[name] = i
	}
	return lines[1:], columns, nil
}
