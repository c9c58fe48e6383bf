package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A small recording of gobreaker that is right: one call that succeeds.
const (
	goodManifest = `{"format":"golden-trace/1","library":"sony/gobreaker","version":"v2.4.0","traces":[{"file":"a.csv","kind":"breaker","rows":2,
"config":{"max_requests":0,"interval_ns":0,"bucket_period_ns":0,"timeout_ns":6e10,"ready_to_trip":"consecutive_failures > 5","is_excluded":"outcome == excluded","zero_means":"library default"}}]}`
	goodCSV = "seq,t_ns,op,id,outcome,dur_ns,x_permitted,x_error,x_state,x_requests,x_succ,x_fail,x_excl,x_consec_succ,x_consec_fail\n" +
		"0,5,acquire,0,ok,10,1,,closed,1,0,0,0,0,0\n" +
		"1,15,result,0,ok,10,,,closed,1,1,0,0,1,0\n"
)

// replayText replays a folder with one recording and returns what is wrong.
func replayText(t *testing.T, manifest, csv string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"manifest.json": manifest, "a.csv": csv} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manifests, err := Manifests(folder)
	if err != nil {
		return err.Error()
	}
	if err := manifests[0].Err; err != nil {
		return err.Error()
	}
	r := Replay(manifests[0].Traces[0])
	if r.Err != nil {
		return r.Err.Error()
	}
	if r.Rows != 2 || r.Answers == 0 {
		t.Errorf("%d rows, %d answers", r.Rows, r.Answers)
	}
	return strings.Join(r.First, "; ")
}

func TestARightRecordingPasses(t *testing.T) {
	if text := replayText(t, goodManifest, goodCSV); text != "" {
		t.Error(text)
	}
	if text := replayText(t, "\ufeff"+goodManifest, "\ufeff"+strings.ReplaceAll(goodCSV, "\n", "\r\n")); text != "" {
		t.Errorf("with marks: %s", text)
	}
}

func TestWrongRecordingsFail(t *testing.T) {
	for _, test := range []struct{ inManifest, inCSV, old, new, want string }{
		{"manifest", "", "sony/gobreaker", "nobody", `library "nobody", want one of`},
		{"manifest", "", "v2.4.0", "v9", `version "v9", want one of v2.4.0`},
		{"manifest", "", `"kind":"breaker"`, `"kind":"zz"`, `kind "zz", want one of breaker`},
		{"manifest", "", `"interval_ns"`, `"intervall_ns"`, `unknown field "intervall_ns"`},
		{"manifest", "", "golden-trace/1", "golden-trace/2", `format "golden-trace/2", want`},
		{"manifest", "", `"a.csv"`, `"../a.csv"`, `file "../a.csv", want one in the folder`},
		{"manifest", "", `"rows":2`, `"rows":3`, "2 rows, want 3"},
		{"manifest", "", `"traces":[`, `"traces":[null,`, "trace 1: null"},
		{"manifest", "", `consecutive_failures > 5`, `moon == full`, "moon"},
		{"", "csv", ",x_consec_fail", ",x_consec_fale", "x_consec_fail"},
		{"", "csv", "seq,", "x_state,", "x_state twice"},
		{"", "csv", "acquire", "ask", `op "ask" is unknown`},
		{"", "csv", "result,0,ok", "result,0,zz", `outcome "zz" is unknown`},
		{"", "csv", "1,15,", "1,4,", "do not go backwards"},
		{"", "csv", "1,15,", "1,x,", `column t_ns`},
		{"", "csv", "closed,1,1", "open,1,1", "line 3: x_state = closed here, the library says open"},
	} {
		manifest, csv := goodManifest, goodCSV
		if test.inManifest != "" {
			manifest = strings.Replace(manifest, test.old, test.new, 1)
		} else {
			csv = strings.Replace(csv, test.old, test.new, 1)
		}
		if manifest == goodManifest && csv == goodCSV {
			t.Fatalf("%q does not occur", test.old)
		}
		if text := replayText(t, manifest, csv); !strings.Contains(text, test.want) {
			t.Errorf("%q for %q: %q, want %q in it", test.new, test.old, text, test.want)
		}
	}
}
