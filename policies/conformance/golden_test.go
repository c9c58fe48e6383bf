package conformance

import (
	"os"
	"path/filepath"
	"testing"
)

// TestGolden replays the recordings under testdata/golden, or under the folder
// that GOLDEN_DIR names.
func TestGolden(t *testing.T) {
	folder := os.Getenv("GOLDEN_DIR")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	} else if top := filepath.Join("..", "..", folder); !filepath.IsAbs(folder) {
		if _, err := os.Stat(top); err == nil {
			folder = top // as seen from the top of the project
		}
	}
	manifests, err := Manifests(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		if m.Err != nil {
			t.Error(m.Err)
		}
		for _, r := range m.Traces {
			t.Run(filepath.Base(m.Folder)+"/"+r.File, func(t *testing.T) {
				result := Replay(r)
				for _, text := range result.First {
					t.Error(text)
				}
				switch {
				case result.Err != nil:
					t.Error(result.Err)
				case result.Mismatches > 0:
					t.Errorf("%d of %d answers differ", result.Mismatches, result.Answers)
				case result.Answers == 0:
					t.Error("no answer was compared")
				}
			})
		}
	}
}
