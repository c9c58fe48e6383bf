package explain

import "testing"

func TestSeconds(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0s", 1.9e-9: "2ns", 60: "1m", 59.99999: "1m", 3600: "1h", 0.3 - 1e-10: "300ms", 64.73325: "1m4.733s", 1e9: "1e+09s", 0.1 + 0.2: "300ms", never: "never",
	} {
		if got := seconds(x); got != want {
			t.Errorf("%v s: %q, want %q", x, got, want)
		}
	}
}
