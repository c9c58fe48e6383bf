package importer

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/scenario"
)

// FuzzRead changes the examples: what is read makes a scenario that is one, the
// rest is refused, and nothing panics.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		f.Add(filepath.Ext(file) == ".properties", example(f, filepath.Base(file)))
	}
	f.Fuzz(func(t *testing.T, lines bool, text string) {
		path := "x.yaml"
		if lines {
			path = "x.properties"
		}
		checkRead(t, path, text)
	})
}

// checkRead reads a text, and the scenario that it makes if it is not refused.
func checkRead(t *testing.T, path, text string) {
	im, err := Read(path, []byte(text))
	if err != nil {
		return
	}
	var b strings.Builder
	if err := im.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := scenario.Parse("made.yaml", []byte(b.String())); err != nil {
		t.Fatalf("%v\nfrom\n%s\nmade\n%s", err, text, b.String())
	}
}

// Each value of the examples is replaced by others.
func TestMutations(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		text := example(t, filepath.Base(file))
		for _, new := range []string{"0", "-1", "1e30", "4294967295", "x", "[]", "{}", "null", `"a: b # c"`} {
			for at := 0; at < len(text); at++ {
				if text[at] != ':' && text[at] != '=' {
					continue
				}
				end := at + 1 + strings.IndexAny(text[at+1:]+"\n", ",}]\n")
				checkRead(t, file, text[:at+1]+" "+new+text[min(end, len(text)):])
			}
		}
	}
}
