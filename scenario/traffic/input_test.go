package traffic

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
)

// The table of a replay ends with the recording, not with the interval that
// its last call is counted in.
func TestReplayEndsWithTheRecording(t *testing.T) {
	var b strings.Builder
	b.WriteString("ts,status,duration_ms\n")
	for i := range 8 {
		fmt.Fprintf(&b, "%d.5,500,100\n", 1772446500+i)
	}
	tr := read(t, "x", b.String(), Options{Width: time.Minute})
	r := play(t, tr, PlayOptions{}, strict)
	if got, want := r.Plays[0].OpenTime, 3*time.Second; got != want { // from the fifth end to the eighth
		t.Errorf("open for %v, want %v", got, want)
	}
	b.Reset()
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"not closed by the end of the recording, 2026-03-02 10:15:07.5 UTC", "open: up to the end of the recording, 2026-03-02 10:15:07.5 UTC"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("got:\n%s\nwant %s", b.String(), want)
		}
	}

	// Of rates, the end is that of the last interval, while calls of the last
	// seconds end after it.
	drawn := read(t, "x", "start_s,end_s,failure_rate,latency_s\n0,8,1,2\n", Options{RateRPS: 1000})
	for _, p := range play(t, drawn, PlayOptions{Replications: 3}, strict).Plays {
		if want := 8*time.Second - p.Trips[0].At; p.OpenTime != want {
			t.Errorf("open for %v, want the %v that are left", p.OpenTime, want)
		}
	}
}

// A pipe is read once, from its beginning to its end.
func TestPipes(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, samples[JMeterXML])
	z.Close()
	texts := map[string]string{"packed": packed.String()}
	for _, f := range Formats() {
		texts[string(f)] = samples[f]
	}
	for name, text := range texts {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skip("no pipes by name")
		}
		go func() {
			for text := text; text != ""; { // in small pieces
				n := min(len(text), 7)
				io.WriteString(w, text[:n])
				text = text[n:]
			}
			w.Close()
		}()
		piped, err := ReadFiles([]string{path}, Options{})
		r.Close()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "packed" {
			text = samples[JMeterXML]
		}
		whole := read(t, "x", text, Options{})
		if fmt.Sprint(piped.Segments) != fmt.Sprint(whole.Segments) || fmt.Sprint(piped.Calls) != fmt.Sprint(whole.Calls) {
			t.Errorf("%s: a pipe reads as %+v, want %+v", name, piped, whole)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                                dir + ":1: ",
		filepath.Join(dir, "none"):         "no such file",
		filepath.Join(dir, "no\x1b[31mne"): `no\x1b[31mne`,
	} {
		if _, err := ReadFiles([]string{path}, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// Nothing of the input can command a terminal.
func TestControlCharacters(t *testing.T) {
	const bell, bare = "\x1b]0;x\a\u202e\u009b", "\x9b"
	for _, f := range Formats() {
		text := samples[f]
		for i := range len(text) + 1 {
			for _, piece := range []string{bell, bare} {
				got, err := Read("x", strings.NewReader(text[:i]+piece+text[i:]), Options{})
				var b strings.Builder
				if err != nil {
					b.WriteString(err.Error())
				} else if err := got.Report.Write(&b); err != nil {
					t.Fatal(err)
				}
				for _, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
					if strings.Contains(line, bare) && !strings.Contains(line, "\u009b") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
						t.Fatalf("%s: %q", f, line)
					}
				}
			}
		}
	}
	got := read(t, "\x1b[2Jx", samples[AccessLog], Options{Only: "/s"})
	var b strings.Builder
	if err := got.Report.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), `\x1b[2Jx: access-log`) {
		t.Errorf("report begins %.40q", b.String())
	}
}
