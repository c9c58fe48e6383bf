package conformance

import (
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var hystrix = library{
	versions: []string{string(presets.Hystrix1426), string(presets.Hystrix1513), string(presets.Hystrix1518)},
	kinds:    map[string]replayer{"breaker": replayHystrix, "rolling-number": replayHystrixNumber},
}

var hystrixStates = map[policies.State]string{policies.Closed: "closed", policies.Open: "open", policies.HalfOpen: "half-open"}

func replayHystrix(p *replay) {
	var c struct {
		Window   int64 `json:"window_ms"`
		Buckets  int   `json:"buckets"`
		Interval int64 `json:"snapshot_interval_ms"`
		Volume   int   `json:"volume_threshold"`
		Percent  int   `json:"error_threshold_pct"`
		Sleep    int64 `json:"sleep_window_ms"`
	}
	p.config(&c)
	config := presets.HystrixConfig{
		Version: presets.HystrixVersion(p.version()),
		Window:  ms(c.Window), SnapshotInterval: ms(c.Interval), SleepWindow: ms(c.Sleep),
		VolumeThreshold: c.Volume, ErrorThreshold: c.Percent,
	}
	never := time.Duration(-1)
	if config.Version != presets.Hystrix1513 {
		never = 0
	}
	if config.Version == presets.Hystrix1426 {
		config.Buckets = c.Buckets // in the 1.5 lines it follows from the others
	}
	b, err := presets.NewHystrix(config, policies.Host{Clock: p.clock, Classify: classify})
	p.must(err)
	under := make(calls)
	for p.next() {
		p.step(b, under)
		p.expect("x_state", hystrixStates[b.State()])
		since := never
		if t, ok := b.Since(); ok {
			since = t.Sub(epoch)
		}
		p.expect("x_since_ns", since)
		total, errors, percent := b.Health()
		p.expect("x_health_total", total)
		p.expect("x_health_errors", errors)
		p.expect("x_health_pct", percent)
	}
}

func replayHystrixNumber(p *replay) {
	var c struct {
		Window  int64 `json:"window_ms"`
		Buckets int   `json:"buckets"`
	}
	p.config(&c)
	n, err := presets.NewHystrixRollingNumber(ms(c.Window), c.Buckets, p.clock)
	p.must(err)
	for p.next() {
		switch op := p.text("op"); op {
		case "add":
			n.Add(p.integer("value"))
		case "read":
			p.expect("x_sum", n.Sum())
			p.expect("x_latest", n.Latest())
			p.expect("x_buckets", n.Buckets())
			p.expect("x_max", n.Max())
			p.expect("x_cumulative", n.Cumulative())
		case "reset":
			n.Reset()
		default:
			p.fail("op %q is unknown", op)
		}
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
