package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// What the libraries' defaults mean at 10 calls a second that take 100 ms.
func TestLibraryBreakers(t *testing.T) {
	for name, want := range map[string]struct{ holds, minimum, fresh, healthy float64 }{
		"count-window":         {20, 20, 2, 1},
		"time-window":          {100, 20, 2, 5},
		"resilience4j-count":   {100, 100, 10, 5},
		"resilience4j-time":    {1000, 100, 10, 50},
		"hystrix-1.4":          {100, 20, 2, 5},
		"gobreaker":            {never, 6, 0.6, 0.6},
		"failsafe-count":       {1, 1, 0.1, 0.1},
		"failsafe-time":        {100, 1, 0.1, 0.1},
		"polly":                {300, 100, 10, 3},
		"sentinel-error-ratio": {50, 10, 1, 2.5},
		"sentinel-error-count": {50, 50, 5, 5},
		"sentinel-slow":        {50, 10, never, never},
		"envoy-outlier":        {never, 5, 0.5, 0.5},
		"google-sre":           {1200, 1, never, never},
		"kratos-sre":           {30, 100, never, never},
	} {
		p, err := presets.FindBreaker(name)
		if err != nil {
			t.Fatal(err)
		}
		b := of(t, link(10, 100*ms, preset(p.Defaults()), timeout(time.Second))).Breakers[0]
		near(t, name+": calls in the window", b.Holds, want.holds)
		near(t, name+": minimum", b.Minimum, want.minimum)
		near(t, name+": opening of an empty window", b.Fresh, want.fresh)
		near(t, name+": opening of a healthy window", b.Healthy, want.healthy)
	}
}

func TestOddLibrarySettings(t *testing.T) {
	h := presets.Hystrix14Defaults()
	h.ErrorThreshold = 101
	e := presets.EnvoyOutlierDefaults()
	e.Hosts = 5
	sentinel := presets.SentinelConfig{Strategy: presets.SentinelErrorRatio, Threshold: 0.5, MinRequestAmount: 10, StatInterval: time.Second, BucketCount: 1,
		RetryTimeout: time.Second, ProbeNum: 3}
	for _, tc := range []struct {
		p        policies.BreakerMaker
		rule     string
		severity explain.Severity
		words    string
	}{
		{h, "breaker-never-opens", explain.Problem, "the threshold is 101 % of errors"},
		{e, "breaker-never-opens", explain.Problem, "10 % of 5 hosts is less than one"},
		{sentinel, "probes-unlimited", explain.Warning, "in half-open every call passes"},
		{presets.AegisDefaults(), "breaker-never-opens", explain.Problem, "10/s × 3s = 30 < 100"},
		{presets.GobreakerConfig{ReadyToTrip: "requests >= 10 && total_failures/requests >= 0.5"}, "history-grows", explain.Warning, ""},
		{presets.GobreakerConfig{ReadyToTrip: "total_failures/requests > 1"}, "breaker-never-opens", explain.Problem, "no share is above 100 %"},
		{presets.SentinelConfig{Strategy: presets.SentinelSlowRatio, Threshold: 0.5, MinRequestAmount: 1, StatInterval: time.Second, BucketCount: 1,
			RetryTimeout: time.Second, MaxAllowedRT: 200 * ms}, "failures-ignored", explain.Warning, "within 200ms"},
	} {
		says(t, of(t, link(10, 100*ms, preset(tc.p), timeout(time.Second))), tc.rule, tc.severity, tc.words)
	}
}
