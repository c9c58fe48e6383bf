package importer

import (
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"go.yaml.in/yaml/v3"
)

// Linkerd: service profiles, and the annotations that came after them.

func isLinkerd(root *yaml.Node) bool {
	if kind(root) == "ServiceProfile" {
		return true
	}
	annotated := func(key string) bool {
		return strings.Contains(key, ".linkerd.io/") && !strings.HasPrefix(key, "config.") && !strings.HasPrefix(key, "viz.")
	}
	if deep(root, 0, annotated) {
		return true
	}
	return deep(root, 0, func(key string) bool {
		return key == "isRetryable" || key == "retryRatio" || key == "minRetriesPerSecond"
	})
}

func readLinkerd(r *reader, roots []*yaml.Node) {
	profiled := false
	for _, root := range roots {
		if kind(root) == "ServiceProfile" {
			profiled = true
		}
	}
	for _, root := range roots {
		spec, name := r.resource(root)
		if name == "" {
			name = "service"
		}
		annotations := linkerdAnnotations(r, root)
		if len(annotations.maps) > 0 {
			if profiled {
				r.lose(annotations.place().Line, "not in effect if the ServiceProfile is in force, which switches them off: annotations of %s", name)
			}
			linkerdService(r, short(name), annotations)
		}
		if spec.has("routes", "retryBudget") && (kind(root) == "ServiceProfile" || kind(root) == "") {
			linkerdProfile(r, short(name), spec)
		}
	}
}

// linkerdAnnotations returns those of a resource, or of a mapping alone.
func linkerdAnnotations(r *reader, root *yaml.Node) settings {
	s := r.at(root, "")
	if meta, ok := s.child("metadata"); ok {
		s, _ = meta.child("annotations")
	} else if s.has("annotations") {
		s, _ = s.child("annotations")
	}
	if !s.annotated() {
		return settings{r: r}
	}
	return s
}

func (s settings) annotated() bool {
	for _, in := range s.maps {
		for _, e := range in.entries {
			if strings.Contains(e.name, ".linkerd.io/") {
				return true
			}
		}
	}
	return false
}

func linkerdProfile(r *reader, service string, spec settings) {
	budget, given := spec.child("retryBudget")
	routes := spec.list(opened, "routes")
	for i, e := range routes {
		route := r.at(e.value, e.place.Path)
		name, _, ok := route.text("name")
		if !ok {
			name = strconv.Itoa(i)
		}
		name = service + "-" + name
		condition, _ := route.child("condition")
		condition.skip("method")
		condition.skip("pathRegex")
		s := r.stack(name, route)
		s.sidecar = true
		s.add(r.timeout(name+"-timeout", route, goDuration, 10*time.Second, "for all attempts", "timeout"))
		if !route.flag(false, "isRetryable") {
			continue
		}
		p := r.policy(name+"-retry", "retry", route)
		limit, _, given := route.span(goDuration, "timeout")
		if !given {
			limit = 10 * time.Second
		}
		p.endless(limit, "the budget alone bounds them")
		p.set("on", "[5xx]", "default: what responseClasses do not say is a failure from 500 to 599")
		p.open("budget")
		p.set("preset", "linkerd", "")
		p.open("params")
		c := presets.LinkerdDefaults()
		p.settings = budget
		c.PercentCanRetry = float32(p.fraction("percent_can_retry", 0.2, 1000, "retryRatio"))
		c.MinRetriesPerSec = p.count("min_retries_per_sec", 0, c.MinRetriesPerSec, "retries a second beside them", "minRetriesPerSecond")
		c.TTL = p.duration("ttl", goDuration, c.TTL, "ttl")
		p.must(c.Validate())
		p.settings = route
		p.close(2)
		if len(routes) > 1 {
			p.shared(service, "budget")
		}
		s.add(p)
	}
	if given {
		for _, key := range []string{"retryRatio", "minRetriesPerSecond", "ttl"} {
			if !budget.has(key) {
				r.add(budget.place(), "no %s, want it given: Linkerd has no default for it in a budget", key)
			}
		}
	}
}

func linkerdService(r *reader, service string, a settings) {
	s := r.stack(service, a)
	s.sidecar = true
	s.add(r.timeout(service+"-timeout", a, goDuration, 0, "for all attempts", "timeout.linkerd.io/request"))
	http := a.texts("retry.linkerd.io/http")
	grpc := a.texts("retry.linkerd.io/grpc")
	if len(http)+len(grpc) > 0 {
		p := r.policy(service+"-retry", "retry", a)
		if n, e, ok := a.whole(0, "retry.linkerd.io/limit"); ok {
			p.attempts(n+1, source(e)+", the first excluded")
		} else {
			p.attempts(2, "default of retry.linkerd.io/limit, 1")
		}
		p.linkerdErrors(http, grpc)
		p.open("backoff")
		p.set("preset", "linkerd", "default: 25 ms by 2 up to 250 ms, and up to as much on top")
		p.close(1)
		s.add(p)
	}
	if kind, e, ok := a.text("balancer.linkerd.io/failure-accrual"); ok {
		if kind != "consecutive" {
			r.add(e.place, "%q, want consecutive", kind)
		}
		p := r.policy(service+"-breaker", "breaker", a)
		p.count("consecutive", 1, 7, "failures in a row", "balancer.linkerd.io/failure-accrual-consecutive-max-failures")
		d := presets.LinkerdAccrualBackoffDefaults()
		if p.duration("open", goDuration, d.Min, "balancer.linkerd.io/failure-accrual-consecutive-min-penalty") == 0 {
			r.add(p.places["open"], "0s, want more")
		}
		p.set("probes", "1", "")
		p.set("half_open", "first-failure", "")
		p.note("not in the model: the penalty doubles up to max-penalty, with jitter, and is one of each endpoint")
		for _, key := range []string{"max-penalty", "jitter-ratio"} {
			if text, e, ok := a.text("balancer.linkerd.io/failure-accrual-consecutive-" + key); ok {
				r.lose(e.place.Line, "not in the model: %s: %s", e.name, text)
			}
		}
		s.add(p)
	}
	s.add(r.timeout(service+"-attempt-timeout", a, goDuration, 0, "for an attempt", "retry.linkerd.io/timeout"))
}

// linkerdErrors writes what is retried: statuses, ranges such as 502-504, 5xx
// and gateway-error, and codes of gRPC.
func (p *policy) linkerdErrors(http, grpc []entry) {
	var on []string
	for _, e := range http {
		text := e.value.Value
		low, high, ranged := strings.Cut(text, "-")
		a, errA := strconv.Atoi(low)
		b, errB := strconv.Atoi(high)
		switch {
		case text == "5xx" || text == "gateway-error":
			on = append(on, text)
		case ranged && errA == nil && errB == nil && a >= 100 && b <= 599 && a <= b:
			for ; a <= b; a++ {
				on = append(on, strconv.Itoa(a))
			}
		case errA == nil && !ranged && a >= 100 && a <= 599:
			on = append(on, text)
		default:
			p.r.add(e.place, "%q, want 5xx, gateway-error, a status or a range such as 502-504", text)
		}
	}
	for _, e := range grpc {
		if list, ok := envoyConditions[e.value.Value]; ok {
			on = append(on, list...)
		} else {
			p.r.add(e.place, "%q, want one of cancelled, deadline-exceeded, internal, resource-exhausted, unavailable", e.value.Value)
		}
	}
	p.set("on", inList(on), "retry.linkerd.io")
}
