package traffic

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// byStatus is a range query of rates by status, with the points of each.
func byStatus(good, bad string) string {
	return `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"code":"200"},"values":[` + good +
		`]},{"metric":{"code":"500"},"values":[` + bad + `]}]}}`
}

// A value that is missing is neither health nor failure.
func TestMissingPoints(t *testing.T) {
	const good, bad = `[1700000000,"99"],[1700000015,"99"],[1700000030,"99"]`, `[1700000000,"1"],[1700000015,"1"],[1700000030,"1"]`
	hole := func(points, value string) string {
		if value == "" {
			return strings.Replace(points, points[strings.Index(points, "[1700000015"):strings.Index(points, "[1700000030")], "", 1)
		}
		head, tail, _ := strings.Cut(points, `15,"`)
		_, tail, _ = strings.Cut(tail, `"`)
		return head + `15,"` + value + `"` + tail
	}
	for _, value := range []string{"NaN", "+Inf", ""} {
		for i, text := range []string{byStatus(hole(good, value), bad), byStatus(good, hole(bad, value))} {
			got := read(t, "x", text, Options{})
			if len(got.Segments) != 2 {
				t.Errorf("%q in series %d: %d segments, want 2", value, i, len(got.Segments))
			}
			for _, s := range got.Segments {
				if s.ErrorRatio != 0.01 || s.RateRPS.Value != 100 {
					t.Errorf("%q in series %d: segment %+v, want 1 %% of 100/s", value, i, s)
				}
			}
			if notes := fmt.Sprint(got.Report.Notes); !strings.Contains(notes, "1 of 3 instants have no value in one of the series: no data") {
				t.Errorf("%q in series %d: notes %s", value, i, notes)
			}
		}
	}

	// A status of which there were none before and after is no gap.
	got := read(t, "x", byStatus(good, `[1700000015,"1"]`), Options{})
	if len(got.Segments) != 3 || got.Segments[0].ErrorRatio != 0 || got.Segments[1].ErrorRatio != 0.01 || got.Segments[2].ErrorRatio != 0 {
		t.Errorf("segments %+v, want failures in the second of three", got.Segments)
	}
}

func TestBadPointsCanBeSkipped(t *testing.T) {
	const good = `[1700000000,"9"],[1700000015,"9"],[1700000030,"9"]`
	for _, bad := range []string{`[1700000015,"-5"]`, `[1700000015,"1e308"]`, `["x","1"]`, `[1700000015,"z"]`, `[1700000015]`} {
		text := byStatus(good, `[1700000000,"1"],`+bad+`,[1700000030,"1"]`)
		if _, err := Read("x", strings.NewReader(text), Options{}); err == nil || !strings.HasPrefix(err.Error(), "x:1: data.result[1].values[1]: ") {
			t.Errorf("%s: error %v", bad, err)
		}
		got := read(t, "x", text, Options{SkipBad: true})
		if f := got.Report.Files[0]; len(got.Segments) != 2 || len(f.Skipped) != 1 || f.Used != 5 {
			t.Errorf("%s: %d segments, report %+v, want 2 and one point skipped", bad, len(got.Segments), f)
		}
	}
	text := byStatus(good, `[1700000000,"1"],[1700000000,"7"],[1700000015,"1"],[1700000030,"1"]`)
	if _, err := Read("x", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), "beside 1 at the same instant") {
		t.Errorf("error %v", err)
	}
	if got := read(t, "x", text, Options{SkipBad: true}); len(got.Segments) != 3 || got.Segments[0].ErrorRatio != 0.1 {
		t.Errorf("segments %+v, want the first value of an instant", got.Segments)
	}
}

func TestColumnsPassedOverAreTold(t *testing.T) {
	for header, want := range map[string]string{
		"time,ts,timestamp,status":                      "x: time stamps: column ts is taken, time, timestamp not",
		"ts,status,status_code":                         "x: statuses: column status is taken, status_code not",
		"ts,status,failed":                              "x: failures: column status is taken, failed not",
		"ts,status,duration_ms,latency_ms,request_time": "x: latencies: column duration_ms is taken, latency_ms, request_time not",
	} {
		row := strings.Repeat("1760000000,", strings.Count(header, ",")+1)
		var cells []string
		for i, name := range strings.Split(header, ",") {
			cells = append(cells, strings.Split(row, ",")[i])
			if name != "time" && name != "ts" && name != "timestamp" {
				cells[i] = "200"
			}
		}
		got := read(t, "x", header+"\n"+strings.Join(cells, ",")+"\n", Options{})
		if !strings.Contains(strings.Join(got.Report.Notes, "\n"), want) {
			t.Errorf("%s: notes %q, want %s", header, got.Report.Notes, want)
		}
	}
	if got := read(t, "x", "ts,status,error,path,url\n1760000000,200,,a,b\n", Options{}); strings.Contains(fmt.Sprint(got.Report.Notes), "is taken") {
		t.Errorf("notes %q of columns with different meanings", got.Report.Notes)
	}
}

func TestMistypedColumns(t *testing.T) {
	for header, want := range map[string]string{
		"start_s,end_s,node,eror_ratio,rate_rps": `: column eror_ratio: did you mean "error_ratio", of the format trace? want one of`,
		"tss,status":                             `: column tss: did you mean "ts", of the format access-log? want`,
		"timeStamp,elapsd,label,responseCode":    `: column elapsd: did you mean "elapsed", of the format jmeter-csv? want`,
		"a,b":                                    `begins with "a,b": want one of`,
	} {
		if _, err := Read("x", strings.NewReader(header+"\n1,2\n"), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", header, err, want)
		}
	}
}

func TestLastLineWithoutEnd(t *testing.T) {
	for f, text := range samples {
		for _, end := range []string{"", "\n", "\r\n"} {
			got := read(t, "x", strings.TrimSpace(text)+end, Options{})
			told := strings.Contains(fmt.Sprint(got.Report.Notes), "the last line has no end")
			if told != (end == "" && f.isCSV()) {
				t.Errorf("%s ending in %q: told %t", f, end, told)
			}
		}
	}
}

func TestGzipIsNamed(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(samples[Trace]))
	z.Close()
	whole := b.String()
	for _, text := range []string{whole + "junk", whole + strings.Repeat("junk", 9), whole[:len(whole)-9], whole[:5]} {
		if _, err := Read("x", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), "gzip: ") || strings.Contains(err.Error(), "gzip: gzip") {
			t.Errorf("error %v, want gzip named", err)
		}
	}
}

// Errors of a file are told together, each in a line, but not without end.
func TestSeveralErrors(t *testing.T) {
	text := "ts,status\n1760000000,a\x1b\n1760000001,200\nb,200\n1760000003,99\n"
	_, err := Read("x", strings.NewReader(text), Options{})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], `x:2: column status: "a\x1b"`) || !strings.HasPrefix(lines[1], "x:4: column ts") || !strings.HasPrefix(lines[2], "x:5: column status") {
		t.Errorf("got\n%v", err)
	}
	_, err = Read("x", strings.NewReader("ts,status\n"+strings.Repeat("x,200\n", 100)), Options{})
	if lines := strings.Split(err.Error(), "\n"); len(lines) != maxFaults+1 || !strings.HasPrefix(lines[maxFaults], "x:21: 20 errors") {
		t.Errorf("got\n%v", err)
	}
}

// A draw that does not end says so.
func TestNotClosedInAnyDraw(t *testing.T) {
	tr := read(t, "x", "start_s,end_s,failure_rate\n60,300,1\n", Options{RateRPS: 50})
	var b strings.Builder
	if err := play(t, tr, PlayOptions{Replications: 3}, strict).Write(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "would have succeeded, not closed by the end of the recording in any draw\n") || strings.Contains(b.String(), "+-") {
		t.Errorf("got\n%s", b.String())
	}
}

func TestFilesThatDoNotGoTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls.csv")
	if err := os.WriteFile(path, []byte(samples[AccessLog]), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, paths := range map[string][]string{
		": given twice, want each file once":                                          {path, path},
		": rate= has no effect on a record of format access-log, want its path alone": {"rate=" + path},
	} {
		if _, err := ReadFiles(paths, Options{}); err == nil || err.Error() != path+want {
			t.Errorf("%q: error %v, want %s%s", paths, err, path, want)
		}
	}
}
