package conformance

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var sentinel = library{
	versions: []string{"f7a7f9575711440e3e00055c2cf2009d9c15d595 (v1.0.4-31)"},
	kinds:    map[string]replayer{"breaker": replaySentinel},
}

var sentinelStates = map[policies.State]string{policies.Closed: "Closed", policies.Open: "Open", policies.HalfOpen: "HalfOpen"}

func replaySentinel(p *replay) {
	var c struct {
		Strategy  presets.SentinelStrategy
		Threshold float64
		Min       int   `json:"min_request_amount"`
		Interval  int64 `json:"stat_interval_ns"`
		Buckets   int   `json:"bucket_count"`
		Retry     int64 `json:"retry_timeout_ns"`
		Probes    int   `json:"probe_num"`
		MaxRT     int64 `json:"max_allowed_rt_ns"`
	}
	p.config(&c)
	b, err := presets.NewSentinel(presets.SentinelConfig{
		Strategy: c.Strategy, Threshold: c.Threshold, MinRequestAmount: c.Min, StatInterval: ns(c.Interval),
		BucketCount: c.Buckets, RetryTimeout: ns(c.Retry), ProbeNum: c.Probes, MaxAllowedRT: ns(c.MaxRT),
	}, policies.Host{Clock: p.clock, Classify: classify})
	p.must(err)
	under := make(calls)
	for p.next() {
		p.step(b, under)
		p.expect("x_state", sentinelStates[b.State()])
		bad, total := b.Counts()
		p.expect("x_bad", bad)
		p.expect("x_total", total)
	}
}
