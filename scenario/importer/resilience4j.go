package importer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// Resilience4j in Spring Boot: keys in kebab or camel case, dotted keys, named
// configs that instances inherit from, and the names of before 1.0.

func isResilience4j(root *yaml.Node) bool {
	return hasKey(root, func(key string) bool { return strings.HasPrefix(relaxed(key), "resilience4j") })
}

// hasKey reports whether a mapping has a key of which f says so.
func hasKey(n *yaml.Node, f func(string) bool) bool {
	if n = document.Resolve(n); n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if f(document.Resolve(n.Content[i]).Value) {
			return true
		}
	}
	return false
}

// The layers of an instance, outermost first, with the key of their order.
var resilience4jLayers = []struct {
	section, order string
	read           func(r *reader, name string, s settings) *policy
}{
	{"retry", "retryAspectOrder", resilience4jRetry},
	{"circuitbreaker", "circuitBreakerAspectOrder", resilience4jBreaker},
	{"ratelimiter", "rateLimiterAspectOrder", resilience4jRateLimiter},
	{"timelimiter", "timeLimiterAspectOrder", resilience4jTimeLimiter},
	{"bulkhead", "bulkheadAspectOrder", resilience4jBulkhead},
	{"thread-pool-bulkhead", "threadPoolBulkheadAspectOrder", nil}, // a pool
}

// readResilience4j reads the documents of a file as Spring does: a later one
// changes those before it, and one with a profile all of them where the profile
// is active.
func readResilience4j(r *reader, roots []*yaml.Node) {
	var base *yaml.Node
	for i, root := range roots {
		roots[i] = undot(root, "resilience4j")
		if profileOf(root) == "" {
			base = r.overlay(base, roots[i], false)
		}
	}
	if base != nil {
		resilience4jStacks(r, base, "")
	}
	for _, root := range roots {
		if profile := profileOf(root); profile != "" {
			resilience4jStacks(r, r.overlay(base, root, true), profile)
		}
	}
}

// resilience4jStacks makes a stack of each instance.
func resilience4jStacks(r *reader, root *yaml.Node, profile string) {
	all, _ := r.at(root, "").child("resilience4j")
	type part struct {
		order int64
		entry int
		s     settings
	}
	instances := make(map[string][]part)
	var order []string
	said := "" // of the order of the layers
	for k, l := range resilience4jLayers {
		section, ok := all.child(l.section)
		if !ok {
			continue
		}
		at := int64(math.MaxInt32 - 10 + k)
		if n, e, given := section.whole(math.MinInt32, l.order); given {
			at = n
			said += fmt.Sprintf(", %s: %d", source(e), n)
		}
		for name, s := range section.instances() {
			if instances[name] == nil {
				order = append(order, name)
			}
			instances[name] = append(instances[name], part{at, k, s})
		}
	}
	slices.SortFunc(order, func(a, b string) int {
		x, y := instances[a][0].s.place(), instances[b][0].s.place()
		if x.Line != y.Line {
			return x.Line - y.Line
		}
		return strings.Compare(a, b)
	})
	for _, name := range order {
		parts := instances[name]
		slices.SortStableFunc(parts, func(a, b part) int { return int(max(-1, min(1, a.order-b.order))) })
		if profile != "" {
			name += "-" + profile
		}
		stack := r.stack(name, parts[0].s)
		stack.order = said
		for _, p := range parts {
			if read := resilience4jLayers[p.entry].read; read != nil {
				stack.add(read(r, name, p.s))
				continue
			}
			stack.pool = resilience4jPool(r, name, p.s)
		}
	}
}

// instances returns the settings of each instance, those it inherits after its
// own. Without an instance they are those of the default config.
func (s settings) instances() map[string]settings {
	configs := make(map[string]settings)
	named, _ := s.child("configs")
	for _, e := range named.each() {
		configs[e.name] = s.r.at(e.value, e.place.Path)
	}
	list := make(map[string]settings)
	for _, key := range []string{"instances", "backends"} {
		section, _ := s.child(key)
		for _, e := range section.each() {
			own := s.r.at(e.value, e.place.Path)
			list[e.name] = own.inherit(e.name, configs)
		}
	}
	if own, ok := configs["default"]; ok && len(list) == 0 {
		list["default"] = own.inherit("default", configs)
	}
	return list
}

func (s settings) inherit(name string, configs map[string]settings) settings {
	seen := make(map[string]bool)
	for last := s; ; {
		base, e, given := last.text("baseConfig")
		switch {
		case given && configs[base].r == nil:
			s.r.add(e.place, "there is no config %q", base)
			return s
		case given && seen[base]:
			s.r.add(e.place, "config %q inherits from itself", base)
			return s
		case !given && len(seen) > 0:
			return s
		case !given && name != "default" && configs[name].r != nil: // a config of the name of the instance
			base = name
		case !given && name != "default" && configs["default"].r != nil:
			base = "default"
		case !given:
			return s
		}
		seen[base] = true
		last = configs[base]
		s.maps = append(s.maps, last.maps...)
	}
}

func resilience4jBreaker(r *reader, name string, s settings) *policy {
	c := presets.Resilience4jCountDefaults()
	p := r.policy(name+"-breaker", "breaker", s)
	ring := s.has("ringBufferSizeInClosedState")
	preset, unit := "resilience4j-count", "calls"
	if kind, e, ok := s.text("slidingWindowType"); ok {
		switch relaxed(kind) {
		case "countbased":
		case "timebased":
			preset, unit = "resilience4j-time", "seconds, in buckets of one"
			c = presets.Resilience4jTimeDefaults()
		default:
			r.add(e.place, "%q, want COUNT_BASED or TIME_BASED", kind)
		}
	}
	if sync, e, ok := s.text("slidingWindowSynchronizationStrategy"); ok && relaxed(sync) == "lockfree" {
		p.note("%s: %s", source(e), sync)
		if c.SlidingWindowSynchronization = presets.Resilience4jLockFree; preset == "resilience4j-time" {
			preset = "resilience4j-lockfree"
		}
	}
	p.set("preset", preset, "")
	p.open("params")
	c.SlidingWindowSize = p.count("sliding_window_size", 1, c.SlidingWindowSize, unit, "slidingWindowSize", "ringBufferSizeInClosedState")
	switch {
	case ring && !s.has("minimumNumberOfCalls"):
		c.MinimumNumberOfCalls = c.SlidingWindowSize
		p.set("minimum_number_of_calls", fmt.Sprint(c.SlidingWindowSize), "the old ring buffer must be full")
	default:
		c.MinimumNumberOfCalls = p.count("minimum_number_of_calls", 1, c.MinimumNumberOfCalls, "calls", "minimumNumberOfCalls")
	}
	if preset == "resilience4j-count" && c.MinimumNumberOfCalls > c.SlidingWindowSize {
		p.note("the minimum in effect is %d: a count window need only be full", c.SlidingWindowSize)
	}
	c.FailureRateThreshold = float32(p.percent("failure_rate_threshold", float64(c.FailureRateThreshold), "failureRateThreshold"))
	c.SlowCallRateThreshold = float32(p.percent("slow_call_rate_threshold", float64(c.SlowCallRateThreshold), "slowCallRateThreshold"))
	c.SlowCallDurationThreshold = p.duration("slow_call_duration_threshold", springDuration, c.SlowCallDurationThreshold, "slowCallDurationThreshold")
	p.open("wait_in_open_state")
	wait := &c.WaitInOpenState
	wait.InitialInterval = p.duration("initial_interval", springDuration, wait.InitialInterval, "waitDurationInOpenState", "waitInterval")
	wait.Multiplier, wait.RandomizationFactor = p.growth("exponentialMaxWaitDurationInOpenState", &wait.MaxInterval)
	p.close(1)
	c.PermittedCallsInHalfOpen = p.count("permitted_calls_in_half_open", 1, c.PermittedCallsInHalfOpen, "probes",
		"permittedNumberOfCallsInHalfOpenState", "ringBufferSizeInHalfOpenState")
	c.MaxWaitInHalfOpen = p.duration("max_wait_in_half_open", springDuration, 0, "maxWaitDurationInHalfOpenState")
	c.AutomaticTransitionFromOpen = s.flag(false, "automaticTransitionFromOpenToHalfOpenEnabled")
	p.set("automatic_transition_from_open", fmt.Sprint(c.AutomaticTransitionFromOpen), from(s, "automaticTransitionFromOpenToHalfOpenEnabled"))
	p.close(1)
	p.exceptions("ignore", "ignoreExceptions")
	p.recorded("recordExceptions", "ignoreExceptions")
	p.must(c.Validate())
	return p
}

// from says where a key is from.
func from(s settings, name string) string {
	if e, ok := s.find(consumed, name); ok {
		return source(e)
	}
	return "default"
}

func resilience4jRetry(r *reader, name string, s settings) *policy {
	p := r.policy(name+"-retry", "retry", s)
	if n, e, ok := p.whole(1, "maxAttempts", "maxRetryAttempts"); ok {
		p.attempts(n, source(e)+", the first included")
	} else {
		p.attempts(3, "default")
	}
	p.exceptionsRetried()
	p.open("backoff")
	d := presets.Resilience4jRetryDefaults().Wait
	p.set("preset", "resilience4j", "")
	p.open("params")
	d.InitialInterval = p.duration("initial_interval", springDuration, d.InitialInterval, "waitDuration")
	d.Multiplier, d.RandomizationFactor = p.growth("exponentialMaxWaitDuration", &d.MaxInterval)
	p.must(d.Validate())
	p.close(2)
	return p
}

func resilience4jTimeLimiter(r *reader, name string, s settings) *policy {
	return r.timeout(name+"-timeout", s, springDuration, time.Second, "for an attempt", "timeoutDuration")
}

func resilience4jBulkhead(r *reader, name string, s settings) *policy {
	p := r.policy(name+"-bulkhead", "limit", s)
	p.count("in_flight", 1, 25, "calls in progress", "maxConcurrentCalls", "maxConcurrentCall")
	return p
}

// resilience4jPool is a thread pool with its queue. Calls that wait take a place
// until a thread is free, so that they do not reach the callee together.
func resilience4jPool(r *reader, name string, s settings) *pool {
	p := &pool{name: r.unused("stack", name+"-pool")}
	threads, e, given := s.whole(1, "maxThreadPoolSize")
	p.from = madeUp + "4: the default of maxThreadPoolSize is the number of processors"
	if !given {
		threads = 4
	} else {
		p.from = source(e) + ": threads"
	}
	if core, c, ok := s.whole(1, "coreThreadPoolSize"); ok && core < threads {
		p.from += fmt.Sprintf("; not in the model: while there are places to wait only %d run, %s", core, source(c))
	}
	queue, e, given := s.whole(0, "queueCapacity")
	p.waiting = "default of queueCapacity, 100"
	if !given {
		queue = 100
	} else {
		p.waiting = source(e)
	}
	p.threads = min(threads, most)
	p.held = min(p.threads+min(queue, most), most)
	p.waiting = fmt.Sprintf("%d threads and %d places to wait, %s", p.threads, p.held-p.threads, p.waiting)
	return p
}

// resilience4jRateLimiter has no layer: what it says is told.
func resilience4jRateLimiter(r *reader, name string, s settings) *policy {
	r.lose(s.place().Line, "not in the model: rate limiter of %s: there is no layer that limits a caller's rate", name)
	return nil
}
