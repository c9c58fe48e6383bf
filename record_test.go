package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	recordedCalls = "ts,status,duration_ms\n1760000000.5,200,100\n1760000001.5,500,100\n1760000002.5,404,100\n"
	recordedRates = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1760000000,"5"],[1760000015,"50"]]}]}}`
)

// A record is not overwritten, whatever series it is said to be, and neither is
// a scenario whose breakers are asked.
func TestRecordsAreNotOverwritten(t *testing.T) {
	rates := writeFile(t, "p.json", recordedRates)
	wantUsage(t, "is read", "-import-trace", "rate="+rates, "-save-trace", rates)
	dir := filepath.Dir(rates)
	csv := filepath.Join(dir, "replay.csv")
	calls := writeFile(t, "calls.csv", recordedCalls)
	mine := strings.NewReplacer("{retry: 3}", "{breaker: {preset: polly}}", "CLAIMED", "1").Replace(smallScenario)
	traced := writeFile(t, "mine.yaml", strings.Replace(mine, "faults: [{error: 100%}]", "trace: "+csv, 1))
	for name, text := range map[string]string{"replay.csv": "node,start_s,end_s,error_ratio\nb,0,5,0.5\n", "p.json": recordedRates} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantUsage(t, "-out: "+csv+" is read", "-replay", calls, "-scenario", traced, "-out", dir)
	if err := os.Rename(rates, csv); err != nil {
		t.Fatal(err)
	}
	errors := writeFile(t, "errors.json", recordedRates)
	wantUsage(t, "-out: "+csv+" is read", "-replay", "errors="+errors, "-replay", "rate="+csv, "-out", dir)
	wantUsage(t, csv+": given twice, want each file once", "-replay", "errors="+csv, "-replay", "rate="+csv, "-out", dir)
	if after, err := os.ReadFile(csv); err != nil || string(after) != recordedRates {
		t.Errorf("the record is overwritten: %v\n%s", err, after)
	}
}

// Draws of calls that are not drawn are a mistake.
func TestRepsOfRecordedCalls(t *testing.T) {
	calls := writeFile(t, "calls.csv", recordedCalls)
	wantUsage(t, "-reps 5 has no effect on the 3 calls that were recorded", "-replay", calls, "-reps", "5", "-out", t.TempDir())
	for _, args := range [][]string{{"-replay", calls}, {"-replay", writeFile(t, "i.csv", "start_s,end_s,failure_rate,rps\n0,5,0.5,10\n"), "-reps", "5"}} {
		if out, err := command(t, append(args, "-out", t.TempDir())...); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestWrongRecordKeys(t *testing.T) {
	calls := writeFile(t, "calls.csv", recordedCalls)
	for arg, want := range map[string]string{
		"width":             `invalid value "width" for flag -record: want KEY=VALUE`,
		"width=":            "want KEY=VALUE",
		"=5s":               "want KEY=VALUE",
		"widht=5s":          `invalid value "widht=5s" for flag -record: unknown key "widht"; did you mean "width"? known: format, node, width`,
		"width=5":           `"5" has no unit`,
		"width=1us":         `invalid value "width=1us" for flag -record: traffic: width 1µs, want 1ms to 8760h0m0s`,
		"width=0s":          "want a value above 0",
		"share=0":           "want a value above 0",
		"share=1":           "share 1, want above 0 and below 1",
		"share=200%":        "want a ratio from 0 to 1",
		"format=jtl":        `format "jtl", want one of trace, incidents`,
		"time-unit=sec":     `time-unit "sec", want one of s, ms, us, ns`,
		"latency-unit=days": `latency-unit "days", want one of`,
		"zone=Mars":         "unknown time zone Mars, want one such as",
		"fail-from=5xx":     "want a whole number",
		"fail-from=300":     "fail-from 300, want 400 to 599",
		"series=ratio":      `series "ratio", want one of rate, errors`,
		"rate=NaN":          "rate NaN, want calls per second from 0 to 1e9",
		"rate=5/s":          "want a number of calls per second",
		"max-calls=-1":      "max-calls -1, want",
	} {
		wantUsage(t, want, "-replay", calls, "-record", arg)
	}
	wantUsage(t, "only is given twice, want it once", "-replay", calls, "-record", "only=a", "-record", "only=b")
	wantUsage(t, "-record share has no effect with -import-trace", "-import-trace", calls, "-save-trace", filepath.Join(t.TempDir(), "t.csv"), "-record", "share=0.5")
	wantUsage(t, "series has no effect on a record of format access-log", "-replay", calls, "-record", "series=rate")
	wantUsage(t, "want it with -import-trace or -replay", "-scenario", calls, "-record", "width=5s")
}

// Each key changes what is read.
func TestRecordKeys(t *testing.T) {
	calls := "ts,status,elapsed,route\n2026-03-02 10:00:00,200,1,/a\n2026-03-02 10:00:01,404,500,/b\n2026-03-02 10:00:02,500,1500,/b\n"
	rates := strings.Replace(recordedRates, "1760000", "7", -1)
	for _, tc := range []struct {
		record, text string
		keys         string
		want         string // in the report or the trace
	}{
		{"calls.csv", calls, "latency-unit=ms width=1s node=shop", "\n0,1,shop,"},
		{"calls.csv", calls, "latency-unit=ms fail-from=400 width=1s", "3 calls, 2 failed"},
		{"calls.csv", calls, "latency-unit=us only=/b width=1s", "2 calls, 1 failed"},
		{"calls.csv", calls, "latency-unit=us width=1m zone=Etc/GMT-5", "from 2026-03-02 09:59:59.999 +05"},
		{"calls.csv", calls, "latency-unit=us width=1m", "from 2026-03-02 09:59:59.999 UTC"},
		{"p.json", rates, "series=rate", ",50,"},
		{"p.json", rates, "series=rate time-unit=ms", "points are 15ms apart"},
		{"i.csv", "start_s,end_s,failure_rate\n0,5,0.5\n", "rate=50 format=incidents", "250 calls, 125 failed"},
	} {
		args := []string{"-import-trace", writeFile(t, tc.record, tc.text), "-save-trace", filepath.Join(t.TempDir(), "t.csv")}
		for _, key := range strings.Fields(tc.keys) {
			args = append(args, "-record", key)
		}
		out, err := command(t, args...)
		trace, _ := os.ReadFile(args[3])
		if out += string(trace); err != nil || !strings.Contains(out, tc.want) {
			t.Errorf("%s: %v, want %q in\n%s", tc.keys, err, tc.want, out)
		}
	}
	file := writeFile(t, "calls.csv", recordedCalls)
	wantUsage(t, "more than 2 calls", "-replay", file, "-record", "max-calls=2")
	incidents := writeFile(t, "i.csv", "start_s,end_s,failure_rate,rps\n0,5,0.5,10\n")
	for share, want := range map[string]string{"50%": "No stretch of failures", "0.4": "failures 1: 0s to 5s"} {
		if out, err := command(t, "-replay", incidents, "-record", "share="+share, "-out", t.TempDir()); err != nil || !strings.Contains(out, want) {
			t.Errorf("share %s: %v, want %q in\n%s", share, err, want, out)
		}
	}
}

// The keys are those of the documentation.
func TestRecordKeysAreDocumented(t *testing.T) {
	text, err := os.ReadFile("docs/TRAFFIC.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range recordKeyNames() {
		if !strings.Contains(string(text), "\n| `"+key+"` | ") {
			t.Errorf("docs/TRAFFIC.md has no row of %s", key)
		}
	}
}

// A trace is CSV, whatever its name says.
func TestNamesOfTraces(t *testing.T) {
	calls := writeFile(t, "calls.csv", recordedCalls)
	for name, bad := range map[string]bool{"t.csv": false, "t.CSV": false, "t": false, "t.parquet": true, "t.csv.gz": true} {
		path := filepath.Join(t.TempDir(), name)
		if bad {
			wantUsage(t, "-save-trace: "+path+", want a name that ends in .csv", "-import-trace", calls, "-save-trace", path)
		} else if out, err := command(t, "-import-trace", calls, "-save-trace", path); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
