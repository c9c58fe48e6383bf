package requestlog_test

import (
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/requestlog"
	"github.com/stormglass/stormglass/sim"
)

// tries makes n different tries of some services and gives each to f.
func tries(n int, f func(*model.Try)) {
	services := []string{"gateway", "orders", "payment", "stock"}
	y := model.Try{Client: "user", Caller: "gateway"}
	for i := range n {
		x := uint64(i) * 0x9E3779B97F4A7C15
		y.At = sim.Time(i) * 20_000
		y.Latency = time.Duration(x >> 36)
		y.Request, y.Number = uint64(i/2), uint32(i%2+1)
		y.Service = services[x>>62]
		y.OK, y.Code = i%3 > 0, 0
		if !y.OK {
			y.Code = 503
		}
		f(&y)
	}
}

// The memory that a log takes does not grow with its length.
func TestConstantMemory(t *testing.T) {
	n := 3_000_000
	if testing.Short() {
		n = 600_000
	}
	for _, c := range []struct {
		format requestlog.Format
		most   uint64 // bytes
	}{{requestlog.CSV, 2 << 20}, {requestlog.Parquet, 64 << 20}} {
		l, err := requestlog.New(io.Discard, requestlog.Options{Format: c.format})
		if err != nil {
			t.Fatal(err)
		}
		before := live()
		var peak uint64
		i := 0
		tries(n, func(y *model.Try) {
			l.Try(y)
			if i++; i%100_000 == 0 {
				peak = max(peak, live())
			}
		})
		if err := l.Close(); err != nil || l.Rows() != uint64(n) {
			t.Fatalf("%v, %d rows", err, l.Rows())
		}
		used := peak - min(before, peak)
		t.Logf("%s: %d rows, %.1f MB at most", c.format, n, float64(used)/(1<<20))
		if used > c.most {
			t.Errorf("%s: %d bytes at most in %d rows, want at most %d", c.format, used, n, c.most)
		}
	}
}

// live is the size of the heap that is in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A row of CSV allocates nothing.
func TestCSVAllocatesNothing(t *testing.T) {
	l, err := requestlog.New(io.Discard, requestlog.Options{Format: requestlog.CSV, Sample: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	tries(10_000, l.Try)
	y := model.Try{Service: "orders", Caller: "gateway", Number: 1, Code: 503, Guarded: true}
	if n := testing.AllocsPerRun(100_000, func() { y.Request++; y.At += 1e6; y.Latency = time.Duration(y.At % 1e9); l.Try(&y) }); n > 0 {
		t.Errorf("%v allocations for a row", n)
	}
}

func BenchmarkCSV(b *testing.B)     { benchmark(b, requestlog.CSV) }
func BenchmarkParquet(b *testing.B) { benchmark(b, requestlog.Parquet) }

func benchmark(b *testing.B, format requestlog.Format) {
	l, err := requestlog.New(io.Discard, requestlog.Options{Format: format})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	tries(b.N, l.Try)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}
