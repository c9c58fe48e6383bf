package traffic

import (
	"bytes"
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

const k6Header = "metric_name,timestamp,metric_value,check,error,error_code,group,method,name,proto,scenario,status,subproto,tls_version,url,extra_tags\n"

const k6Rows = k6Header +
	"http_reqs,1760000001,1,,,,,GET,/s,HTTP/1.1,default,200,,,/s,\n" +
	"http_req_duration,1760000001,48.2,,,,,GET,/s,HTTP/1.1,default,200,,,/s,\n" +
	"http_req_duration,1760000003,2001.7,,request timeout,1050,,GET,/s,,default,0,,,/s,\n"

const jtlHeader = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"

const jtlRows = jtlHeader +
	"1760000000123,47,buy,200,OK,t 1-1,text,true,,300,120,5,5,null,46,0,1\n" +
	"1760000000190,3000,buy,504,Gateway Time-out,t 1-2,text,false,,90,120,5,5,null,3000,0,0\n"

const vegetaRows = "1760000000000000000,200,12500000,0,512,,,a,0\n1760000000020000000,0,1000000000,0,0,timeout,,a,1\n"

const locustRows = `Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,Total Request Count,Total Failure Count
1760000010,20,,Aggregated,98.000000,1.000000,12,980,10
1760000011,20,GET,/s,97.500000,9.000000,13,500,20
1760000011,20,,Aggregated,97.500000,9.000000,13,1078,40
`

const prometheusRate = `{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"requests:rate"},"values":[[1760000000,"50"],[1760000015,"50"],[1760000030,"40"],[1760000045,"0"]]}]}}`

const prometheusRatio = `{"status":"success","data":{"resultType":"matrix","result":[
{"metric":{"job":"stock","code":"5xx"},"values":[[1760000000,"0.02"],[1760000015,"NaN"],
[1760000030,"0.31"]]}]}}`

const incidentRows = "start_s,duration_s,failure_rate,latency_ms\n3600,5,0.30,\n7200,90,1.0,1000\n14400,600,0.02,400\n"

func read(t *testing.T, name, text string, o Options) *Traffic {
	t.Helper()
	got, err := Read(name, strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSplitSeries(t *testing.T) {
	for arg, want := range map[string][2]string{
		"rate=p.json": {"rate", "p.json"}, "error-ratio=a=b": {"error-ratio", "a=b"}, "latency=": {"latency", ""},
		"p.json": {"", "p.json"}, "rates=p.json": {"", "rates=p.json"}, "./rate=p.json": {"", "./rate=p.json"},
	} {
		if series, path := SplitSeries(arg); series != want[0] || path != want[1] {
			t.Errorf("%s: %q, %q, want %q", arg, series, path, want)
		}
	}
}

// The same two calls in every format of calls: a good one, and a failed one.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		name, text string
		format     Format
		latencies  [2]time.Duration
		start      time.Duration // from the first start to the second
	}{
		{"k6", k6Rows, K6CSV, [2]time.Duration{48200 * time.Microsecond, 2001700 * time.Microsecond}, 2*time.Second - 1953500*time.Microsecond},
		{"k6 json", `{"type":"Metric","metric":"http_req_duration","data":{"name":"http_req_duration","type":"trend"}}
{"type":"Point","metric":"http_reqs","data":{"time":"2026-03-02T10:15:07Z","value":1,"tags":null}}
{"type":"Point","metric":"http_req_duration","data":{"time":"2026-03-02T10:15:07.5Z","value":48.2,"tags":{"status":"200"}}}
{"type":"Point","metric":"http_req_duration","data":{"time":"2026-03-02T11:15:09.5+01:00","value":2001.7,"tags":{"status":"503"}}}
`, K6JSON, [2]time.Duration{48200 * time.Microsecond, 2001700 * time.Microsecond}, 2*time.Second - 1953500*time.Microsecond},
		{"vegeta", vegetaRows, VegetaCSV, [2]time.Duration{12500 * time.Microsecond, time.Second}, 20 * time.Millisecond},
		{"vegeta json", `{"attack":"a","seq":0,"code":200,"timestamp":"2026-03-02T10:15:07.000000001Z","latency":12500000,"bytes_out":0,"bytes_in":512,"error":"","body":null}
{"attack":"a","seq":1,"code":0,"timestamp":"2026-03-02T10:15:07.020000001Z","latency":1000000000,"error":"timeout"}`,
			VegetaJSON, [2]time.Duration{12500 * time.Microsecond, time.Second}, 20 * time.Millisecond},
		{"jmeter", jtlRows, JMeterCSV, [2]time.Duration{47 * time.Millisecond, 3 * time.Second}, 67 * time.Millisecond},
		{"jmeter by tabs", strings.ReplaceAll(strings.ReplaceAll(jtlRows, ",", "\t"), "\n", "\r\n"), JMeterCSV, [2]time.Duration{47 * time.Millisecond, 3 * time.Second}, 67 * time.Millisecond},
		{"jmeter xml", `<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="47" lt="46" ts="1760000000123" s="true" lb="buy" rc="200" rm="OK" tn="t 1-1"><httpSample t="1" ts="1760000000123" s="true" rc="200"/></httpSample>
<sample t="3000" lt="0" ts="1760000000190" s="false" lb="buy" rc="Non HTTP response code: java.net.SocketTimeoutException" rm=""/>
</testResults>`, JMeterXML, [2]time.Duration{47 * time.Millisecond, 3 * time.Second}, 67 * time.Millisecond},
		{"hey", "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.05,0,0,0,0,0,200,0.5\n0.1,0,0,0,0,0,503,0.75\n", Hey, [2]time.Duration{50 * time.Millisecond, 100 * time.Millisecond}, 250 * time.Millisecond},
		{"access log", "ts,status,duration_ms,route\n1760000000.500,200,100,/s\n1760000000.900,502,200,/s\n", AccessLog, [2]time.Duration{100 * time.Millisecond, 200 * time.Millisecond}, 300 * time.Millisecond},
		{"access log of a spreadsheet", "\ufeffts;status;duration_ms\r\n1760000000,500;200;100,5\r\n1760000000,900;502;200\r\n", AccessLog, [2]time.Duration{100500 * time.Microsecond, 200 * time.Millisecond}, 300500 * time.Microsecond},
		{"access log of nginx", "time_local,status,request_time\n02/Mar/2026:10:15:07 +0800,200,0.1\n02/Mar/2026:10:15:08 +0800,499,0.512\n", AccessLog, [2]time.Duration{100 * time.Millisecond, 512 * time.Millisecond}, 588 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(t, c.name, c.text, Options{})
			if f := got.Report.Files[0]; f.Format != c.format || f.Used != 2 {
				t.Fatalf("read as %s with %d rows used, want %s with 2", f.Format, f.Used, c.format)
			}
			if len(got.Calls) != 2 || got.Calls[0].Failed || !got.Calls[1].Failed {
				t.Fatalf("calls %+v, want a good one and a failed one", got.Calls)
			}
			for i, want := range c.latencies {
				if got.Calls[i].Latency != want {
					t.Errorf("latency %d is %v, want %v", i, got.Calls[i].Latency, want)
				}
			}
			if d := got.Calls[1].Start() - got.Calls[0].Start(); d != c.start {
				t.Errorf("second start %v after the first, want %v", d, c.start)
			}
			if got.Report.Calls != 2 || got.Report.Failed != 1 {
				t.Errorf("report has %v calls, %v failed, want 2 and 1", got.Report.Calls, got.Report.Failed)
			}
			roundTrip(t, got)
		})
	}
}

// roundTrip checks that a scenario can take the segments.
func roundTrip(t *testing.T, got *Traffic) {
	t.Helper()
	var b bytes.Buffer
	if err := got.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	trace, err := model.ReadTrace("trace.csv", &b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(trace.Segments(got.Node)); n != len(got.Segments) {
		t.Errorf("trace has %d segments, want %d", n, len(got.Segments))
	}
}

func TestUnitOfTimeStamps(t *testing.T) {
	for unit, stamp := range map[string]string{"s": "1760000001", "ms": "1760000001000", "us": "1760000001000000", "ns": "1760000001000000000"} {
		got := read(t, "x", "ts,status\n"+stamp+",200\n", Options{})
		if want := time.Unix(1760000001, 0); !got.Epoch.Equal(want) {
			t.Errorf("%s: epoch %v, want %v", stamp, got.Epoch, want)
		}
		if words := got.Report.Files[0].Times; !strings.HasPrefix(words, unit+" since 1970, of the end") {
			t.Errorf("%s: told as %q", stamp, words)
		}
	}
}

func TestLocust(t *testing.T) {
	got := read(t, "x_stats_history.csv", locustRows, Options{})
	if len(got.Segments) != 1 {
		t.Fatalf("%d segments, want 1", len(got.Segments))
	}
	s := got.Segments[0]
	if s.RateRPS.Value != 98 || math.Abs(s.ErrorRatio-30./98) > 1e-12 || s.End-s.Start != time.Second {
		t.Errorf("segment %+v, want 98/s and 30.6 %% in 1 s", s)
	}
}

func TestPrometheus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	got, err := ReadFiles([]string{write("rate.json", prometheusRate), "error-ratio=" + write("b.json", prometheusRatio)}, Options{Node: "stock"})
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Segment{
		{Node: "stock", Start: 0, End: 15 * time.Second, RateRPS: model.Known(50.), Condition: model.Condition{ErrorRatio: 0.02}},
		{Node: "stock", Start: 30 * time.Second, End: 45 * time.Second, RateRPS: model.Known(40.), Condition: model.Condition{ErrorRatio: 0.31}},
	}
	if len(got.Segments) != 2 || got.Segments[0].RateRPS != want[0].RateRPS || got.Segments[1].ErrorRatio != 0.31 {
		t.Fatalf("segments %+v, want %+v", got.Segments, want)
	}
	if got.Segments[1].Start-got.Segments[0].End != 15*time.Second {
		t.Error("NaN did not leave a gap")
	}
	if s := got.Report.Files[1].Skipped; len(s) != 1 || s[0].Line != 2 {
		t.Errorf("skipped %+v, want the NaN of line 2", s)
	}

	byCode := `{"status":"success","data":{"resultType":"matrix","result":[
{"metric":{"code":"200"},"values":[[1760000000,"8"],[1760000015,"10"]]},
{"metric":{"code":"503"},"values":[[1760000015,"10"]]}]}}`
	got = read(t, "x.json", byCode, Options{})
	if len(got.Segments) != 2 || got.Segments[0].ErrorRatio != 0 || got.Segments[1].ErrorRatio != 0.5 || got.Segments[1].RateRPS.Value != 20 {
		t.Errorf("segments %+v, want 0 and 50 %%", got.Segments)
	}
}

func TestIncidents(t *testing.T) {
	got := read(t, "x", incidentRows, Options{RateRPS: 50})
	if len(got.Segments) != 6 || got.Segments[3].ErrorRatio != 1 || got.Segments[3].Start != 2*time.Hour {
		t.Fatalf("segments %+v", got.Segments)
	}
	if f := got.Report.Failed; math.Abs(f-5175) > 1e-6 {
		t.Errorf("%v failed calls expected, want 5175", f)
	}
	percent := read(t, "x", "start,end,failure_rate\n10:15,10:16:30,30\n11:00,12:00,100%\n", Options{})
	if s := percent.Segments[1]; s.ErrorRatio != 0.3 || s.Start != 10*time.Hour+15*time.Minute || s.End-s.Start != 90*time.Second {
		t.Errorf("segment %+v, want 30 %% from 10:15 for 90 s", s)
	}
}

func TestTraceAndGzip(t *testing.T) {
	const text = "start_s,end_s,node,error_ratio,rate_rps\n0,10,a,0,5\n10,20,a,1,5\n0,20,b,0,1\n"
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	got, err := Read("x.csv.gz", &b, Options{Node: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Segments) != 2 || got.Report.Calls != 100 || got.Report.Failed != 50 {
		t.Errorf("segments %+v, report %+v", got.Segments, got.Report)
	}
	if _, err := Read("x.csv", strings.NewReader(text), Options{}); err == nil || !strings.Contains(err.Error(), "want one of a, b") {
		t.Errorf("error %v, want the nodes", err)
	}
}

func TestEqualCalls(t *testing.T) {
	fine := "ts,status,duration_ms\n1760000000.123456,200,5\n1760000000.123456,200,5\n"
	if n := len(read(t, "x", fine, Options{}).Calls); n != 1 {
		t.Errorf("%d calls with stamps in microseconds, want 1", n)
	}
	coarse := "ts,status,duration_ms\n1760000000,200,5\n1760000000,200,5\n"
	if n := len(read(t, "x", coarse, Options{}).Calls); n != 2 {
		t.Errorf("%d calls with stamps in seconds, want 2", n)
	}
}

// arrivals writes the trace and returns when the model lets calls arrive by
// it, in seconds.
func arrivals(t *testing.T, tr *Traffic) (starts []float64) {
	t.Helper()
	var b bytes.Buffer
	if err := tr.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	trace, err := model.ReadTrace("trace.csv", &b)
	if err != nil {
		t.Fatal(err)
	}
	source, err := model.TraceArrivals(trace.Segments(tr.Node), nil)
	if err != nil {
		t.Fatal(err)
	}
	for at, ok := source.Next(); ok; at, ok = source.Next() {
		starts = append(starts, at.Seconds())
	}
	return starts
}
