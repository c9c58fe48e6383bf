package importer

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// Polly, as the options of Microsoft.Extensions.Http.Resilience, wherever they
// stand in an appsettings.json. All five layers of the standard handler are
// there, whether or not a file names them.

// pollyKeys tell the options of a handler from other mappings.
var pollyKeys = map[string][]string{
	"retry":               {"maxretryattempts", "backofftype", "usejitter"},
	"circuitbreaker":      {"failureratio", "minimumthroughput", "samplingduration", "breakduration"},
	"attempttimeout":      {"timeout"},
	"totalrequesttimeout": {"timeout"},
}

// isHandler reports whether a mapping holds the options of a handler.
func isHandler(n *yaml.Node) bool {
	if n = document.Resolve(n); n.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		for _, key := range pollyKeys[relaxed(document.Resolve(n.Content[i]).Value)] {
			if hasKey(n.Content[i+1], func(k string) bool { return relaxed(k) == key }) {
				return true
			}
		}
	}
	return false
}

func isPolly(root *yaml.Node) bool {
	found := false
	handlers(root, "", 0, func(*yaml.Node, string) { found = true })
	return found
}

// handlers calls f for each mapping with the options of a handler.
func handlers(n *yaml.Node, path string, depth int, f func(*yaml.Node, string)) {
	n = document.Resolve(n)
	switch {
	case depth > 40:
	case isHandler(n):
		f(n, path)
	case n.Kind == yaml.SequenceNode:
		for i, v := range n.Content {
			handlers(v, fmt.Sprintf("%s[%d]", path, i), depth+1, f)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			handlers(n.Content[i+1], document.Join(path, document.Resolve(n.Content[i]).Value), depth+1, f)
		}
	}
}

func readPolly(r *reader, roots []*yaml.Node) {
	for _, root := range roots {
		handlers(root, "", 0, func(n *yaml.Node, path string) { pollyHandler(r, r.at(n, path), path) })
	}
}

func pollyHandler(r *reader, s settings, path string) {
	r.open(s)
	name := path
	if name == "" {
		name = "http"
	}
	stack := r.stack(name, s)
	name = stack.name
	section := func(key string) settings {
		c, _ := s.child(key)
		return c
	}
	limiter := section("RateLimiter")
	options, _ := limiter.child("DefaultRateLimiterOptions")
	limit := r.policy(name+"-limit", "limit", options)
	limit.count("in_flight", 1, 1000, "calls in progress", "PermitLimit")
	if n, e, ok := options.whole(0, "QueueLimit"); ok && n > 0 {
		r.lose(e.place.Line, "not in the model: QueueLimit: %d", n)
	}
	total := r.timeout(name+"-total-timeout", section("TotalRequestTimeout"), timeSpan, 30*time.Second, "for all attempts", "Timeout")
	attempt, _, given := section("AttemptTimeout").span(timeSpan, "Timeout")
	if !given {
		attempt = 10 * time.Second
	}
	retry := pollyRetry(r, name, section("Retry"))
	breaker := pollyBreaker(r, name, section("CircuitBreaker"), attempt)
	each := r.timeout(name+"-attempt-timeout", section("AttemptTimeout"), timeSpan, 10*time.Second, "for an attempt", "Timeout")
	for _, p := range []*policy{limit, total, retry, breaker, each} {
		stack.add(p)
	}
}

// pollyTransient are the errors that the handler retries, and that its breaker
// counts as failures.
var pollyTransient = []string{"5xx", "408", "429", "connect-failure", "reset", "timeout"}

func pollyRetry(r *reader, name string, s settings) *policy {
	p := r.policy(name+"-retry", "retry", s)
	if n, e, ok := p.whole(1, "MaxRetryAttempts"); ok {
		p.attempts(n+1, source(e)+", the first excluded")
	} else {
		p.attempts(4, "default of MaxRetryAttempts, 3")
	}
	p.set("on", inList(pollyTransient), "what the handler takes for transient")
	p.open("backoff")
	p.set("preset", "polly", "")
	p.open("params")
	c := presets.PollyBackoffConfig{BackoffType: presets.PollyExponential}
	if kind, e, ok := s.text("BackoffType"); ok {
		switch relaxed(kind) {
		case "constant", "0":
			c.BackoffType = presets.PollyConstant
		case "linear", "1":
			c.BackoffType = presets.PollyLinear
		case "exponential", "2":
		default:
			r.add(e.place, "%q, want Constant, Linear, Exponential, or 0, 1, 2", kind)
		}
	}
	p.set("backoff_type", string(c.BackoffType), from(s, "BackoffType"))
	c.UseJitter = s.flag(true, "UseJitter")
	p.set("use_jitter", fmt.Sprint(c.UseJitter), from(s, "UseJitter"))
	c.Delay = p.duration("delay", timeSpan, 2*time.Second, "Delay")
	if s.has("MaxDelay") {
		c.MaxDelay = p.duration("max_delay", timeSpan, 0, "MaxDelay")
	}
	p.must(c.Validate())
	p.close(2)
	return p
}

func pollyBreaker(r *reader, name string, s settings, attempt time.Duration) *policy {
	p := r.policy(name+"-breaker", "breaker", s)
	p.set("preset", "polly", "one trial call in half-open")
	p.open("params")
	c := presets.PollyDefaults()
	c.FailureRatio = p.fraction("failure_ratio", c.FailureRatio, 1, "FailureRatio")
	c.MinimumThroughput = p.count("minimum_throughput", 2, c.MinimumThroughput, "calls", "MinimumThroughput")
	c.SamplingDuration = p.duration("sampling_duration", timeSpan, c.SamplingDuration, "SamplingDuration")
	c.BreakDuration = p.duration("break_duration", timeSpan, c.BreakDuration, "BreakDuration")
	if c.SamplingDuration < 2*attempt {
		at := s.place()
		if e, ok := s.find(consumed, "SamplingDuration"); ok {
			at = e.place
		}
		r.add(at, "sampling duration %v, want at least twice the attempt timeout of %v: the handler refuses less", c.SamplingDuration, attempt)
	}
	p.must(c.Validate())
	p.close(1)
	p.set("success", inList(without(pollyTransient)), "all but what the handler takes for transient, so all of 4xx but 408 and 429")
	return p
}
