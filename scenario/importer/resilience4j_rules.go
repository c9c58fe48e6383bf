package importer

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// growth reads how a wait grows from one time to the next. Its factors have no
// effect unless they are switched on.
func (p *policy) growth(longestKey string, longest *time.Duration) (multiplier, jitter float64) {
	multiplier = p.switched("multiplier", "enableExponentialBackoff", "exponentialBackoffMultiplier", 1, 1.5, 1000,
		func(x float64) string { return "times " + number(x) + " from one wait to the next" })
	jitter = p.switched("randomization_factor", "enableRandomizedWait", "randomizedWaitFactor", 0, 0.5, 1,
		func(x float64) string { return "up to " + inPercent(x) + " shorter or longer" })
	if d, e, ok := p.span(springDuration, longestKey); ok {
		*longest = d
		p.keep("max_interval", e)
		p.set("max_interval", d.String(), source(e)+": "+inMilliseconds(d))
	}
	return multiplier, jitter
}

// switched reads a number from off on that counts if it is switched on.
func (p *policy) switched(key, enable, name string, off, def, high float64, means func(float64) string) float64 {
	on := p.flag(false, enable)
	x, e, given := p.real(off, high, name)
	switch {
	case !on && given:
		p.set(key, number(off), fmt.Sprintf("%s: %s has no effect without %s: true", source(e), number(x), enable))
		return off
	case !on:
		p.set(key, number(off), "default: no growth")
		if off == 0 {
			p.lines[len(p.lines)-1].comment = "default: no jitter"
		}
		return off
	case !given:
		p.set(key, number(def), "default: "+means(def))
		return def
	}
	p.keep(key, e)
	p.set(key, number(x), source(e)+": "+means(x))
	return x
}

// exceptions are the errors of the model that Java's mean, by the end of their
// names.
var exceptions = []struct {
	name   string
	errors []string
}{
	{"CallNotPermittedException", []string{"breaker-open"}},
	{"BulkheadFullException", []string{"limit"}},
	{"TimeoutException", []string{"timeout"}},
	{"SocketTimeoutException", []string{"timeout"}},
	{"ConnectTimeoutException", []string{"connect-timeout"}},
	{"ConnectException", []string{"connect-failure"}},
	{"SocketException", []string{"connect-failure", "reset"}},
	{"IOException", []string{"connect-failure", "reset", "timeout"}},
	{"ResourceAccessException", []string{"connect-failure", "reset", "timeout"}},
	{"WebClientRequestException", []string{"connect-failure", "reset", "timeout"}},
	{"RetryableException", []string{"connect-failure", "reset", "timeout"}},
	{"HttpServerErrorException", []string{"5xx"}},
	{"InternalServerError", []string{"500"}},
	{"BadGateway", []string{"502"}},
	{"ServiceUnavailable", []string{"503"}},
	{"GatewayTimeout", []string{"504"}},
	{"HttpClientErrorException", []string{"4xx"}},
	{"BadRequest", []string{"400"}},
	{"Unauthorized", []string{"401"}},
	{"Forbidden", []string{"403"}},
	{"NotFound", []string{"404"}},
	{"Conflict", []string{"409"}},
	{"TooManyRequests", []string{"429"}},
	{"RuntimeException", []string{"any"}},
	{"Exception", []string{"any"}},
	{"Throwable", []string{"any"}},
}

// errorsOf returns the errors of the model that the exceptions of a list mean,
// with how they were guessed, and tells those that mean none. The source is
// empty if there is no list.
func (p *policy) errorsOf(key string) (list []string, from, guess string) {
	var guesses []string
	for _, e := range p.texts(key) {
		if from == "" {
			from = source(e)
		}
		class := e.value.Value[strings.LastIndexAny(e.value.Value, ".$")+1:]
		i := slices.IndexFunc(exceptions, func(x struct {
			name   string
			errors []string
		}) bool {
			return x.name == class
		})
		if i < 0 {
			p.r.lose(e.place.Line, "not in the model: %s of %s: %s", e.name, p.name, e.value.Value)
			continue
		}
		guesses = append(guesses, class+" is "+strings.Join(exceptions[i].errors, ", "))
		for _, code := range exceptions[i].errors {
			if !slices.Contains(list, code) {
				list = append(list, code)
			}
		}
	}
	return list, from, from + "; GUESSED from the names of classes: " + strings.Join(guesses, "; ")
}

func inList(list []string) string { return "[" + strings.Join(list, ", ") + "]" }

// exceptions writes a list of errors, if it is not empty.
func (p *policy) exceptions(key, name string) {
	if list, _, guess := p.errorsOf(name); len(list) > 0 {
		p.set(key, inList(list), guess)
	}
}

// exceptionsRetried writes which errors a retry repeats: by default all of them,
// those of an open breaker inside included.
func (p *policy) exceptionsRetried() {
	on, from, guess := p.errorsOf("retryExceptions")
	switch {
	case len(on) > 0:
		p.set("on", inList(on), guess)
	case from != "":
		p.set("on", "[any]", from+"; GUESSED: none of the classes tells an error of the model")
	default:
		p.set("on", "[any]", "default: also what an open breaker inside refuses")
	}
	if p.has("retryOnResultPredicate", "retryExceptionPredicate") {
		p.note("a predicate decides, too: it is code, and not in the model")
	}
	p.exceptions("not_on", "ignoreExceptions")
}

// recorded writes which errors are successes for a breaker that records some
// of them alone.
func (p *policy) recorded(name string) {
	failures, from, guess := p.errorsOf(name)
	switch {
	case from == "" || slices.Contains(failures, "any"):
		return
	case len(failures) == 0:
		p.note("%s; GUESSED: none of the classes tells an error of the model, so all errors are failures", from)
		return
	}
	var rest []string
	for _, class := range []string{"timeout", "connect-failure", "reset", "limit", "other", "4xx", "5xx"} {
		part := slices.ContainsFunc(failures, func(f string) bool {
			return f == class || f[0] == class[0] && class[1:] == "xx" || f == "connect-timeout" && class == "connect-failure"
		})
		if !part {
			rest = append(rest, class)
		}
	}
	p.set("success", inList(rest), guess+"; what is not in it counts as a success")
}
