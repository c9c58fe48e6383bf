package model

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func written(t testing.TB, trace *Trace) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTrace(&b, trace); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteTrace(t *testing.T) {
	slow := seg("db", 10, 20, 0.25)
	slow.LatencyP99, slow.Injected = Known(1500*ms), "latency"
	got := written(t, mustTrace(t, seg("web", 0, 10, 0), seg("db", 0, 10, 1e-9), slow, seg("web", 10, 11, 1)))
	want := "start_s,end_s,node,error_ratio,latency_p99_s,injected\n" +
		"0,10,web,0,,\n0,10,db,1e-09,,\n10,11,web,1,,\n10,20,db,0.25,1.5,latency\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// rereads checks that a trace comes back, and that writing is settled.
func rereads(t interface{ Fatalf(string, ...any) }, trace *Trace) {
	var text bytes.Buffer
	if err := WriteTrace(&text, trace); err != nil {
		t.Fatalf("write: %v", err)
	}
	first := text.String()
	again, err := ReadTrace("again.csv", &text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, first)
	}
	if !reflect.DeepEqual(trace, again) {
		t.Fatalf("read %+v\nwrote %+v", again, trace)
	}
	var second bytes.Buffer
	if err := WriteTrace(&second, again); err != nil || second.String() != first {
		t.Fatalf("%v: second text differs:\n%s\nfirst\n%s", err, second.String(), first)
	}
}

func TestTraceRoundTrip(t *testing.T) {
	rereads(t, petshop(t))
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"db", "a,b", `"`, "数据库", "x y", "#1", "-", "start_s"}),
		rapid.StringMatching(`[a-z"',;|=#€]{1,9}`),
	)
	latency := rapid.Int64Range(0, math.MaxInt64)
	rapid.Check(t, func(t *rapid.T) {
		var all []Segment
		for _, node := range rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(t, "nodes") {
			for _, s := range drawSegments(t, node) {
				if rapid.Bool().Draw(t, "more") {
					s.RateRPS = Known(rapid.Float64Range(0, maxRate).Draw(t, "rate"))
					s.LatencyMean = Known(time.Duration(latency.Draw(t, "mean")))
					s.LatencyP90 = Known(time.Duration(latency.Draw(t, "p90")))
				}
				if rapid.Bool().Draw(t, "other") {
					s.CapacityFactor = Known(rapid.Float64Range(0, 1).Draw(t, "capacity"))
					s.Injected = name.Draw(t, "injected")
				}
				all = append(all, s)
			}
		}
		trace, err := NewTrace(all)
		if err != nil {
			t.Fatal(err)
		}
		rereads(t, trace)
	})
}

func FuzzReadTrace(f *testing.F) {
	file, err := os.ReadFile("../examples/petshop-high.csv")
	if err != nil {
		f.Fatal(err)
	}
	const head = "start_s,end_s,node,error_ratio\n"
	for _, text := range []string{
		string(file[:500]), "", "\ufeff" + head, head + "0,1,db,0\n1,1.5,db,1e-3\n", head + "0,1,\"a\"\"\n",
		head + "1e-9,9223372036.854775807,db,-0\n", "injected," + head + "x,0,1,db,0\n,1,2,db,.5\n",
		"capacity_factor,latency_p50_s,latency_p99_s,rate_rps," + head + "1,0,1e3,7,5,6,é,1\r\n,,,,6,7,é,1\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		trace, err := ReadTrace("fuzz.csv", strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.csv:") || trace != nil {
				t.Fatalf("error %v, trace %v", err, trace)
			}
			return
		}
		rereads(t, trace)
	})
}

// Seconds are exact: rationals agree, and formatting inverts parsing.
func TestSecondsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "ns"))
		var got time.Duration
		if rule := setSeconds(&got, formatSeconds(d)); rule != "" || got != d {
			t.Fatalf("%s reads as %d, %s", formatSeconds(d), got, rule)
		}
		text := rapid.StringMatching(`[0-9]{0,12}\.?[0-9]{1,14}(e[-+]?[0-9]{1,2})?`).Draw(t, "text")
		rule := setSeconds(&got, text)
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Skip("not a number")
		}
		want.Add(want.Mul(want, big.NewRat(1e9, 1)), big.NewRat(1, 2))
		whole := new(big.Int).Div(want.Num(), want.Denom())
		if whole.IsInt64() != (rule == "") || rule == "" && int64(got) != whole.Int64() {
			t.Fatalf("%s reads as %d %s, exact %v", text, got, rule, whole)
		}
	})
}

func TestSecondsRounding(t *testing.T) {
	for _, tc := range []struct {
		text string
		want time.Duration // negative: refused
	}{
		{"0", 0}, {"-0", 0}, {"+.0e5", 0}, {"00012", 12 * time.Second}, {"1.", time.Second}, {".5", 500 * ms}, {"1e-9", 1}, {"5e-10", 1},
		{"4.9999e-10", 0}, {"0.0000000015", 2}, {"0.00000000249999", 2}, {"1e-1000", 0}, {"0e1000", 0}, {"1500e-3", 1500 * ms},
		{"9223372036.8547758074999", math.MaxInt64}, {"9223372036.8547758075", -1}, {"99999999999", -1}, {"1e1000", -1}, {"1e10000", -1},
		{"", -1}, {".", -1}, {"-", -1}, {"e5", -1}, {"1e", -1}, {"1e5.0", -1}, {"1.2.3", -1}, {"+-1", -1}, {"1_000", -1}, {"0x10", -1}, {"1s", -1}, {"-1e-99", -1},
	} {
		var got time.Duration
		rule := setSeconds(&got, tc.text)
		if (rule == "") != (tc.want >= 0) || rule == "" && got != tc.want {
			t.Errorf("%q: %d %q, want %d", tc.text, got, rule, tc.want)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteTracePassesErrorsOn(t *testing.T) {
	if err := WriteTrace(fullDisk{}, petshop(t)); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
