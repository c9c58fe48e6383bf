package model

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestReadTraceAccepts(t *testing.T) {
	const s = time.Second
	plain := []Segment{seg("db", 0, 10, 0.5), seg("web", 5, 10, 0), seg("db", 10, 20, 1)}
	full := Segment{
		Node: `a "b", c`, Start: 1, End: 66_600*s + 1, RateRPS: Known(0.5933), Injected: "latency",
		Condition: Condition{
			ErrorRatio: 1e-7, CapacityFactor: Known(0.0), LatencyMean: Known(24_701 * time.Microsecond),
			LatencyP50: Known(time.Duration(0)), LatencyP99: Known(2 * s),
		},
	}
	for _, tc := range []struct {
		name, text string
		want       []Segment
	}{
		{"required columns only", "start_s,end_s,node,error_ratio\n0,10,db,0.5\n5,10,web,0\n10,20,db,1\n", plain},
		{"any order of columns and rows", "node,error_ratio,end_s,start_s\ndb,1,20,10\ndb,0.5,10,0\nweb,0,10,5\n", plain},
		{"byte order mark, CRLF, no last line break", "\ufeffstart_s,end_s,node,error_ratio\r\n0,10,db,0.5\r\n5,10,web,0\r\n10,20,db,1", plain},
		{"spaces, quotes, empty lines, exponents", "\n start_s , end_s,node ,error_ratio\n\n0, 1e1,\"db\",5e-1\n5.0,+10.,web,-0\n\"10\",.2e2,db,1.0\n\n", plain},
		{"empty optional cells", "start_s,end_s,node,error_ratio,rate_rps,latency_mean_s,injected\n0,10,db,0.5,,,\n5,10,web,0,,,\n10,20,db,1,,,\n", plain},
		{
			"every column",
			"start_s,end_s,node,rate_rps,error_ratio,latency_mean_s,latency_p50_s,latency_p90_s,latency_p99_s,capacity_factor,injected\n" +
				"0.000000001,66600.000000001,\"a \"\"b\"\", c\",0.5933,1e-7,0.024701,0,,2,0,latency\n",
			[]Segment{full},
		},
	} {
		got, err := ReadTrace("x.csv", strings.NewReader(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if want := mustTrace(t, tc.want...); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, got, want)
		}
	}
}

// The file that the examples' README shows is one.
func TestReadTraceOfReadme(t *testing.T) {
	text, err := os.ReadFile("../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nstart_s,")
	block, _, _ := strings.Cut("start_s,"+rest, "```")
	trace, err := ReadTrace("README.md", strings.NewReader(block))
	if err != nil || trace.Len() != 3 || trace.End() != 20*time.Minute {
		t.Errorf("%+v, %v", trace, err)
	}
}

// A ratio of -0 is written as 0.
func TestReadTraceNegativeZero(t *testing.T) {
	trace, err := ReadTrace("x.csv", strings.NewReader("start_s,end_s,node,error_ratio\n0,1,db,-0.0\n"))
	if err != nil || !strings.Contains(written(t, trace), "db,0\n") {
		t.Errorf("%v, %+v", err, trace)
	}
}

func TestReadTraceErrors(t *testing.T) {
	const head = "start_s,end_s,node,error_ratio,rate_rps,latency_p50_s,latency_p90_s,injected\n"
	const known = "start_s, end_s, node, rate_rps, error_ratio, latency_mean_s, latency_p50_s, latency_p90_s, latency_p99_s, capacity_factor, injected"
	const secs = "want seconds from 0 to 9223372036.854775807"
	for _, tc := range []struct{ text, want string }{
		{"", "x.csv:1: empty file, want a header with start_s, end_s, node, error_ratio"},
		{"\ufeff", "x.csv:1: empty file, want a header with start_s, end_s, node, error_ratio"},
		{"\n" + head, "x.csv:2: no rows after the header, want at least one"},
		{"\xff\xfes\x00", "x.csv:1: UTF-16, want UTF-8"},
		{"start_s;end_s;node\n", `x.csv:1: one column "start_s;end_s;node", want columns separated by commas`},
		{"start_s,end_s,node\n0,1,db\n", "x.csv:1: column error_ratio: missing, want start_s, end_s, node, error_ratio"},
		{"start_s,end_s,node,eror_ratio\n", "x.csv:1: column eror_ratio: unknown, did you mean \"error_ratio\"? known: " + known},
		{"Start_S,end_s,node,error_ratio\n", "x.csv:1: column Start_S: unknown, did you mean \"start_s\"? known: " + known},
		{"start_s,end_s,node,error_ratio,latency_s\n", "x.csv:1: column latency_s: unknown, did you mean \"latency_p50_s\"? known: " + known},
		{"start_s,end_s,node,error_ratio,node\n", "x.csv:1: column node: named twice, want it once"},
		{"start_s,end_s,node,error_ratio,\n", "x.csv:1: column 5: no name, want one of " + known},
		{"start_s,\xff\n", `x.csv:1: column 2: "\xff", want UTF-8`},
		{head + "0,300,db,0.5\n", "x.csv:2: 4 cells, want 8 as in the header"},
		{head + "0,300,d\"b,0.5,,,,\n", "x.csv:2: byte 8: a quote in a cell that does not begin with one, want the whole cell quoted"},
		{head + "0,300,\"db,0.5,,,,\n", `x.csv:2: a quoted cell goes wrong at line 2, byte 19, want "" for a quote inside and one quote at its end`},
		{head + "0,300,db,1.5,,,,\n", "x.csv:2: column error_ratio: 1.5, want a number from 0 to 1"},
		{head + "0,300,db,,,,,\n", "x.csv:2: column error_ratio: empty, want a number from 0 to 1"},
		{head + "0,300,db,30%,,,,\n", "x.csv:2: column error_ratio: 30%, want a number from 0 to 1"},
		{head + "0,300,db,NaN,,,,\n", "x.csv:2: column error_ratio: NaN, want a number from 0 to 1"},
		{head + "0,300,db,0x1p-2,,,,\n", "x.csv:2: column error_ratio: 0x1p-2, want a number from 0 to 1"},
		{head + "0,300,db,\"0,5\",,,,\n", `x.csv:2: column error_ratio: "0,5", want a number from 0 to 1`},
		{head + "0,300,db,0,-1,,,\n", "x.csv:2: column rate_rps: -1, want a number from 0 to 1e9"},
		{head + "0,300,db,0,1e999,,,\n", "x.csv:2: column rate_rps: 1e999, want a number from 0 to 1e9"},
		{head + "0,300,db,0,Inf,,,\n", "x.csv:2: column rate_rps: Inf, want a number from 0 to 1e9"},
		{head + "0,300,,0,,,,\n", "x.csv:2: column node: empty, want a name"},
		{head + "0,300,\"d\nb\",0,,,,\n", `x.csv:2: column node: "d\nb", want printable characters only`},
		{head + "0,300,d\xffb,0,,,,\n", `x.csv:2: column node: "d\xffb", want UTF-8`},
		{head + "0,300,db,0,,,,a\x00\n", `x.csv:2: column injected: "a\x00", want printable characters only`},
		{head + "-1,300,db,0,,,,\n", "x.csv:2: column start_s: -1, " + secs},
		{head + "nan,300,db,0,,,,\n", "x.csv:2: column start_s: nan, " + secs},
		{head + "12:00,300,db,0,,,,\n", "x.csv:2: column start_s: 12:00, " + secs},
		{head + ",300,db,0,,,,\n", "x.csv:2: column start_s: empty, " + secs},
		{head + "0,9223372036.854775808,db,0,,,,\n", "x.csv:2: column end_s: 9223372036.854775808, " + secs},
		{head + "0,1760000000000,db,0,,,,\n", "x.csv:2: column end_s: 1760000000000, " + secs},
		{head + "0,1e99,db,0,,,,\n", "x.csv:2: column end_s: 1e99, " + secs},
		{head + "300,300,db,0,,,,\n", "x.csv:2: column end_s: 300, want above start_s 300"},
		{head + "300,299.9,db,0,,,,\n", "x.csv:2: column end_s: 299.9, want above start_s 300"},
		{head + "0,300,db,0,,-1,,\n", "x.csv:2: column latency_p50_s: -1, " + secs},
		{head + "0,300,db,0,,0.2,0.1,\n", "x.csv:2: column latency_p90_s: 0.1, want at least latency_p50_s 0.2"},
		{head + "0,300,db,0,,,,\n0,300,web,0,,,,\n299,600,db,0,,,,\n",
			`x.csv:4: column start_s: 299 to 600 overlaps line 2 (0 to 300) of node "db"`},
		{head + "300,600,db,0,,,,\n\n0,300.5,db,0,,,,\n",
			`x.csv:4: column start_s: 0 to 300.5 overlaps line 2 (300 to 600) of node "db"`},
		{head + "0,300,\"d\nb\n\n", `x.csv:2: a quoted cell goes wrong at line 4, byte 2, want "" for a quote inside and one quote at its end`},
		{head + "0,300," + strings.Repeat("x", 99) + ",7,,,,\n", "x.csv:2: column error_ratio: 7, want a number from 0 to 1"},
		{head + strings.Repeat("1", 99) + ",300,db,7,,,,\n", "x.csv:2: column start_s: " + strings.Repeat("1", 57) + "..., " + secs},
	} {
		_, err := ReadTrace("x.csv", strings.NewReader(tc.text))
		got := "<nil>"
		if err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%q:\n got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

// An error of the file itself is passed on, not taken for its end.
func TestReadTracePassesErrorsOn(t *testing.T) {
	cause := errors.New("disk on fire")
	text := strings.NewReader("start_s,end_s,node,error_ratio\n0,1,db,0\n")
	_, err := ReadTrace("x.csv", io.MultiReader(text, iotest.ErrReader(cause)))
	if !errors.Is(err, cause) || err.Error() != "x.csv: disk on fire" {
		t.Errorf("error %v", err)
	}
}

// endless repeats a line for ever.
type endless struct{ line string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n+len(e.line) <= len(p) {
		n += copy(p[n:], e.line)
	}
	return n, nil
}

func TestReadTraceRefusesTooManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("reads half a million rows")
	}
	_, err := ReadTrace("x.csv", io.MultiReader(strings.NewReader("start_s,end_s,node,error_ratio\n"), endless{"0,1,db,0\n"}))
	if want := "x.csv:524290: more than 524288 rows, want a shorter trace or longer segments"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestLimitedReader(t *testing.T) {
	for limit, want := range map[int64]string{5: "<nil>", 4: "longer than 256 MiB, want a shorter trace or longer segments"} {
		_, err := io.ReadAll(&limitedReader{r: strings.NewReader("12345"), left: limit})
		if got := fmt.Sprint(err); got != want {
			t.Errorf("5 bytes, limit %d: error %s, want %s", limit, got, want)
		}
	}
}
