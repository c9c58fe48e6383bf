package importer

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// Istio: VirtualServices and DestinationRules, which belong together if they
// name the same host.

func isIstio(root *yaml.Node) bool {
	switch kind(root) {
	case "VirtualService", "DestinationRule":
		return true
	case "":
	default:
		return false
	}
	return hasKey(root, func(key string) bool { return key == "trafficPolicy" }) ||
		hasKey(root, func(key string) bool { return key == "http" }) && deep(root, 0, func(key string) bool { return key == "retries" || key == "perTryTimeout" })
}

// kind is that of a resource of Kubernetes.
func kind(root *yaml.Node) string { return textAt(root, "kind") }

// textAt returns the scalar below some keys, or nothing.
func textAt(n *yaml.Node, path ...string) string {
	for _, key := range path {
		if n = document.Resolve(n); n.Kind != yaml.MappingNode {
			return ""
		}
		var next *yaml.Node
		for i := 0; i+1 < len(n.Content); i += 2 {
			if document.Resolve(n.Content[i]).Value == key {
				next = document.Resolve(n.Content[i+1])
			}
		}
		if next == nil {
			return ""
		}
		n = next
	}
	if n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// resource returns the spec of a resource and its name, or the whole if it is
// a spec alone.
func (r *reader) resource(root *yaml.Node) (spec settings, name string) {
	s := r.at(root, "")
	s.skip("apiVersion", "kind")
	s.skip("status")
	meta, _ := s.child("metadata")
	meta.skip("name")
	meta.skip("namespace")
	meta.skip("labels")
	name = textAt(root, "metadata", "name")
	if s.has("spec") {
		spec, _ = s.child("spec")
		return spec, name
	}
	r.open(s)
	return s, name
}

// An istioRule is the traffic policy of a host.
type istioRule struct {
	host   string
	policy settings
	used   bool
}

func readIstio(r *reader, roots []*yaml.Node) {
	var rules []*istioRule
	for _, root := range roots {
		spec, name := r.resource(root)
		if kind(root) == "VirtualService" || !spec.has("trafficPolicy") {
			continue
		}
		if host, _, ok := spec.text("host"); ok {
			name = host
		}
		traffic, _ := spec.child("trafficPolicy")
		rules = append(rules, &istioRule{name, traffic, false})
	}
	for _, root := range roots {
		spec, name := r.resource(root)
		if host := spec.texts("hosts"); len(host) > 0 {
			name = host[0].value.Value
		}
		for _, e := range spec.list(opened, "http") {
			http := r.at(e.value, e.place.Path)
			host := name
			for _, d := range http.list(opened, "route") {
				to, _ := r.at(d.value, d.place.Path).child("destination")
				if h, _, ok := to.text("host"); ok {
					host = h
					break
				}
			}
			var rule *istioRule
			for _, x := range rules {
				if short(x.host) == short(host) || len(rules) == 1 && (x.host == "" || host == "") {
					rule = x
				}
			}
			traffic := settings{r: r}
			if rule != nil {
				rule.used = true
				traffic = rule.policy
				if host == "" {
					host = rule.host
				}
			}
			istioStack(r, host, http, traffic)
		}
	}
	for _, rule := range rules {
		if !rule.used {
			istioStack(r, rule.host, settings{r: r}, rule.policy)
		}
	}
}

// short is the first part of a host's name.
func short(host string) string {
	first, _, _ := strings.Cut(host, ".")
	return first
}

func istioStack(r *reader, host string, http, traffic settings) {
	at := http
	if len(at.maps) == 0 {
		at = traffic
	}
	http, traffic = http.or(at), traffic.or(at)
	name := short(host)
	if name == "" {
		name = "host"
	}
	s := r.stack(name, at)
	s.sidecar = true
	s.add(r.timeout(name+"-timeout", http, goDuration, 0, "for all attempts", "timeout"))
	pool, _ := traffic.child("connectionPool")
	poolHTTP, _ := pool.child("http")
	retries, _ := http.child("retries")
	if n, e, ok := retries.whole(0, "attempts"); !ok || n > 0 {
		p := r.policy(name+"-retry", "retry", retries)
		if ok {
			p.attempts(n+1, source(e)+", the first excluded")
		} else {
			p.attempts(3, "default: 2 retries")
		}
		p.istioErrors(retries)
		p.open("backoff")
		p.set("preset", "istio", "full jitter")
		p.open("params")
		c := presets.EnvoyBackoffDefaults()
		c.BaseInterval = p.duration("base_interval", goDuration, c.BaseInterval, "backoff")
		c.MaxInterval = 10 * c.BaseInterval
		p.set("max_interval", c.MaxInterval.String(), "10 times the base: "+inMilliseconds(c.MaxInterval))
		p.must(c.Validate())
		p.close(2)
		p.istioBudget(traffic, poolHTTP)
		s.add(p)
	} else {
		r.lose(e.place.Line, "no retries of %s: %s: 0", name, e.name)
	}
	if _, ok := traffic.find(opened, "outlierDetection"); ok {
		s.add(istioOutlier(r, name, traffic))
	}
	if n, e, ok := poolHTTP.whole(0, "http2MaxRequests"); ok && (n == 0 || n >= unlimited) {
		r.lose(e.place.Line, "no limit of %s: %s: %d", name, e.name, n)
	} else if ok {
		p := r.policy(name+"-max-requests", "limit", poolHTTP)
		p.set("in_flight", fmt.Sprint(min(n, most)), source(e)+", of each proxy")
		s.add(p)
	}
	last := r.timeout(name+"-per-try-timeout", retries, goDuration, 0, "for an attempt", "perTryTimeout")
	s.add(last)
	if last != nil {
		istioLast(last, http, retries)
	}
}

// istioErrors writes what is retried. The default has no plain 503 since version
// 1.24; its codes of gRPC are no statuses of HTTP.
func (p *policy) istioErrors(retries settings) {
	if texts := retries.texts("retryOn"); len(texts) > 0 {
		p.envoyErrors(retries, "retryOn")
		return
	}
	p.set("on", "[connect-failure]", "default of retryOn from Istio 1.24 on; up to 1.23 a plain 503 was retried, too")
	for _, word := range []string{"refused-stream", "unavailable", "cancelled"} {
		what := ""
		if word != "refused-stream" {
			what = ", a status of gRPC: add " + envoyConditions[word][0] + " to on if the calls are of gRPC"
		}
		p.r.lose(p.place().Line, "not in the model: %s in the default of retryOn of %s%s", word, p.name, what)
	}
}

// istioLast says how far the timeout of all attempts leaves room for that of
// each.
func istioLast(last *policy, http, retries settings) {
	all, _, ok := http.span(goDuration, "timeout")
	each, _, _ := retries.span(goDuration, "perTryTimeout")
	retried, _, given := retries.whole(0, "attempts")
	if !given {
		retried = 2
	}
	if !ok || all == 0 || each == 0 {
		return
	}
	whole, left := int64(all/each), all%each
	switch {
	case all <= each:
		last.note("no attempt can take longer than all together, %s", inMilliseconds(all))
	case whole > retried:
	case left == 0:
		last.note("after %d attempts that time out no time is left for another", whole)
	case whole == retried:
		last.note("after %d attempts that time out the last one has at most %s", whole, inMilliseconds(left))
	default:
		last.note("after %d attempts that time out the next one has at most %s, and none follows", whole, inMilliseconds(left))
	}
}

func (p *policy) istioBudget(traffic, http settings) {
	p.open("budget")
	defer p.close(1)
	n, e, ok := http.whole(0, "maxRetries")
	budget, given := traffic.child("retryBudget")
	switch {
	case given:
		if ok {
			p.note("not in effect: %s: %d (line %d), there is a retryBudget", e.name, n, e.place.Line)
		}
		percent := [2]string{"20", "default: 20 %"}
		if x, e, ok := budget.real(0, 100, "percent"); ok {
			percent = [2]string{number(x), source(e) + ": " + number(x) + " %"}
		}
		p.share(percent, budget, "minRetryConcurrency")
	case ok && n > 0 && n < unlimited:
		p.set("preset", "envoy-max-retries", "")
		p.set("params", fmt.Sprintf("{concurrent: %d}", n), source(e)+": retries at a time, their waits included")
	default:
		p.set("preset", "istio", "default: no limit")
	}
}

func istioOutlier(r *reader, name string, traffic settings) *policy {
	s, _ := traffic.child("outlierDetection")
	p := r.policy(name+"-outlier", "breaker", s)
	p.openOutlier(name, "Istio")
	c := presets.EnvoyOutlierDefaults()
	old := s.has("consecutiveErrors") && !s.has("consecutive5xxErrors", "consecutiveGatewayErrors")
	run := c.Consecutive5xx
	if old {
		run = 0
	}
	c.Consecutive5xx = p.limited("consecutive5xx", run, "a run of 5xx that ejects; 0 is never", "consecutive5xxErrors")
	c.ConsecutiveGatewayFailure = p.limited("consecutive_gateway_failure", 0, "a run of 502 to 504; 0 is never", "consecutiveGatewayErrors", "consecutiveErrors")
	if c.ConsecutiveGatewayFailure > 0 {
		c.EnforcingConsecutiveGatewayFailure = 100
	}
	p.set("enforcing_consecutive_gateway_failure", fmt.Sprint(c.EnforcingConsecutiveGatewayFailure), "as Istio sets it: 100 with a run of them, 0 without")
	c.EnforcingSuccessRate = 0
	p.set("enforcing_success_rate", "0", "as Istio sets it: rates do not eject")
	c.Interval = p.duration("interval", goDuration, c.Interval, "interval")
	c.BaseEjectionTime = p.duration("base_ejection_time", goDuration, c.BaseEjectionTime, "baseEjectionTime")
	p.note("the n-th ejection in a row is n times as long")
	c.MaxEjectionTime = max(c.MaxEjectionTime, c.BaseEjectionTime)
	p.set("max_ejection_time", c.MaxEjectionTime.String(), "default: "+inMilliseconds(c.MaxEjectionTime))
	if n, e, ok := s.whole(0, "maxEjectionPercent"); ok && n == 0 {
		p.set("max_ejection_percent", fmt.Sprint(c.MaxEjectionPercent), source(e)+": 0, which is the default of 10 %")
	} else {
		c.MaxEjectionPercent = p.count("max_ejection_percent", 0, c.MaxEjectionPercent, "%", "maxEjectionPercent")
	}
	p.ejected(&c, 0, "")
	p.must(c.Validate())
	p.close(1)
	return p
}
