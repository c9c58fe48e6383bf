package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Envoy's outlier detection: envoyproxy/envoy,
// source/common/upstream/outlier_detection_impl.cc at 00c7146d (with
// always_eject_one_host, so 1.31 or later) and api/envoy/config/cluster/v3/
// outlier_detection.proto at b62b88e0. It was read, not recorded, and follows
// policy-semantics.md 2.8; what that page leaves open was decided by the source.
//
//   - It looks at each host of a cluster on its own and takes bad ones out of the
//     load balancer's choice for a time. There is no half-open: a host comes back
//     with all its traffic.
//   - A run of 5xx, or of 502, 503 and 504, ejects when it is exactly as long as
//     configured, at once. The count starts again when it has been found, ejected
//     or not. That of an ejected host goes on, and starts again when it comes back.
//   - All else happens at the ends of intervals that follow each other from the
//     start: hosts come back whose time is over; then the answers of the interval
//     that has ended are looked at. So an ejection lasts to the end of an interval.
//   - Success rate: too low is strictly below mean - factor * deviation (of the
//     population) of the hosts with enough answers, none of which is ejected.
//     Failure percentage: reached is too many.
//   - The n-th ejection of a host that does not recover lasts n times the base, up
//     to the maximum. The multiplier falls by 1 at each end of an interval at which
//     a host is found well, but not at the one at which it came back.
//   - Found outliers are ejected by the percentage of "enforcing", and only while
//     not too many hosts are out: see MaxEjectionPercent.
//
// Differences: Envoy goes through its hosts in no certain order, here they go in
// that of their numbers; Envoy ejects a host twice that fails by success rate and by
// failure percentage at the same time (and its count of ejected hosts never
// recovers), here once. Health checks, panic routing, split local-origin errors
// and monitor extensions are left out.
//
// An answer is a 5xx if its error is a status from 500 to 599, or none that Envoy
// knows: as in Envoy a timeout is a 504, a refused or broken connection a 503,
// anything else a 500. What Envoy itself refused or the caller gave up does not
// count. Other statuses are good answers. If there is a Host.Classify, that
// decides what is good, bad or does not count, and the error only whether it is a
// gateway failure.

// An EnvoyOutlierConfig is an OutlierDetection of Envoy. Zeros are zeros, except
// where it says otherwise.
type EnvoyOutlierConfig struct {
	Consecutive5xx            int // length of a run of 5xx; 0 is never
	ConsecutiveGatewayFailure int // length of a run of 502, 503 or 504; 0 is never

	Interval         time.Duration // between looks at all hosts, whole ms above 0
	BaseEjectionTime time.Duration // length of the first ejection, whole ms above 0
	MaxEjectionTime  time.Duration // of the longest, at least the base; 0 is 300 s or the base, whichever is longer
	MaxJitter        time.Duration // added to each ejection, uniform in whole ms

	// MaxEjectionPercent bounds the hosts that are out, 0 to 100: with the
	// candidate they may be that share at most. With the default of 10 % fewer
	// than 10 hosts eject nothing.
	MaxEjectionPercent int `unit:"percent"`
	// Before128 takes the candidate out of that: those already out must be less
	// than that share, so one can always go, and a second from 11 hosts on. It is
	// the rule before 1.28. In the version with that rule that was read,
	// multipliers fell before outliers were looked for, so that a host that is
	// ejected by every look never stays out for longer than the first time.
	Before128 bool
	// AlwaysEjectOneHost lets one go in any case.
	AlwaysEjectOneHost bool

	SuccessRateMinimumHosts  int // hosts with enough answers; fewer are not compared
	SuccessRateRequestVolume int // answers in the interval that are enough
	SuccessRateStdevFactor   int // deviations below the mean that are too many, in thousandths

	FailurePercentageThreshold     int `unit:"percent"` // failures that are too many, 0 to 100
	FailurePercentageMinimumHosts  int // hosts with enough answers; of fewer none is ejected
	FailurePercentageRequestVolume int // answers in the interval that are enough

	EnforcingConsecutive5xx            int `unit:"percent"` // found outliers that are ejected, 0 to 100
	EnforcingConsecutiveGatewayFailure int `unit:"percent"` // the same for runs of gateway failures
	EnforcingSuccessRate               int `unit:"percent"` // the same for success rates
	EnforcingFailurePercentage         int `unit:"percent"` // the same for failure percentages

	// Hosts is how many hosts the cluster is taken to have by a breaker that
	// knows one of them; 0 means 10.
	Hosts int
}

// EnvoyOutlierDefaults returns Envoy's defaults.
func EnvoyOutlierDefaults() EnvoyOutlierConfig {
	return EnvoyOutlierConfig{
		Consecutive5xx: 5, ConsecutiveGatewayFailure: 5,
		Interval: 10 * time.Second, BaseEjectionTime: 30 * time.Second, MaxEjectionTime: 300 * time.Second,
		MaxEjectionPercent:      10,
		SuccessRateMinimumHosts: 5, SuccessRateRequestVolume: 100, SuccessRateStdevFactor: 1900,
		FailurePercentageThreshold: 85, FailurePercentageMinimumHosts: 5, FailurePercentageRequestVolume: 50,
		EnforcingConsecutive5xx: 100, EnforcingSuccessRate: 100,
	}
}

// maxOutlierHosts bounds the work of a look at all hosts.
const maxOutlierHosts = 1 << 12

// Validate reports the first field that makes no sense.
func (c EnvoyOutlierConfig) Validate() error {
	f := fields{library: "envoy outlier detection"}
	f.count("consecutive 5xx", c.Consecutive5xx, 0)
	f.count("consecutive gateway failure", c.ConsecutiveGatewayFailure, 0)
	f.milliseconds("interval", c.Interval, time.Millisecond)
	f.milliseconds("base ejection time", c.BaseEjectionTime, time.Millisecond)
	if c.MaxEjectionTime != 0 {
		f.milliseconds("max ejection time", c.MaxEjectionTime, max(c.BaseEjectionTime, 0))
	}
	f.milliseconds("max jitter", c.MaxJitter, 0)
	f.count("success rate minimum hosts", c.SuccessRateMinimumHosts, 0)
	f.count("success rate request volume", c.SuccessRateRequestVolume, 0)
	f.count("success rate stdev factor", c.SuccessRateStdevFactor, 0)
	f.count("failure percentage minimum hosts", c.FailurePercentageMinimumHosts, 0)
	f.count("failure percentage request volume", c.FailurePercentageRequestVolume, 0)
	for _, p := range []struct {
		name  string
		value int
	}{
		{"max ejection percent", c.MaxEjectionPercent},
		{"failure percentage threshold", c.FailurePercentageThreshold},
		{"enforcing consecutive 5xx", c.EnforcingConsecutive5xx},
		{"enforcing consecutive gateway failure", c.EnforcingConsecutiveGatewayFailure},
		{"enforcing success rate", c.EnforcingSuccessRate},
		{"enforcing failure percentage", c.EnforcingFailurePercentage},
	} {
		if p.value < 0 || p.value > 100 {
			f.fail("%s %d, want 0 to 100", p.name, p.value)
		}
	}
	if c.Hosts < 0 || c.Hosts > maxOutlierHosts {
		f.fail("hosts %d, want 0 to %d", c.Hosts, maxOutlierHosts)
	}
	return f.err
}

// longest is the maximum ejection time.
func (c EnvoyOutlierConfig) longest() time.Duration {
	if c.MaxEjectionTime != 0 {
		return c.MaxEjectionTime
	}
	return max(EnvoyOutlierDefaults().MaxEjectionTime, c.BaseEjectionTime)
}

// NewCircuitBreaker implements [policies.BreakerMaker] for a caller that knows
// one host: it is the first of a cluster of Hosts, and the others are bystanders
// that get no calls and stay in. So a run of failures ejects, but success rates
// are not compared, and a failure percentage ejects only if a single host with
// answers is enough. With several hosts make an [OutlierDetector].
func (c EnvoyOutlierConfig) NewCircuitBreaker(h policies.Host) (policies.CircuitBreaker, error) {
	hosts := c.Hosts
	if hosts == 0 {
		hosts = 10
	}
	var onChange func(int, policies.Change)
	if h.OnChange != nil {
		onChange = func(_ int, change policies.Change) { h.OnChange(change) }
	}
	d, err := NewOutlierDetector(c, hosts, h, onChange)
	if err != nil {
		return nil, err
	}
	return d.Host(0), nil
}

// An outlierAnswer is what a response counts as.
type outlierAnswer uint8

const (
	answerGood    outlierAnswer = iota
	answerBad                   // a 5xx
	answerGateway               // a 502, 503 or 504
	answerNone                  // does not count
)

// answerOf sorts an outcome; the class counts if it was told.
func answerOf(o policies.Outcome, class policies.Class, told bool) outlierAnswer {
	if o.Err == nil && !told {
		return answerGood
	}
	byError := answerBad
	switch code := policies.CodeOf(o.Err); code {
	case policies.ErrTimeout, policies.ErrConnect, policies.ErrConnectTimeout, policies.ErrReset, 502, 503, 504:
		byError = answerGateway
	case policies.ErrBreakerOpen, policies.ErrLimit, policies.ErrLeft:
		byError = answerNone
	default:
		if code >= 100 && code < 500 {
			byError = answerGood
		}
	}
	switch {
	case !told:
		return byError
	case class == policies.Success:
		return answerGood
	case class == policies.Ignored:
		return answerNone
	case byError == answerGateway:
		return answerGateway
	}
	return answerBad
}
