package model

import (
	"math"
	"testing"

	"github.com/stormglass/stormglass/sim"
)

func TestLogUniform(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		want := math.Log(x)
		if got := logUniform(x); math.Abs(got-want) > 1e-15*max(1, math.Abs(want)) {
			t.Errorf("log of %v is %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{1, math.Nextafter(1, 0), 0.5, math.Nextafter(0.5, 0), math.Nextafter(0.5, 1), 0x1p-53, 0x1p-52, 0.75} {
		check(x)
	}
	r := sim.Stream(1, 0, "log")
	for range 100_000 {
		u := 1 - r.Float64()
		check(u)
		check(u * 0x1p-20)
	}
}

func BenchmarkLog(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"table": logUniform, "math": math.Log} {
		b.Run(name, func(b *testing.B) {
			x, sum := 0.5, 0.0
			for b.Loop() {
				sum += f(x)
				x = x*0.999 + 0.0003
			}
			_ = sum
		})
	}
}
