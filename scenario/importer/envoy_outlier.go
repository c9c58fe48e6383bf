package importer

import (
	"fmt"
	"strconv"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// envoyOutlier is the outlier detection of a cluster with so many hosts, 0 if
// nothing says how many.
func envoyOutlier(r *reader, name string, cluster settings, hosts int, where string) *policy {
	s, _ := cluster.child("outlier_detection")
	p := r.policy(name+"-outlier", "breaker", s)
	p.openOutlier(name, "Envoy")
	c := presets.EnvoyOutlierDefaults()
	c.Consecutive5xx = p.limited("consecutive5xx", c.Consecutive5xx, "a run of 5xx that ejects", "consecutive_5xx")
	c.ConsecutiveGatewayFailure = p.limited("consecutive_gateway_failure", c.ConsecutiveGatewayFailure, "a run of 502 to 504", "consecutive_gateway_failure")
	c.EnforcingConsecutive5xx = p.count("enforcing_consecutive5xx", 0, c.EnforcingConsecutive5xx, "%", "enforcing_consecutive_5xx")
	c.EnforcingConsecutiveGatewayFailure = p.count("enforcing_consecutive_gateway_failure", 0, c.EnforcingConsecutiveGatewayFailure, "%",
		"enforcing_consecutive_gateway_failure")
	p.outlierRates(&c)
	c.Interval = p.duration("interval", protoDuration, c.Interval, "interval")
	c.BaseEjectionTime = p.duration("base_ejection_time", protoDuration, c.BaseEjectionTime, "base_ejection_time")
	p.note("the n-th ejection in a row is n times as long")
	c.MaxEjectionTime = p.duration("max_ejection_time", protoDuration, max(c.MaxEjectionTime, c.BaseEjectionTime), "max_ejection_time")
	if s.has("max_ejection_time_jitter") {
		c.MaxJitter = p.duration("max_jitter", protoDuration, 0, "max_ejection_time_jitter")
	}
	c.MaxEjectionPercent = p.count("max_ejection_percent", 0, c.MaxEjectionPercent, "%", "max_ejection_percent")
	if c.AlwaysEjectOneHost = s.flag(false, "always_eject_one_host"); s.has("always_eject_one_host") {
		p.set("always_eject_one_host", strconv.FormatBool(c.AlwaysEjectOneHost), from(s, "always_eject_one_host"))
	}
	p.ejected(&c, hosts, where)
	p.must(c.Validate())
	p.close(1)
	return p
}

// openOutlier begins the parameters of an outlier detection.
func (p *policy) openOutlier(name, library string) {
	p.set("preset", "envoy-outlier", "ejects the host; others take its calls in "+library+", here they are refused")
	p.open("params")
	p.r.oneHost("outlier detection of %s (%s)", name, library)
}

// outlierRates reads what ejects by the share of failures, and says that it does
// nothing where the breaker knows a single host.
func (p *policy) outlierRates(c *presets.EnvoyOutlierConfig) {
	for _, x := range []struct {
		key  string
		to   *int
		unit string
	}{
		{"success_rate_minimum_hosts", &c.SuccessRateMinimumHosts, "hosts"},
		{"success_rate_request_volume", &c.SuccessRateRequestVolume, "answers"},
		{"success_rate_stdev_factor", &c.SuccessRateStdevFactor, "thousandths of a deviation"},
		{"failure_percentage_threshold", &c.FailurePercentageThreshold, "%"},
		{"failure_percentage_minimum_hosts", &c.FailurePercentageMinimumHosts, "hosts"},
		{"failure_percentage_request_volume", &c.FailurePercentageRequestVolume, "answers"},
		{"enforcing_failure_percentage", &c.EnforcingFailurePercentage, "%"},
	} {
		n, e, ok := p.whole(0, x.key)
		switch {
		case ok && n > most:
			*x.to = most
			p.set(x.key, strconv.Itoa(most), source(e)+": never")
		case ok:
			*x.to = p.count(x.key, 0, *x.to, x.unit, x.key)
		}
	}
	c.EnforcingSuccessRate = p.count("enforcing_success_rate", 0, c.EnforcingSuccessRate, "%", "enforcing_success_rate")
	if c.EnforcingSuccessRate > 0 {
		p.note("no effect here: Envoy compares the success of hosts, the breaker knows one")
	}
	if least := c.FailurePercentageMinimumHosts; c.EnforcingFailurePercentage > 0 && least > 1 {
		p.note("no effect here: a failure percentage wants %d hosts with answers, the breaker knows one", least)
	}
}

// ejected writes how many hosts there are, and how many of them may be out.
func (p *policy) ejected(c *presets.EnvoyOutlierConfig, hosts int, where string) {
	few := "none is ever ejected"
	switch n := c.MaxEjectionPercent; {
	case n >= 100:
		few = "all of them may be out"
	case hosts > 0 && hosts*n >= 100:
		few = fmt.Sprintf("at most %d may be out", hosts*n/100)
	case c.AlwaysEjectOneHost:
		few = "one may be out in any case"
	case n > 0 && hosts == 0:
		few = "of fewer than " + strconv.Itoa((100+n-1)/n) + " none is ever ejected"
	}
	if hosts == 0 {
		hosts, where = 10, madeUp+"how many there are"
	}
	c.Hosts = hosts
	p.set("hosts", strconv.Itoa(hosts), where+"; "+few)
}

// limited is count for a number that is as good as none from 2^31 on: never.
func (p *policy) limited(key string, def int, unit string, names ...string) int {
	if n, e, ok := p.whole(0, names...); ok && n > most {
		p.set(key, "0", source(e)+": never")
		return 0
	}
	return p.count(key, 0, def, unit, names...)
}

// envoyHosts counts the endpoints that a cluster lists, 0 if it lists none, and
// says where they are from.
func envoyHosts(cluster settings) (hosts int, where string) {
	e, ok := cluster.find(consumed, "load_assignment", "hosts")
	if !ok {
		return 0, ""
	}
	r := cluster.r
	switch e.value.Kind {
	case yaml.SequenceNode: // before version 3
		hosts = len(e.value.Content)
	case yaml.MappingNode:
		for _, group := range r.at(e.value, e.place.Path).list(consumed, "endpoints") {
			if group.value.Kind == yaml.MappingNode {
				hosts += len(r.at(group.value, group.place.Path).list(consumed, "lb_endpoints"))
			}
		}
	}
	where = fmt.Sprintf("%s (line %d): addresses that it lists", e.name, document.Resolve(e.key).Line)
	if kind, _, _ := cluster.text("type"); kind == "STRICT_DNS" {
		where += ", each of which may be that of several hosts"
	}
	return hosts, where
}
