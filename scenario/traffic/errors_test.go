package traffic

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
)

// samples are a record of each format.
var samples = map[Format]string{
	Trace:      "start_s,end_s,node,error_ratio,rate_rps\n0,10,a,0,5\n10,20,a,1,5\n",
	Incidents:  incidentRows,
	AccessLog:  "ts,status,duration_ms,route\n1760000000.500,200,100,/s\n1760000000.900,502,200,/s\n",
	K6CSV:      k6Rows,
	K6JSON:     `{"type":"Point","metric":"http_req_duration","data":{"time":"2026-03-02T10:15:07.5Z","value":48.2,"tags":{"status":"200"}}}` + "\n",
	VegetaCSV:  vegetaRows,
	VegetaJSON: `{"attack":"a","seq":0,"code":200,"timestamp":"2026-03-02T10:15:07.000000001Z","latency":12500000,"error":""}` + "\n",
	JMeterCSV:  jtlRows,
	JMeterXML:  `<testResults version="1.2">` + "\n" + `<httpSample t="47" ts="1760000000123" s="true" lb="buy" rc="200"/>` + "\n</testResults>",
	Hey:        "response-time,DNS+dialup,status-code,offset\n0.05,0,200,0.5\n0.1,0,503,0.75\n",
	Locust:     locustRows,
	Prometheus: strings.Replace(prometheusRatio, `"job"`, `"__name__":"error_ratio","job"`, 1),
}

func TestEveryFormatHasASample(t *testing.T) {
	for _, f := range Formats() {
		got := read(t, "x", samples[f], Options{})
		if got.Report.Files[0].Format != f {
			t.Errorf("sample of %s is read as %s", f, got.Report.Files[0].Format)
		}
		roundTrip(t, got)
	}
}

func TestErrorsAreLocated(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x:1: empty file"},
		{"a,b\n1,2\n", `x:1: no known format, begins with "a,b"`},
		{"ts,status\n", "x:1: no rows"},
		{"ts,status\n1760000000,200\n1760000001,abc\n", `x:3: column status: "abc", want a status from 100 to 599`},
		{"ts,status\n1760000000,200\n1760000001000,200\n", `x:3: column ts: "1760000001000", a time in ms since 1970 after one in s since 1970`},
		{"ts,status\n1.77825E+12,200\n", `x:2: column ts: "1.77825E+12", a number that a spreadsheet has shortened`},
		{"ts,status,duration\n1760000000,200,5\n", `x:2: column duration: "5", has no unit`},
		{"ts,status,duration_ms\n1760000000,200,-5\n", `x:2: column duration_ms: "-5", want a latency`},
		{"ts,status,duration_ms\n1760000000,200,NaN\n", `x:2: column duration_ms: "NaN", want a latency`},
		{"ts,status,duration_ms\n1,200,2000\n", "x: a call starts 1s before time 0, want the time stamps to be those of the start"},
		{"ts,status,status\n", "x:1: column status: named twice"},
		{"ts,status\n1760000000\n", "x:2: row: 1 cells, want 2"},
		{"ts,status\n\"1760000000,200\n", "x:2: byte 17: a quoted cell goes wrong"},
		{"\xff\xfet\x00", "x:1: UTF-16"},
		{"start,end,failure_rate\n10,5,0.3\n", `x:2: column end: "5", ends before it begins`},
		{"start,end,failure_rate\n0,10,0.3\n5,20,1\n", "x:3: overlaps line 2"},
		{"start,end,failure_rate\n0,10,300\n", `x:2: column failure_rate: "300", want a number from 0 to 100`},
		{`{"status":"error","error":"query timed out"}`, "x:1: status: the query has failed: query timed out"},
		{`{"status":"success","data":{"resultType":"vector","result":[]}}`, `x:1: data.resultType: "vector", want matrix`},
		{"{\"status\":\"success\",\n\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},\"values\":[[1,\"2\"]]}]}}", "x:2: data.result[0]: cannot tell what this series is"},
		{`{"status":"success","data":{"result":[{"metric":{"__name__":"rps"},"values":[[1760000000,"x"]]}]}}`, `x:1: data.result[0].values[0]: "x", want a number`},
		{samples[K6JSON] + "{\"type\":\n", "x:2: byte 8: unexpected end of JSON input"},
		{samples[VegetaJSON] + `{"code":"a"}`, "x:2: key code: a JSON string, want a number"},
		{"<testResults>\n<httpSample t=\"5\" ts=\"zzz\" s=\"true\"/></testResults>", `x:2: attribute ts: "zzz", want a time`},
		{"<html></html>", "x:1: element html, want testResults"},
		{"<testResults>" + strings.Repeat("<a>", 200), "x:1: elements nested more than 100 deep"},
		{"Timestamp,Name,Total Request Count,Total Failure Count\n10,Aggregated,5,0\n11,Aggregated,6,5\n", `x:3: column total failure count: "5", grows by more than the requests`},
	} {
		_, err := Read("x", strings.NewReader(c.text), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q:\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestBadRowsCanBeSkipped(t *testing.T) {
	text := "ts,status\n1760000000,200\n1760000001,abc\n17600\n1760000002,xyz\n1760000003,500\n"
	got := read(t, "x", text, Options{SkipBad: true})
	f := got.Report.Files[0]
	if len(got.Calls) != 2 || f.Rows != 5 || f.Used != 2 || len(f.Skipped) != 2 || f.Skipped[0].Rows != 2 || f.Skipped[0].Line != 3 {
		t.Errorf("report %+v, want 5 rows, 2 used, 2 and 1 skipped", f)
	}
}

// However many rows are skipped, the reasons to be told are few.
func TestReasonsAreFew(t *testing.T) {
	var b strings.Builder
	b.WriteString("Timestamp,Name,Total Request Count,Total Failure Count\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,Aggregated,%d,0\n%d,Aggregated,9999,0\n", 1760000000+i, i, 1760000000-i)
	}
	got := read(t, "x", b.String(), Options{SkipBad: true})
	if n := len(got.Report.Files[0].Skipped); n > 2 {
		t.Errorf("%d reasons, want 2 at most", n)
	}
}

func TestLimits(t *testing.T) {
	if _, err := Read("x", strings.NewReader(outage()), Options{MaxCalls: 100}); err == nil || !strings.HasPrefix(err.Error(), "x:102: more than 100 calls") {
		t.Errorf("error %v, want the limit", err)
	}
	endless := io.MultiReader(strings.NewReader("ts,status\n1760000000,\""), repeat('a'))
	if _, err := Read("x", endless, Options{}); err == nil || !strings.Contains(err.Error(), "a row of more than 16 MiB") {
		t.Errorf("error %v, want the limit of a row", err)
	}
	endless = io.MultiReader(strings.NewReader(samples[K6JSON]), repeat('a'))
	if _, err := Read("x", endless, Options{}); err == nil || !strings.Contains(err.Error(), "x:2: a row of more than 16 MiB") {
		t.Errorf("error %v, want the limit of a line", err)
	}
}

type repeat byte

func (r repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

var located = regexp.MustCompile(`^x(:\d+)?: .+|^traffic: .+|^model: .+`)

// A record read as one of another format is refused where it stands.
func TestForcedFormats(t *testing.T) {
	for _, f := range Formats() {
		for of, text := range samples {
			got, err := Read("x", strings.NewReader(text), Options{Format: f})
			switch {
			case err != nil && !located.MatchString(err.Error()):
				t.Errorf("%s as %s: error %q tells no place", of, f, err)
			case err == nil && got.Report.Files[0].Format != f, err != nil && of == f:
				t.Errorf("%s as %s: %v", of, f, err)
			}
		}
	}
}

// tryAll reads a text and, if that succeeds, uses what was read.
func tryAll(t *testing.T, text string) {
	t.Helper()
	for _, o := range []Options{{}, {RateRPS: 10}, {SkipBad: true}} {
		got, err := Read("x", strings.NewReader(text), o)
		if err != nil {
			if !located.MatchString(err.Error()) {
				t.Fatalf("%q: error %q tells no place", text, err)
			}
			continue
		}
		if err := got.WriteTrace(io.Discard); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := got.Report.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
		if got.Report.Calls > 1e5 {
			continue
		}
		r, err := got.Play(context.Background(), []Breaker{strict}, PlayOptions{Replications: 1})
		if err != nil {
			continue
		}
		for _, p := range r.Plays {
			if p.Good > p.Refused || p.Refused > p.Calls {
				t.Fatalf("%q: play %+v", text, p)
			}
		}
		if err := r.Write(io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMutations(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"", "NaN", "-1", "1e999", "\"", ",", ";", "\n", "{", "}", "[", "<a>", "</a>", "null", "true", "99999999999999999999", "0", "é", "\x00", "1760000000", "%"}
	for _, f := range Formats() {
		for range 300 {
			text := samples[f]
			for range 1 + random.IntN(3) {
				i := random.IntN(len(text))
				j := min(len(text), i+random.IntN(6))
				text = text[:i] + pieces[random.IntN(len(pieces))] + text[j:] + " "
			}
			tryAll(t, text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range Formats() {
		f.Add(samples[format])
	}
	f.Fuzz(func(t *testing.T, text string) { tryAll(t, text) })
}

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		`time-unit "sec", want one of s, ms, us, ns`:                  {TimeUnit: "sec"},
		"width 1ns, want 1ms to 8760h0m0s":                            {Width: 1},
		"width 8760h0m0.000000001s, want 1ms to":                      {Width: maxWidth + 1},
		"fail-from 300":                                               {FailFrom: 300},
		`format "jtl"`:                                                {Format: "jtl"},
		"rate has no effect on a record of format vegeta-csv":         {RateRPS: 5},
		"series has no effect on a record of format vegeta-csv":       {Series: "rate"},
		"latency-unit has no effect on a record of format vegeta-csv": {LatencyUnit: "ms"},
	} {
		if _, err := Read("x", strings.NewReader(vegetaRows), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", o, err, want)
		}
	}
	for _, o := range []Options{{Width: time.Second}, {Stamp: "end"}, {Only: "a"}, {FailFrom: 400}, {MaxCalls: 9}, {LatencyUnit: "s"}, {Series: "rate"}} {
		if _, err := Read("x", strings.NewReader(incidentRows), o); (err == nil) != (o.LatencyUnit != "") {
			t.Errorf("%+v on incidents: %v", o, err)
		}
	}
	if _, err := Read("x", strings.NewReader(samples[Trace]), Options{TimeUnit: "ms"}); err == nil || !strings.Contains(err.Error(), "time-unit has no effect on a record of format trace") {
		t.Error(err)
	}
	got := read(t, "x", vegetaRows, Options{Stamp: "end", Width: 1e9})
	if d := got.Calls[1].End - got.Calls[0].End; fmt.Sprint(d) != "20ms" {
		t.Errorf("ends %v apart, want 20ms", d)
	}
}
