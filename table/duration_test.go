package table

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		d      time.Duration
		digits int
		want   string
	}{
		{0, 4, "0s"},
		{64_733_249_999, 6, "1m4.7332s"},
		{-64_733_250_000, 6, "-1m4.7333s"},
		{64_733_249_999, 3, "1m4.7s"},
		{59_999_999_999, 5, "1m"},
		{-time.Minute, 5, "-1m"},
		{10 * time.Minute, 1, "10m"},
		{time.Hour, 4, "1h"},
		{70 * time.Minute, 4, "1h10m"},
		{time.Hour + 5*time.Second, 4, "1h0m5s"},
		{1_234_567, 4, "1.235ms"},
		{999_999, 5, "1ms"},
		{9, 1, "9ns"},
		{15, 1, "20ns"},
		{1_234_567_891, 0, "1.234567891s"},
		{time.Minute, 0, "1m"},
		{1_234_567_891, 99, "1.234567891s"},
	} {
		if got := Duration(c.d, c.digits); got != c.want {
			t.Errorf("%v to %d digits: %q, want %q", c.d, c.digits, got, c.want)
		}
	}
}

// What is written is read back, and is no further off than half of the last
// digit.
func TestDurationIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		digits := rapid.IntRange(0, 20).Draw(t, "digits")
		text := Duration(d, digits)
		got, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%v to %d digits: %v", int64(d), digits, err)
		}
		off := 0.5 * math.Pow(10, -float64(digits-1)) * math.Abs(float64(d))
		if digits == 0 && got != d || math.Abs(float64(got)-float64(d)) > off*(1+1e-9) {
			t.Fatalf("%v to %d digits is %q", d, digits, text)
		}
		if again := Duration(got, digits); again != text {
			t.Fatalf("%q is rounded again to %q", text, again)
		}
	})
}
