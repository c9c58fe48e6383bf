package importer

import (
	"slices"
	"strconv"

	"github.com/stormglass/stormglass/policies/presets"
)

// envoyConditions are the errors that the words of retry_on mean. A connection
// that fails or breaks and an attempt that times out become a 5xx in Envoy.
var envoyConditions = map[string][]string{
	"5xx":                {"5xx", "connect-failure", "reset", "timeout"},
	"gateway-error":      {"gateway-error", "connect-failure", "reset", "timeout"},
	"reset":              {"connect-failure", "reset", "timeout"},
	"connect-failure":    {"connect-failure"},
	"retriable-4xx":      {"409"},
	"unavailable":        {"503"},
	"internal":           {"500"},
	"resource-exhausted": {"429"},
	"deadline-exceeded":  {"504"},
	"cancelled":          {"499"},
}

// grpcConditions are those of the conditions that are statuses of gRPC.
var grpcConditions = []string{"unavailable", "internal", "resource-exhausted", "deadline-exceeded", "cancelled"}

// envoyErrors writes what is retried.
func (p *policy) envoyErrors(s settings, key string, otherwise ...string) {
	var on []string
	more := func(list ...string) {
		for _, x := range list {
			if !slices.Contains(on, x) {
				on = append(on, x)
			}
		}
	}
	conditions := s.texts(key)
	comment, guessed := key, false
	if len(conditions) > 0 {
		comment = source(conditions[0])
	}
	for _, e := range conditions {
		word := e.value.Value
		list, known := envoyConditions[word]
		switch code, err := strconv.Atoi(word); {
		case known:
			more(list...)
			guessed = guessed || slices.Contains(grpcConditions, word)
		case word == "retriable-status-codes":
			more(p.statuses(s)...)
		case err == nil && code >= 100 && code <= 599:
			more(word)
		default:
			p.r.lose(e.place.Line, "not in the model: %s: %s", e.name, word)
		}
	}
	switch {
	case len(conditions) == 0 && len(otherwise) > 0:
		on, comment, guessed = otherwise, "default", true
	case len(on) == 0:
		p.set("not_on", "[any]", comment+": nothing that the model has is retried")
		return
	}
	if guessed {
		comment += "; GUESSED: statuses of HTTP for those of gRPC"
	}
	p.set("on", inList(on), comment)
}

// statuses reads retriable_status_codes.
func (p *policy) statuses(s settings) (list []string) {
	for _, e := range s.texts("retriable_status_codes") {
		n, err := strconv.Atoi(e.value.Value)
		if err != nil || n < 100 || n > 599 {
			p.r.add(e.place, "%q, want a status from 100 to 599", e.value.Value)
			continue
		}
		list = append(list, strconv.Itoa(n))
	}
	return list
}

// envoyOutlier is the outlier detection of a cluster.
func envoyOutlier(r *reader, name string, cluster settings) *policy {
	s, _ := cluster.child("outlier_detection")
	p := r.policy(name+"-outlier", "breaker", s)
	p.set("preset", "envoy-outlier", "ejects the host; others take its calls in Envoy, here they are refused")
	p.open("params")
	c := presets.EnvoyOutlierDefaults()
	c.Consecutive5xx = p.limited("consecutive5xx", c.Consecutive5xx, "a run of 5xx that ejects", "consecutive_5xx")
	c.ConsecutiveGatewayFailure = p.limited("consecutive_gateway_failure", c.ConsecutiveGatewayFailure, "a run of 502 to 504", "consecutive_gateway_failure")
	c.EnforcingConsecutive5xx = p.count("enforcing_consecutive5xx", 0, c.EnforcingConsecutive5xx, "%", "enforcing_consecutive_5xx")
	c.EnforcingConsecutiveGatewayFailure = p.count("enforcing_consecutive_gateway_failure", 0, c.EnforcingConsecutiveGatewayFailure, "%",
		"enforcing_consecutive_gateway_failure")
	c.Interval = p.duration("interval", protoDuration, c.Interval, "interval")
	c.BaseEjectionTime = p.duration("base_ejection_time", protoDuration, c.BaseEjectionTime, "base_ejection_time")
	p.note("the n-th ejection in a row is n times as long")
	c.MaxEjectionTime = p.duration("max_ejection_time", protoDuration, max(c.MaxEjectionTime, c.BaseEjectionTime), "max_ejection_time")
	c.MaxEjectionPercent = p.ejected(c.MaxEjectionPercent, "max_ejection_percent")
	p.must(c.Validate())
	p.close(1)
	return p
}

// ejected writes how many hosts may be out, and of how many.
func (p *policy) ejected(def int, name string) int {
	n := p.count("max_ejection_percent", 0, def, "%", name)
	few := "none is ever ejected"
	if n == 100 {
		few = "all of them may be out"
	} else if n > 0 {
		few = "of fewer than " + strconv.Itoa((100+n-1)/n) + " none is ever ejected"
	}
	p.set("hosts", "10", madeUp+"how many there are; "+few)
	return n
}

// limited is count for a number that is as good as none from 2^31 on: never.
func (p *policy) limited(key string, def int, unit string, names ...string) int {
	if n, e, ok := p.whole(0, names...); ok && n > most {
		p.set(key, "0", source(e)+": never")
		return 0
	}
	return p.count(key, 0, def, unit, names...)
}
