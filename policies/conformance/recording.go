package conformance

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
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
	Err    error  `json:"-"` // it was not understood; it has no Traces then
}

// A Recording is one CSV file and how it was made.
type Recording struct {
	File        string
	Kind        string
	Description string
	Hystrix     string // the version, in a folder with several
	Config      json.RawMessage
	Columns     []string
	Rows        float64 // a whole number

	manifest *Manifest
}

// format is the only one there is.
const format = "golden-trace/1"

// Manifests reads every manifest.json in and below a folder, in the order of
// the paths. None is an error; one that is not understood has an Err. Links to
// folders are followed.
func Manifests(folder string) ([]*Manifest, error) {
	var all []*Manifest
	var walk func(folder string, depth int) error
	walk = func(folder string, depth int) error {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			info, err := os.Stat(path)
			switch {
			case err != nil:
				return err
			case info.IsDir() && depth == maxDepth:
				return fmt.Errorf("folder %s: more than %d folders deep", path, maxDepth)
			case info.IsDir():
				err = walk(path, depth+1)
			case e.Name() == "manifest.json":
				all = append(all, readManifest(path))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(folder, 0); err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("conformance: folder %s: no manifest.json in it", folder)
	}
	return all, nil
}

// maxDepth ends circles of links.
const maxDepth = 10

func readManifest(path string) *Manifest {
	m := &Manifest{Folder: filepath.Dir(path)}
	fail := func(format string, args ...any) *Manifest {
		return &Manifest{Folder: m.Folder, Err: fmt.Errorf("conformance: %s: "+format, append([]any{path}, args...)...)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fail("%w", err)
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, mark), m); err != nil {
		return fail("%w", err)
	}
	if m.Format != format {
		return fail("format %q, want %q", m.Format, format)
	}
	if len(m.Traces) == 0 {
		return fail("traces empty, want at least one")
	}
	for i, r := range m.Traces {
		switch {
		case r == nil:
			return fail("trace %d: null, want a recording", i+1)
		case !filepath.IsLocal(r.File):
			return fail("trace %d: file %q, want one in the folder", i+1, r.File)
		}
		r.manifest = m
	}
	return m
}

// mark is the byte order mark, which some editors write.
var mark = []byte("\ufeff")

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
	lines, err = csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, mark))).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	if len(lines) < 2 {
		return nil, nil, fmt.Errorf("%d lines, want a head and at least one row", len(lines))
	}
	if r.Rows != 0 && r.Rows != float64(len(lines)-1) {
		return nil, nil, fmt.Errorf("%d rows, want %v as the manifest says", len(lines)-1, r.Rows)
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
