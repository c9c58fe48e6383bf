package plots

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func labels(a axis) (out []string) {
	for _, t := range a.ticks {
		out = append(out, t.label)
	}
	return out
}

func TestAxisTicks(t *testing.T) {
	tests := []struct {
		name   string
		axis   Axis
		values []float64
		loose  bool
		want   []string
	}{
		{"from zero to a tick", Axis{}, []float64{3, 18}, true, []string{"0", "5", "10", "15", "20"}},
		{"no longer than the data", Axis{}, []float64{3, 18}, false, []string{"0", "5", "10", "15"}},
		{"equal decimals, plain zero", Axis{}, []float64{1}, true, []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{"thousands", Axis{}, []float64{2000}, true, []string{"0", "500", "1,000", "1,500", "2,000"}},
		{"negative", Axis{}, []float64{-1, 1}, true, []string{"−1.0", "−0.5", "0", "0.5", "1.0"}},
		{"all zero", Axis{}, []float64{0}, true, []string{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}},
		{"given ticks widen", Axis{Ticks: []float64{0, 25, 50}}, []float64{20}, false, []string{"0", "25", "50"}},
		{"given ticks keep to a range", Axis{Range: [2]float64{10, 30}, Ticks: []float64{0, 25, 50}}, []float64{20}, false, []string{"25"}},
		{"range", Axis{Range: [2]float64{90, 100}}, []float64{95}, true, []string{"90", "92", "94", "96", "98", "100"}},
		{"log", Axis{Kind: Log, Ticks: []float64{0.5, 1, 2, 5, 10, 20, 100, 500}}, []float64{0.5, 500}, false,
			[]string{"0.5", "1", "2", "5", "10", "20", "100", "500"}},
		{"log, own ticks", Axis{Kind: Log}, []float64{1, 1000}, false, []string{"1", "10", "100", "1,000"}},
		{"log of one value", Axis{Kind: Log}, []float64{10}, false, []string{"5", "10", "20"}},
		{"log with zero", Axis{Kind: LogZero}, []float64{0, 300}, true, []string{"0", "200", "500"}},
		{"format", Axis{Format: func(v float64) string { return Number(v, 0) + " h" }}, []float64{4}, true, []string{"0 h", "1 h", "2 h", "3 h", "4 h"}},
		{"rows", Axis{Rows: []string{"a", "b"}}, []float64{0, 1}, true, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := newExtent()
			e.add(tt.values...)
			a, err := tt.axis.resolve(e, 5, tt.loose)
			if err != nil {
				t.Fatal(err)
			}
			if got := labels(a); !slices.Equal(got, tt.want) {
				t.Errorf("ticks %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAxisErrors(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		axis   Axis
		values []float64
		want   string
	}{
		{Axis{}, []float64{inf}, "value +Inf, want finite ones or an axis with Never"},
		{Axis{Kind: Log}, []float64{0, 1}, "value 0 on a logarithmic axis, want above 0 or LogZero"},
		{Axis{Kind: Log}, []float64{-2}, "value -2 on a logarithmic axis"},
		{Axis{Kind: LogZero}, []float64{-2}, "value -2 on a logarithmic axis with a zero, want at least 0"},
		{Axis{Kind: 9}, nil, "kind 9, want"},
		{Axis{Range: [2]float64{2, 1}}, nil, "range 2 to 1, want finite and increasing"},
		{Axis{Range: [2]float64{nan, 1}}, nil, "range NaN to 1"},
		{Axis{Range: [2]float64{1, inf}}, nil, "range 1 to +Inf"},
		{Axis{Kind: Log, Range: [2]float64{0, 1}}, nil, "range from 0 on a logarithmic axis, want above 0"},
		{Axis{Ticks: []float64{nan}}, nil, "tick NaN, want finite"},
		{Axis{Kind: Log, Ticks: []float64{0}}, nil, "tick 0, want finite, and above 0"},
		{Axis{}, []float64{1e200}, "value 1e+200, want at most 1e+100 in size"},
		{Axis{Kind: Log}, []float64{1e-200}, "value 1e-200, want 0 or at least 1e-100"},
		{Axis{Range: [2]float64{1, 1 + 1e-15}}, nil, "want it wider"},
		{Axis{Rows: []string{}}, nil, "no rows, want at least 1"},
		{Axis{Rows: []string{"a", "b"}}, []float64{2}, "row 2, want 0 to 1"},
		{Axis{Rows: []string{"a", "b"}}, []float64{-1, 1}, "row -1, want 0 to 1"},
		{Axis{Rows: []string{"a"}, Never: "never"}, []float64{inf}, `never "never" on an axis of rows`},
	}
	for _, tt := range tests {
		e := newExtent()
		e.add(tt.values...)
		_, err := tt.axis.resolve(e, 5, true)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v with %v: error %v, want %q", tt.axis, tt.values, err, tt.want)
		}
	}
}

// The ends of intervals widen an axis upwards, but an axis of counts does not
// become negative, and a logarithmic one does not go down to where they end.
func TestIntervalsAndRange(t *testing.T) {
	for _, tt := range []struct {
		kind   Kind
		lo, hi float64
	}{{Linear, 0, 0.8}, {Log, 0.2, 1}, {LogZero, 0.2, 1}} {
		e := newExtent()
		e.add(0.24)
		e.bound(-0.26, 0.74, math.NaN(), inf)
		a, err := Axis{Kind: tt.kind}.resolve(e, 5, true)
		if err != nil {
			t.Fatal(err)
		}
		if a.lo != tt.lo || a.hi != tt.hi {
			t.Errorf("kind %d: range %v to %v, want %v to %v", tt.kind, a.lo, a.hi, tt.lo, tt.hi)
		}
	}
}
