package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// gRPC: the service config in JSON.

func isGRPC(root *yaml.Node) bool {
	return hasKey(root, func(key string) bool { return key == "methodConfig" || key == "retryThrottling" })
}

// grpcErrors are the errors that a status code means, by its number. A call
// that gets no answer is UNAVAILABLE.
var grpcErrors = [...][]string{
	1: {"499"}, 2: {"500", "other"}, 3: {"400"}, 4: {"504"}, 5: {"404"}, 6: {"409"}, 7: {"403"}, 8: {"429"}, 9: {"400"}, 10: {"409"},
	11: {"400"}, 12: {"501"}, 13: {"500"}, 14: {"503", "connect-failure", "reset"}, 15: {"500"}, 16: {"401"},
}

func readGRPC(r *reader, roots []*yaml.Node) {
	for _, root := range roots {
		all := r.at(root, "")
		r.open(all)
		throttle, throttled := all.child("retryThrottling")
		methods := all.list(opened, "methodConfig")
		share := ""
		if len(methods) > 1 && throttled {
			share = "server"
		}
		for _, e := range methods {
			grpcMethod(r, r.at(e.value, e.place.Path), throttle, throttled, share)
		}
		if len(methods) == 0 && throttled {
			r.lose(throttle.place().Line, "not in the model: retryThrottling: there is no method that retries")
			grpcMethod(r, all, throttle, true, "")
		}
	}
}

func grpcMethod(r *reader, s, throttle settings, throttled bool, share string) {
	name := "service"
	for i, e := range s.list(opened, "name") {
		if e.value.Kind != yaml.MappingNode {
			r.add(e.place, "%s, want a mapping with service and method", document.KindOf(e.value))
			continue
		}
		n := r.at(e.value, e.place.Path)
		service, _, _ := n.text("service")
		method, _, _ := n.text("method")
		if full := strings.Trim(service+"-"+method, "-"); i == 0 && full != "" {
			name = full
		} else if i > 0 {
			r.lose(e.place.Line, "the same as %s: %s", plain(name), full)
		}
	}
	stack := r.stack(name, s)
	stack.add(r.timeout(name+"-timeout", s, protoDuration, 0, "for all attempts", "timeout"))
	retry, ok := s.child("retryPolicy")
	if !ok {
		if e, hedged := s.find(consumed, "hedgingPolicy"); hedged {
			r.lose(e.place.Line, "not in the model, which has no hedged calls: hedgingPolicy: %s", flow(e.value))
		}
		return
	}
	p := r.policy(name+"-retry", "retry", retry)
	stack.add(p)
	n, e, given := retry.whole(2, "maxAttempts")
	switch {
	case !given:
		r.add(retry.place(), "no maxAttempts, want it given")
	case n > presets.GRPCClientMaxAttempts:
		p.attempts(presets.GRPCClientMaxAttempts, fmt.Sprintf("%s, the first included: %d, of which a client makes 5", source(e), n))
	default:
		p.attempts(n, source(e)+", the first included")
	}
	p.grpcCodes(retry)
	p.open("backoff")
	p.set("preset", "grpc", "± 20 %")
	p.open("params")
	var c presets.GRPCBackoffConfig
	for _, key := range []string{"initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"} {
		if !retry.has(key) {
			r.add(retry.place(), "no %s, want it given: there is no default", key)
		}
	}
	c.InitialBackoff = p.duration("initial_backoff", protoDuration, 0, "initialBackoff")
	c.MaxBackoff = p.duration("max_backoff", protoDuration, 0, "maxBackoff")
	x, e, _ := retry.real(0, 1000, "backoffMultiplier")
	c.BackoffMultiplier = x
	p.keep("BackoffMultiplier", e)
	p.set("backoff_multiplier", number(x), source(e))
	if len(r.problems.List) == 0 {
		p.must(c.Validate())
	}
	p.close(2)
	if throttled {
		p.grpcThrottle(throttle)
		p.shared(share, "tokens")
	}
}

func (p *policy) grpcCodes(s settings) {
	var on, names []string
	var first string
	for _, e := range s.texts("retryableStatusCodes") {
		name := strings.ToUpper(e.value.Value)
		code, ok := presets.LookupGRPCCode(name)
		if n, err := strconv.Atoi(name); err == nil && n > 0 && n < len(grpcErrors) {
			code, ok = presets.GRPCCode(n), true
		}
		if !ok || int(code) >= len(grpcErrors) || code == presets.GRPCOK {
			p.r.add(e.place, "%q, want a status code of an error, such as UNAVAILABLE or 14", e.value.Value)
			continue
		}
		if first == "" {
			first = source(e)
		}
		names = append(names, name)
		for _, x := range grpcErrors[code] {
			if !slices.Contains(on, x) {
				on = append(on, x)
			}
		}
	}
	if len(on) > 0 {
		p.set("on", inList(on), fmt.Sprintf("%s: %s; GUESSED: statuses of HTTP for those of gRPC", first, strings.Join(names, ", ")))
	}
}

func (p *policy) grpcThrottle(s settings) {
	whole := p.settings
	defer func() { p.settings = whole }()
	p.settings = s
	p.open("budget")
	p.set("preset", "grpc-throttle", "")
	p.open("params")
	var c presets.GRPCThrottleConfig
	x, e, ok := s.real(0, 1000, "maxTokens")
	c.MaxTokens = x
	p.keep("max_tokens", e)
	p.set("max_tokens", number(x), fmt.Sprintf("%s: no retry at %s tokens or fewer", source(e), number(x/2)))
	y, e, too := s.real(0, 1000, "tokenRatio")
	c.TokenRatio = y
	p.keep("token_ratio", e)
	p.set("token_ratio", number(y), fmt.Sprintf("%s: retries go on for ever below a failure rate of %s", source(e), inPercent(y/(1+y))))
	if !ok || !too {
		p.r.add(s.place(), "want both maxTokens and tokenRatio")
	} else {
		p.must(c.Validate())
	}
	p.close(2)
}
