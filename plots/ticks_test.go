package plots

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNumber(t *testing.T) {
	tests := []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, -1, "0"},
		{0, 2, "0.00"},
		{1080000, 0, "1,080,000"},
		{1000, -1, "1,000"},
		{999.5, 1, "999.5"},
		{-0.5, -1, "−0.5"},
		{-1234.25, 2, "−1,234.25"},
		{-0.001, 2, "0.00"}, // no "−0.00"
		{0.018, -1, "0.018"},
		{1e-7, -1, "1e−7"},
		{-2.5e21, 0, "−2.5e21"},
		{1e-12, 0, "1e−12"},
		{math.Inf(1), 0, "∞"},
		{math.Inf(-1), 0, "−∞"},
		{math.NaN(), 0, "undefined"},
	}
	for _, tt := range tests {
		if got := Number(tt.v, tt.decimals); got != tt.want {
			t.Errorf("Number(%v, %d) = %q, want %q", tt.v, tt.decimals, got, tt.want)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	tests := []struct {
		lo, hi float64
		n      int
		want   []float64
	}{
		{0, 20, 5, []float64{0, 5, 10, 15, 20}},
		{0, 1, 5, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{0, 0.3, 3, []float64{0, 0.1, 0.2, 0.3}},
		{-1, 1, 2, []float64{-1, 0, 1}},
		{0, 13, 10, []float64{0, 2, 4, 6, 8, 10, 12}},
		{5, 342, 4, []float64{100, 200, 300}},
		{0, 1, 1, []float64{0, 1}},
		{0, 1, 0, []float64{0, 1}},
	}
	for _, tt := range tests {
		if got := linearTicks(tt.lo, tt.hi, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("linearTicks(%v, %v, %d) = %v, want %v", tt.lo, tt.hi, tt.n, got, tt.want)
		}
	}
}

func TestLogTicks(t *testing.T) {
	tests := []struct {
		lo, hi float64
		n      int
		want   []float64
	}{
		{0.5, 500, 10, []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500}},
		{0.5, 500, 9, []float64{1, 3, 10, 30, 100, 300}},
		{0.5, 500, 5, []float64{1, 10, 100}},
		{1, 1e6, 4, []float64{1, 100, 1e4, 1e6}},
		{1, 1e9, 4, []float64{1, 1e3, 1e6, 1e9}},
		{3, 4, 4, nil},
	}
	for _, tt := range tests {
		if got := logTicks(tt.lo, tt.hi, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("logTicks(%v, %v, %d) = %v, want %v", tt.lo, tt.hi, tt.n, got, tt.want)
		}
	}
}

// Ticks of any range are increasing, inside it, few, and read differently.
func TestTicksProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		log := rapid.Bool().Draw(t, "log")
		lo := rapid.Float64Range(-1e9, 1e9).Draw(t, "lo")
		hi := lo + rapid.Float64Range(1e-3, 1e9).Draw(t, "span")
		values := func() []float64 { return linearTicks(lo, hi, n) }
		if log {
			lo = math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "exp"))
			hi = lo * math.Pow(10, rapid.Float64Range(0.01, 12).Draw(t, "decades"))
			values = func() []float64 { return logTicks(lo, hi, n) }
		}
		ticks := label(values(), nil, !log)
		if len(ticks) > max(n, 2)+1 {
			t.Fatalf("%d ticks, want at most %d", len(ticks), max(n, 2)+1)
		}
		for i, k := range ticks {
			slack := 2e-9 * max(math.Abs(lo), math.Abs(hi), niceStep(hi-lo, n))
			if k.value < lo-slack || k.value > hi+slack {
				t.Fatalf("tick %v outside [%v, %v]", k.value, lo, hi)
			}
			if i > 0 && (k.value <= ticks[i-1].value || k.label == ticks[i-1].label) {
				t.Fatalf("tick %v %q after %v %q", k.value, k.label, ticks[i-1].value, ticks[i-1].label)
			}
		}
	})
}

// A loosened range contains the range and is not much wider.
func TestLoosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + rapid.Float64Range(1e-2, 1e6).Draw(t, "span")
		n := rapid.IntRange(1, 12).Draw(t, "n")
		a, b := loosen(lo, hi, n)
		step := niceStep(hi-lo, n)
		if eps := 1e-6 * step; a > lo+eps || b < hi-eps || a < lo-step-eps || b > hi+step+eps {
			t.Fatalf("loosen(%v, %v, %d) = %v, %v with steps of %v", lo, hi, n, a, b, step)
		}
	})
}

func TestLogBounds(t *testing.T) {
	for _, tt := range []struct{ v, below, above float64 }{
		{1, 1, 1}, {1.5, 1, 2}, {3, 2, 5}, {7, 5, 10}, {0.24, 0.2, 0.5}, {331.7, 200, 500}, {10, 10, 10}, {0.05, 0.05, 0.05},
	} {
		if b, a := logBelow(tt.v), logAbove(tt.v); b != tt.below || a != tt.above {
			t.Errorf("%v is between %v and %v, want %v and %v", tt.v, b, a, tt.below, tt.above)
		}
	}
}
