package importer

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// Sentinel and Dapr.

func isSentinel(root *yaml.Node) bool {
	return deep(root, 0, func(key string) bool { return key == "timeWindow" || key == "statIntervalMs" }) &&
		deep(root, 0, func(key string) bool { return key == "grade" || key == "resource" })
}

func readSentinel(r *reader, roots []*yaml.Node) {
	for _, root := range roots {
		list := []*yaml.Node{root}
		if n := document.Resolve(root); n.Kind == yaml.SequenceNode {
			list = n.Content
		}
		for i, n := range list {
			path := ""
			if len(list) > 1 {
				path = fmt.Sprintf("[%d]", i)
			}
			sentinelRule(r, r.at(n, path))
		}
	}
}

func sentinelRule(r *reader, s settings) {
	r.open(s)
	name, _, ok := s.text("resource")
	if !ok {
		name = "resource"
	}
	c := presets.SentinelExample()
	p := r.policy(name+"-breaker", "breaker", s)
	grade, e, given := s.whole(0, "grade")
	preset := []string{"sentinel-slow", "sentinel-error-ratio", "sentinel-error-count"}
	if grade > 2 {
		r.add(e.place, "%d, want 0 (response time), 1 (error ratio) or 2 (error count)", grade)
		grade = 0
	}
	said := "default of grade, 0"
	if given {
		said = source(e)
	}
	p.set("preset", preset[grade], said)
	p.open("params")
	switch grade {
	case 0:
		c.Strategy = presets.SentinelSlowRatio
		c.MaxAllowedRT = p.duration("max_allowed_rt", milliseconds, 0, "count")
		c.Threshold = p.fraction("threshold", 1, 1, "slowRatioThreshold")
	case 1:
		c.Strategy = presets.SentinelErrorRatio
		c.Threshold = p.fraction("threshold", 1, 1, "count")
	case 2:
		c.Strategy = presets.SentinelErrorCount
		x, e, _ := s.real(0, 1e9, "count")
		c.Threshold = x
		p.set("threshold", number(x), source(e)+": errors")
	}
	if !s.has("count") {
		r.add(s.place(), "no count, want it given")
	}
	c.MinRequestAmount = p.count("min_request_amount", 0, 5, "calls", "minRequestAmount")
	c.StatInterval = p.duration("stat_interval", milliseconds, time.Second, "statIntervalMs")
	c.RetryTimeout = p.duration("retry_timeout", bareSeconds, 0, "timeWindow")
	c.BucketCount, c.ProbeNum = 1, 0
	p.set("bucket_count", "1", "")
	p.set("probe_num", "0", "a single probe")
	p.must(c.Validate())
	p.close(1)
	stack := r.stack(name, s)
	stack.add(p)
}

func isDapr(root *yaml.Node) bool { return kind(root) == "Resiliency" }

func readDapr(r *reader, roots []*yaml.Node) {
	for _, root := range roots {
		spec, _ := r.resource(root)
		all, _ := spec.child("policies")
		find := func(section string, target settings, key string) (string, settings, bool) {
			name, e, ok := target.text(key)
			in, _ := all.child(section)
			for _, x := range in.maps[0].entries {
				if ok && x.name == name {
					r.marks[x.key] = max(r.marks[x.key], opened)
					return name, settings{r, []mapping{{nil, x.place, []entry{x}}}}, true
				}
			}
			if ok {
				r.add(e.place, "there is no %q in policies.%s", name, section)
			}
			return name, in, false
		}
		targets, _ := spec.child("targets")
		for _, kind := range []string{"apps", "actors", "components"} {
			group, _ := targets.child(kind)
			for _, e := range group.each() {
				target := r.at(e.value, e.place.Path)
				for _, direction := range []string{"outbound", "inbound"} {
					if kind == "components" && !target.has(direction) {
						continue
					}
					if kind == "components" {
						target, _ = target.child(direction)
					}
					daprTarget(r, e.name, target, find)
					break
				}
			}
		}
	}
}

// daprTarget makes the stack of a target: the retry outside of the breaker, and
// the timeout inside for each attempt.
func daprTarget(r *reader, name string, target settings, find func(string, settings, string) (string, settings, bool)) {
	stack := r.stack(name, target)
	if key, s, ok := find("retries", target, "retry"); ok {
		s, _ = s.child(key)
		p := r.policy(name+"-retry", "retry", s)
		text, e, given := s.text("maxRetries")
		if n, err := parseWhole(text); !given || err == nil && n == -1 {
			p.endless(0, "maxRetries: no bound")
		} else if err != nil || n < 0 {
			r.add(e.place, "%q, want a whole number, or -1 for no bound", text)
		} else {
			p.attempts(n+1, source(e)+", the first excluded")
		}
		p.set("on", "[any]", "default")
		p.open("backoff")
		switch policy, e, _ := s.text("policy"); policy {
		case "exponential":
			p.set("preset", "cenkalti", source(e)+"; default: 500 ms by 1.5, then ± 50 %")
			p.open("params")
			c := presets.CenkaltiDefaults()
			c.MaxInterval = p.duration("max_interval", goDuration, c.MaxInterval, "maxInterval")
			p.must(c.Validate())
			p.close(1)
		case "", "constant":
			if d, e, ok := s.span(goDuration, "duration"); ok && d == 0 {
				p.set("kind", "none", source(e)+": 0 ms")
			} else {
				p.duration("base", goDuration, 5*time.Second, "duration")
			}
		default:
			r.add(e.place, "%q, want constant or exponential", policy)
		}
		p.close(1)
		stack.add(p)
	}
	if key, s, ok := find("circuitBreakers", target, "circuitBreaker"); ok {
		s, _ = s.child(key)
		p := r.policy(name+"-breaker", "breaker", s)
		p.set("preset", "gobreaker", "")
		p.open("params")
		c := presets.GobreakerDefaults()
		c.MaxRequests = p.count("max_requests", 1, 1, "probes", "maxRequests")
		c.Interval = p.duration("interval", goDuration, 0, "interval")
		c.Timeout = p.duration("timeout", goDuration, c.Timeout, "timeout")
		if trip, e, ok := s.text("trip"); ok {
			c.ReadyToTrip = daprTrip(r, e, trip)
			p.set("ready_to_trip", fmt.Sprintf("%q", c.ReadyToTrip), source(e)+": "+trip)
		} else {
			p.set("ready_to_trip", `"consecutive_failures > 5"`, "default")
		}
		p.must(c.Validate())
		p.close(1)
		stack.add(p)
	}
	if key, s, ok := find("timeouts", target, "timeout"); ok {
		stack.add(r.timeout(name+"-timeout", s, goDuration, 0, "for an attempt", key))
	}
}

var comparison = regexp.MustCompile(`^\s*(consecutiveFailures|requests|totalFailures)\s*(>=|>)\s*(\d+)\s*$`)

// daprTrip turns the comparisons of a trip into those of gobreaker.
func daprTrip(r *reader, e entry, trip string) string {
	var parts []string
	for _, part := range strings.Split(trip, "&&") {
		m := comparison.FindStringSubmatch(part)
		if m == nil {
			r.add(e.place, "%q, want comparisons such as consecutiveFailures > 5, joined by &&", trip)
			return ""
		}
		name := map[string]string{"consecutiveFailures": "consecutive_failures", "requests": "requests", "totalFailures": "total_failures"}[m[1]]
		parts = append(parts, name+" "+m[2]+" "+m[3])
	}
	return strings.Join(parts, " && ")
}
