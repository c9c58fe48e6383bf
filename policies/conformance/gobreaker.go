package conformance

import (
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var gobreaker = library{
	versions: []string{"v2.4.0"},
	kinds:    map[string]replayer{"breaker": replayGobreaker},
}

// gobreakerRefusals are the library's errors by the state that refuses.
var gobreakerRefusals = map[policies.State]string{policies.Open: "open", policies.HalfOpen: "too_many"}

func replayGobreaker(p *replay) {
	var c struct {
		MaxRequests  int    `json:"max_requests"`
		Interval     int64  `json:"interval_ns"`
		BucketPeriod int64  `json:"bucket_period_ns"`
		Timeout      int64  `json:"timeout_ns"`
		ReadyToTrip  string `json:"ready_to_trip"`
		IsExcluded   string `json:"is_excluded"`
		ZeroMeans    string `json:"zero_means"`
	}
	p.config(&c)
	if c.IsExcluded != "outcome == excluded" {
		p.fail("config: is_excluded %q is unknown", c.IsExcluded)
	}
	if c.ZeroMeans != "" && !strings.HasPrefix(c.ZeroMeans, "library default") {
		p.fail("config: zero_means %q is unknown", c.ZeroMeans)
	}
	b, err := presets.NewGobreaker(presets.GobreakerConfig{
		MaxRequests: c.MaxRequests, Interval: ns(c.Interval), BucketPeriod: ns(c.BucketPeriod),
		Timeout: ns(c.Timeout), ReadyToTrip: c.ReadyToTrip,
	}, policies.Host{Clock: p.clock, Classify: classify})
	p.must(err)
	under := make(calls)
	for p.next() {
		refusal := ""
		if p.step(b, under) {
			refusal = gobreakerRefusals[b.State()]
		}
		p.expect("x_error", refusal)
		p.expect("x_state", b.State().String())
		n := b.Counts()
		p.expect("x_requests", n.Requests)
		p.expect("x_succ", n.TotalSuccesses)
		p.expect("x_fail", n.TotalFailures)
		p.expect("x_excl", n.TotalExclusions)
		p.expect("x_consec_succ", n.ConsecutiveSuccesses)
		p.expect("x_consec_fail", n.ConsecutiveFailures)
	}
}
