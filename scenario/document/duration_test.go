package document

import (
	"strings"
	"testing"
	"time"
)

func TestParseISO(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"P2W": 14 * day, "p1w2dt3h4m5s": 9*day + 3*time.Hour + 4*time.Minute + 5*time.Second, "P1D": day, "PT36H": 36 * time.Hour,
		"PT0.5S": time.Second / 2, "PT0,5S": time.Second / 2, "PT5.S": 5 * time.Second, "PT0.000000001S": 1, "PT1.5M": 90 * time.Second,
		"P0.5D": 12 * time.Hour, "P1DT0.1H": day + 6*time.Minute, "P0.000000001W": 604800, "PT0S": 0,
		"PT9223372036.854775807S": 1<<63 - 1, "PT9007199.254740993S": 9007199254740993, // more digits than a float64 has
	} {
		if got, err := ParseISO(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "is no duration", "P": "is no duration", "PT": "is no duration", "P1DT": "is no duration", "P1Y": "is no duration", "P1M": "is no duration",
		"PT1S2M": "is no duration", "PT1S1S": "is no duration", "P1D1W": "is no duration", "PT1.5H30M": "is no duration", "P1.5DT1H": "is no duration",
		"PT.5S": "is no duration", "PT1..5S": "is no duration", "PT0.0000000001S": "is no duration", "P-1D": "is no duration", "-P1D": "is no duration",
		"PT1ſ": "is no duration", "PT10": "is no duration", "10s": "is no duration", "PT1S ": "is no duration",
		"PT9223372036.854775808S": "is too long", "P99999999999999999999D": "is too long", "P15250W2D": "is too long", "P15250WT48H": "is too long",
	} {
		if got, err := ParseISO(text); err == nil || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
}
