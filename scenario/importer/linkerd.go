package importer

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"go.yaml.in/yaml/v3"
)

// Linkerd: service profiles, and the annotations and routes that came after
// them.

func isLinkerd(root *yaml.Node) bool {
	if kind(root) == "ServiceProfile" || isRoute(root) && strings.HasPrefix(textAt(root, "apiVersion"), "policy.linkerd.io/") {
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

// isRoute reports whether a resource is an HTTPRoute or a GRPCRoute.
func isRoute(root *yaml.Node) bool { return kind(root) == "HTTPRoute" || kind(root) == "GRPCRoute" }

// A linkerdName is that of a service; a namespace that nothing says is empty.
type linkerdName struct{ name, namespace string }

// serviceName takes the namespace out of stock.shop.svc.cluster.local.
func serviceName(name, namespace string) linkerdName {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) > 1 {
		namespace = parts[1]
	}
	return linkerdName{parts[0], namespace}
}

// same reports whether two names can be of one service.
func (n linkerdName) same(as linkerdName) bool {
	return n.name == as.name && (n.namespace == as.namespace || n.namespace == "" || as.namespace == "")
}

func readLinkerd(r *reader, roots []*yaml.Node) {
	var profiles []linkerdName
	services := make(map[string]settings) // annotations, by the name of the service
	routed := make(map[string]bool)       // services that a route leads to
	for _, root := range roots {
		spec, name := r.resource(root)
		switch {
		case kind(root) == "ServiceProfile":
			profiles = append(profiles, serviceName(name, textAt(root, "metadata", "namespace")))
		case isRoute(root):
			routed[parentOf(spec)] = true
		default:
			services[name] = linkerdAnnotations(r, root)
		}
	}
	for _, root := range roots {
		spec, name := r.resource(root)
		annotations := linkerdAnnotations(r, root)
		service := serviceName(name, textAt(root, "metadata", "namespace"))
		if isRoute(root) {
			service.name = parentOf(spec)
		}
		if len(annotations.maps) > 0 && slices.ContainsFunc(profiles, service.same) {
			r.lose(annotations.place().Line, "not in effect while the ServiceProfile of %s is in force, which switches them off: annotations of %s", service.name, name)
		}
		if name == "" {
			name = "service"
		}
		switch {
		case isRoute(root):
			linkerdRoute(r, name, spec, annotations, services)
		case len(annotations.maps) > 0 && !(routed[name] && annotations.balances()):
			linkerdStack(r, short(name), annotations, annotations, settings{r: r})
		}
		if spec.has("routes", "retryBudget") && (kind(root) == "ServiceProfile" || kind(root) == "") {
			linkerdProfile(r, short(name), spec)
		}
	}
}

// parentOf returns the name of the service that a route is of.
func parentOf(spec settings) string {
	for _, e := range spec.list(opened, "parentRefs") {
		if e.value.Kind == yaml.MappingNode {
			name, _, _ := spec.r.at(e.value, e.place.Path).text("name")
			return name
		}
	}
	return ""
}

// balances reports whether annotations are those of the balancer alone.
func (s settings) balances() bool {
	for _, in := range s.maps {
		for _, e := range in.entries {
			if strings.HasPrefix(e.name, "retry.linkerd.io/") || strings.HasPrefix(e.name, "timeout.linkerd.io/") {
				return false
			}
		}
	}
	return true
}

// linkerdRoute makes a stack of each rule of a route. The failures of its
// service accrue as the annotations of that say.
func linkerdRoute(r *reader, name string, spec, annotations settings, services map[string]settings) {
	balancer, ok := services[parentOf(spec)]
	if !ok {
		balancer = settings{r: r}
	}
	rules := spec.list(opened, "rules")
	if len(rules) == 0 {
		linkerdStack(r, short(name), annotations.or(spec), balancer, settings{r: r})
	}
	for i, e := range rules {
		rule := r.at(e.value, e.place.Path)
		timeouts, _ := rule.child("timeouts")
		own := short(name)
		if len(rules) > 1 {
			own += "-" + strconv.Itoa(i)
		}
		linkerdStack(r, own, annotations.or(rule), balancer, timeouts)
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

// linkerdStack makes a stack of annotations, those of the balancer, and the
// timeouts of a rule, which hold where annotations say nothing.
func linkerdStack(r *reader, service string, a, balancer, rule settings) {
	s := r.stack(service, a)
	s.sidecar = true
	timeout := func(name, bounds, annotation, key string) *policy {
		if a.has(annotation) || len(rule.maps) == 0 {
			return r.timeout(name, a, goDuration, 0, bounds, annotation)
		}
		return r.timeout(name, rule, goDuration, 0, bounds, key)
	}
	s.add(timeout(service+"-timeout", "for all attempts", "timeout.linkerd.io/request", "request"))
	retries := a.has("retry.linkerd.io/http", "retry.linkerd.io/grpc", "retry.linkerd.io/limit", "retry.linkerd.io/timeout")
	if retries {
		s.add(linkerdRetry(r, service, a, balancer.has(accrual)))
	}
	s.add(linkerdBreaker(r, service, balancer))
	last := timeout(service+"-attempt-timeout", "for an attempt", "retry.linkerd.io/timeout", "backendRequest")
	s.add(last)
	if last != nil && a.has("retry.linkerd.io/timeout") {
		last.note("not in the model: the last attempt has no such timeout in Linkerd: the timeout for all attempts ends it, if there is one")
	}
}

// linkerdRetry is what annotations say of retries: any of them switches retries
// on. What times out is retried if that timeout is one of the retries.
func linkerdRetry(r *reader, service string, a settings, breaker bool) *policy {
	p := r.policy(service+"-retry", "retry", a)
	switch n, e, ok := a.whole(0, "retry.linkerd.io/limit"); {
	case ok && n > 0:
		p.attempts(n+1, source(e)+", the first excluded")
	case ok:
		p.attempts(2, source(e)+": 0, which is the default of 1")
	default:
		p.attempts(2, "default of retry.linkerd.io/limit, 1")
	}
	on, from := p.linkerdErrors(a.texts("retry.linkerd.io/http"), a.texts("retry.linkerd.io/grpc"))
	if d, e, ok := a.span(goDuration, "retry.linkerd.io/timeout"); ok && d > 0 {
		on, from = append(on, "timeout"), append(from, source(e)+": what it ends")
	}
	if breaker {
		on, from = append(on, "breaker-open"), append(from, "breaker-open: Linkerd's FailFast, when all endpoints are out")
	}
	if len(on) == 0 {
		p.set("not_on", "[any]", "default: nothing that the model has is retried")
	} else {
		p.set("on", inList(on), strings.Join(from, "; "))
	}
	p.open("backoff")
	p.set("preset", "linkerd", "default: 25 ms by 2 up to 250 ms, and up to as much on top")
	p.close(1)
	return p
}

// accrual is the annotation that switches a breaker on.
const accrual = "balancer.linkerd.io/failure-accrual"

// linkerdBreaker is the failure accrual of a service, if it has any.
func linkerdBreaker(r *reader, service string, a settings) *policy {
	kind, e, ok := a.text(accrual)
	if !ok {
		return nil
	}
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
	p.set("success", "[4xx]", "statuses from 500 to 599 are failures, and calls without an answer")
	p.note("not in the model: the penalty doubles up to max-penalty, with jitter, and is one of each endpoint")
	p.note("not in the model: when all endpoints are out, a call waits for one for a time before it fails; here it is refused at once")
	r.oneHost("failure accrual of %s (%s)", service, "Linkerd")
	for _, key := range []string{"max-penalty", "jitter-ratio"} {
		if text, e, ok := a.text("balancer.linkerd.io/failure-accrual-consecutive-" + key); ok {
			r.lose(e.place.Line, "not in the model: %s: %s", e.name, text)
		}
	}
	return p
}

// linkerdErrors returns what is retried, and where from: statuses, ranges such as
// 502-504, 5xx and gateway-error, and codes of gRPC.
func (p *policy) linkerdErrors(http, grpc []entry) (on, from []string) {
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
	if len(http) > 0 {
		from = append(from, source(http[0]))
	}
	if len(grpc) > 0 {
		from = append(from, source(grpc[0])+", GUESSED: statuses of HTTP for those of gRPC")
	}
	return on, from
}
