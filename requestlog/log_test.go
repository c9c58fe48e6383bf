package requestlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/requestlog"
)

// What the columns say of tries made by hand.
func TestRows(t *testing.T) {
	var b bytes.Buffer
	l, err := requestlog.New(&b, requestlog.Options{Format: requestlog.CSV, Epoch: time.Date(2026, 1, 2, 5, 4, 5, 999_999_500, time.FixedZone("", 2*3600))})
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range []model.Try{
		{At: 499, Latency: 1, Request: 1, Caller: "web", Service: "db", Number: 1, OK: true},
		{At: 500, Latency: 1_234_567, Request: 1<<63 - 1, Caller: "a b", Service: `"x", y`, Number: 2, Code: 503, Guarded: true},
		{At: 2e9 + 1500, Latency: 2e9, Request: 2, Number: 3, Code: policies.ErrTimeout, Abandoned: true, Guarded: true, Breaker: policies.HalfOpen},
		{At: 3600e9, Request: 3, Caller: "web", Service: "db", Number: 1, Code: policies.ErrBreakerOpen, Guarded: true, Breaker: policies.Open},
		{At: 3600e9, Request: 4, Caller: "web", Service: "db", Number: 1, Pending: true},
	} {
		l.Try(&y)
	}
	if err := l.Close(); err != nil || l.Rows() != 5 {
		t.Fatalf("%v, %d rows", err, l.Rows())
	}
	const want = `ts,request_id,service,attempt,status,circuit_state,latency_ms,caller,abandoned
2026-01-02T03:04:05.999999Z,1,db,1,ok,none,0.000001,web,false
2026-01-02T03:04:06.000000Z,9223372036854775807,"""x"", y",2,503,closed,1.234567,"a b",false
2026-01-02T03:04:08.000001Z,2,"",3,timeout,half-open,2000.000000,"",true
2026-01-02T04:04:05.999999Z,3,db,1,breaker-open,open,0.000000,web,false
2026-01-02T04:04:05.999999Z,4,db,1,pending,none,0.000000,web,false
`
	if b.String() != want {
		t.Errorf("log\n%s\nwant\n%s", b.String(), want)
	}
}

// Every code has the word that lists of errors have for it.
func TestStatusWords(t *testing.T) {
	for code, want := range map[policies.ErrorCode]string{
		policies.ErrOther: "other", policies.ErrTimeout: "timeout", policies.ErrConnect: "connect-failure", policies.ErrConnectTimeout: "connect-timeout",
		policies.ErrReset: "reset", policies.ErrBreakerOpen: "breaker-open", policies.ErrLimit: "limit", policies.ErrLeft: "left", 100: "100", 429: "429", 599: "599", 6000: "other",
	} {
		var b bytes.Buffer
		l, _ := requestlog.New(&b, requestlog.Options{Format: requestlog.CSV})
		l.Try(&model.Try{Code: code})
		l.Close()
		if got := rows(t, b.Bytes())[0]["status"]; got != want {
			t.Errorf("code %d: status %q, want %q", code, got, want)
		}
		if want[0] > '9' && want != "other" {
			if err := (policies.ErrorList{RetryOn: []string{want}}).Validate(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Times go on correctly across seconds, days and 1970.
func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epoch := time.Unix(rapid.Int64Range(-62135596800, 200_000_000_000).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		var b bytes.Buffer
		l, err := requestlog.New(&b, requestlog.Options{Format: requestlog.CSV, Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		var at time.Duration
		for range rapid.IntRange(1, 5).Draw(t, "n") {
			at += time.Duration(rapid.Int64Range(0, 2e18).Draw(t, "gap"))
			l.Try(&model.Try{At: 0, OK: true})
			y := model.Try{OK: true}
			y.At = y.At.Add(at)
			l.Try(&y)
			if epoch.IsZero() {
				epoch = requestlog.DefaultEpoch
			}
			want = append(want, epoch.Format("2006-01-02T15:04:05.000000Z"), epoch.Add(at).Format("2006-01-02T15:04:05.000000Z"))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[1:] {
			if ts, _, _ := strings.Cut(line, ","); ts != want[i] {
				t.Fatalf("ts %s, want %s", ts, want[i])
			}
		}
	})
}

// The article's query, counted from the log, says what the ledger says, and
// the log has every kind of row.
func TestMeasuresOfTheLogAreTheLedgers(t *testing.T) {
	text, m := logged(t, storm(20*time.Second), requestlog.Options{Format: requestlog.CSV})
	all := rows(t, text)
	got := measured(all)
	if uint64(len(all)) != m.Tries || got.ratio.Cmp(big.NewRat(int64(m.Repeats), int64(m.Tries))) != 0 ||
		got.success.Cmp(big.NewRat(int64(m.RepeatsSucceeded), int64(m.Repeats))) != 0 ||
		uint64(got.most) != m.MostAttempts || uint64(got.open) != m.RefusedOpen {
		t.Errorf("%d rows, %+v; the ledger has %+v", len(all), got, m)
	}
	seen := map[string]int{}
	last, ended := "", true
	for _, r := range all {
		seen["status "+r["status"]]++
		seen["state "+r["circuit_state"]]++
		seen["abandoned "+r["abandoned"]]++
		seen["caller "+r["caller"]]++
		if r["ts"] < last || r["status"] != "pending" && !ended {
			t.Fatalf("row %v out of order", r)
		}
		last, ended = r["ts"], r["status"] != "pending"
	}
	for _, kind := range []string{"status ok", "status 503", "status timeout", "status breaker-open", "status limit", "status left", "status pending",
		"state none", "state closed", "state half-open", "state open", "abandoned true", "abandoned false", "caller user", "caller front"} {
		if seen[kind] == 0 {
			t.Errorf("no row with %s: %v", kind, seen)
		}
	}
}

// A breaker's state is the one that a try found: only what an open one has
// refused found it open.
func TestOpenMeansRefused(t *testing.T) {
	text, _ := logged(t, storm(20*time.Second), requestlog.Options{Format: requestlog.CSV})
	for _, r := range rows(t, text) {
		if r["circuit_state"] == "open" && r["status"] != "breaker-open" {
			t.Fatalf("%v passed an open breaker", r)
		}
	}
}

// Parquet has the rows of the CSV.
func TestParquet(t *testing.T) {
	text, _ := logged(t, storm(20*time.Second), requestlog.Options{Format: requestlog.CSV})
	file, _ := logged(t, storm(20*time.Second), requestlog.Options{Format: requestlog.Parquet})
	read, err := parquet.Read[requestlog.Row](bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	want := rows(t, text)
	if len(read) != len(want) {
		t.Fatalf("%d rows, want %d", len(read), len(want))
	}
	for i, r := range read {
		got := map[string]string{
			"ts": time.UnixMicro(r.TS).UTC().Format("2006-01-02T15:04:05.000000Z"), "request_id": fmt.Sprint(r.RequestID),
			"service": r.Service, "attempt": fmt.Sprint(r.Attempt), "status": r.Status, "circuit_state": r.CircuitState,
			"latency_ms": big.NewRat(r.LatencyNS, 1e6).FloatString(6), "caller": r.Caller, "abandoned": fmt.Sprint(r.Abandoned),
		}
		if fmt.Sprint(got) != fmt.Sprint(want[i]) {
			t.Fatalf("row %d: %v, want %v", i, got, want[i])
		}
	}
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	const schema = `message request_log {
	required int64 ts (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));
	required int64 request_id (INT(64,true));
	required binary service (STRING);
	required int32 attempt (INT(32,true));
	required binary status (STRING);
	required binary circuit_state (STRING);
	required int64 latency_ms (DECIMAL(18,6));
	required binary caller (STRING);
	required boolean abandoned;
}`
	if got := f.Schema().String(); got != schema {
		t.Errorf("schema\n%s\nwant\n%s", got, schema)
	}
}

// A sample has all tries of a request or none, follows from the request alone,
// and a greater share has more of the same.
func TestSample(t *testing.T) {
	config := storm(20 * time.Second)
	whole, _ := logged(t, config, requestlog.Options{Format: requestlog.CSV})
	tries := map[string]int{}
	for _, r := range rows(t, whole) {
		tries[r["request_id"]]++
	}
	smaller := map[string]bool{}
	for _, share := range []float64{1e-9, 0.1, 0.5, 0.75, 1 - 1e-12, 1} {
		text, _ := logged(t, config, requestlog.Options{Format: requestlog.CSV, Sample: share})
		sampled := map[string]int{}
		for _, r := range rows(t, text) {
			sampled[r["request_id"]]++
		}
		for id, n := range sampled {
			if n != tries[id] {
				t.Errorf("share %v: %d of %d tries of request %s", share, n, tries[id], id)
			}
		}
		for id := range smaller {
			if sampled[id] == 0 {
				t.Errorf("share %v has not request %s, which a smaller one has", share, id)
			}
			delete(smaller, id)
		}
		for id := range sampled {
			smaller[id] = true
		}
		n, p := float64(len(tries)), share
		if d := float64(len(sampled)) - n*p; math.Abs(d) > 4*math.Sqrt(n*p*(1-p))+1 {
			t.Errorf("share %v: %d of %d requests", share, len(sampled), len(tries))
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []requestlog.Options{
		{}, {Format: "xml"},
		{Format: requestlog.CSV, Sample: -0.1}, {Format: requestlog.CSV, Sample: 1.1}, {Format: requestlog.CSV, Sample: math.NaN()},
		{Format: requestlog.CSV, Epoch: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}, {Format: requestlog.CSV, Epoch: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if l, err := requestlog.New(io.Discard, o); err == nil || l != nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	for file, want := range map[string]requestlog.Format{"a.csv": requestlog.CSV, "b/c.PARQUET": requestlog.Parquet, "csv": "", "a.csv.gz": "", "": ""} {
		if f, err := requestlog.FormatOf(file); f != want || (err != nil) != (want == "") {
			t.Errorf("%q: format %q, %v", file, f, err)
		}
	}
}

// full is a disk with room for so many bytes.
type full struct{ room int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// The first error ends the log, is told once, and is Close's too.
func TestFullDisk(t *testing.T) {
	for _, format := range []requestlog.Format{requestlog.CSV, requestlog.Parquet} {
		l, err := requestlog.New(&full{100_000}, requestlog.Options{Format: format})
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		l.Failed = func(err error) {
			told++
			if !errors.Is(err, errFull) {
				t.Error(err)
			}
		}
		// Numbers that do not compress.
		for i := uint64(0); i < 600_000 && l.Err() == nil; i++ {
			l.Try(&model.Try{At: 0, Latency: time.Duration(i*0x9E3779B97F4A7C15>>10) / 100, Request: i, Number: 1})
		}
		if err := l.Close(); !errors.Is(err, errFull) || told != 1 || !errors.Is(l.Err(), errFull) {
			t.Errorf("%s: %v, told %d times", format, err, told)
		}
	}
}

// What no column holds is an error, and no wrong number.
func TestOutOfRange(t *testing.T) {
	for _, y := range []model.Try{{Request: 1 << 63}, {Number: 1 << 31}, {Latency: 1e18}, {Latency: -1}} {
		l, _ := requestlog.New(io.Discard, requestlog.Options{Format: requestlog.CSV})
		l.Try(&y)
		if l.Err() == nil || l.Rows() != 0 {
			t.Errorf("%+v is accepted", y)
		}
	}
}
