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

// An exception is what one of Java's means for a scenario.
type exception struct {
	name   string   // the end of its name
	errors []string // of the model
	slow   bool     // it is also thrown at timeouts of clients, which no scenario has
}

// unchecked are the errors of the model that are runtime exceptions: all but a
// time limiter's TimeoutException.
var unchecked = []string{"connect-failure", "reset", "breaker-open", "limit", "other", "4xx", "5xx"}

// exceptions are those that are known. The only timeout of what is imported is
// that of a time limiter, so that no other exception means it but the classes
// above TimeoutException.
var exceptions = []exception{
	{"CallNotPermittedException", []string{"breaker-open"}, false},
	{"BulkheadFullException", []string{"limit"}, false},
	{"TimeoutException", []string{"timeout"}, false},
	{"SocketTimeoutException", nil, true},
	{"ConnectTimeoutException", []string{"connect-timeout"}, false},
	{"ConnectException", []string{"connect-failure"}, false},
	{"SocketException", []string{"connect-failure", "reset"}, false},
	{"IOException", []string{"connect-failure", "reset"}, true},
	{"ResourceAccessException", []string{"connect-failure", "reset"}, true},
	{"WebClientRequestException", []string{"connect-failure", "reset"}, true},
	{"RetryableException", []string{"connect-failure", "reset"}, true},
	{"HttpServerErrorException", []string{"5xx"}, false},
	{"InternalServerError", []string{"500"}, false},
	{"BadGateway", []string{"502"}, false},
	{"ServiceUnavailable", []string{"503"}, false},
	{"GatewayTimeout", []string{"504"}, false},
	{"HttpClientErrorException", []string{"4xx"}, false},
	{"BadRequest", []string{"400"}, false},
	{"Unauthorized", []string{"401"}, false},
	{"Forbidden", []string{"403"}, false},
	{"NotFound", []string{"404"}, false},
	{"Conflict", []string{"409"}, false},
	{"TooManyRequests", []string{"429"}, false},
	{"RuntimeException", unchecked, true},
	{"Exception", []string{"any"}, false},
	{"Throwable", []string{"any"}, false},
}

// exceptionOf returns what the name of a class means, if that is known. A
// TimeoutException is that of java.util.concurrent or of no package.
func exceptionOf(class string) (exception, bool) {
	end := class[strings.LastIndexAny(class, ".$")+1:]
	if end == "TimeoutException" && class != end && class != "java.util.concurrent."+end {
		return exception{}, false
	}
	i := slices.IndexFunc(exceptions, func(x exception) bool { return x.name == end })
	if i < 0 {
		return exception{}, false
	}
	return exceptions[i], true
}

// errorsOf returns the errors of the model that the exceptions of a list mean,
// with how they were guessed, and tells those that mean none. The source is
// empty if there is no list.
func (p *policy) errorsOf(key string) (list []string, from, guess string) {
	var guesses []string
	slow := false
	for _, e := range p.texts(key) {
		if from == "" {
			from = source(e)
		}
		x, ok := exceptionOf(e.value.Value)
		if !ok {
			p.r.lose(e.place.Line, "not in the model: %s of %s: %s", e.name, p.name, e.value.Value)
			continue
		}
		meaning := strings.Join(x.errors, ", ")
		if meaning == "" {
			meaning = "none of the scenario"
		}
		guesses = append(guesses, x.name+" is "+meaning)
		slow = slow || x.slow
		for _, code := range x.errors {
			if !slices.Contains(list, code) {
				list = append(list, code)
			}
		}
	}
	guess = from + "; GUESSED from the names of classes: " + strings.Join(guesses, "; ")
	if slow && !slices.Contains(list, "timeout") && !slices.Contains(list, "any") {
		guess += "; not timeout, which is the time limiter's java.util.concurrent.TimeoutException"
	}
	return list, from, guess
}

// known reports whether all exceptions of a list are.
func (p *policy) known(key string) bool {
	return !slices.ContainsFunc(p.texts(key), func(e entry) bool {
		_, ok := exceptionOf(e.value.Value)
		return !ok
	})
}

func inList(list []string) string { return "[" + strings.Join(list, ", ") + "]" }

// exceptions writes a list of errors, if it is not empty.
func (p *policy) exceptions(key, name string) {
	switch list, from, guess := p.errorsOf(name); {
	case len(list) > 0:
		p.set(key, inList(list), guess)
	case from != "" && p.known(name):
		p.note("%s", guess)
	}
}

// exceptionsRetried writes which errors a retry repeats: by default all of them,
// those of an open breaker inside included.
func (p *policy) exceptionsRetried() {
	on, from, guess := p.errorsOf("retryExceptions")
	switch {
	case len(on) > 0:
		p.set("on", inList(on), guess)
	case from != "" && p.known("retryExceptions"):
		p.set("not_on", "[any]", guess+"; nothing that the scenario has is retried")
		p.errorsOf("ignoreExceptions")
		return
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
// of them alone: those of the model that are neither recorded nor ignored.
func (p *policy) recorded(name, ignored string) {
	failures, from, guess := p.errorsOf(name)
	switch {
	case from == "" || slices.Contains(failures, "any"):
		return
	case len(failures) == 0 && !p.known(name):
		p.note("%s; GUESSED: none of the classes tells an error of the model, so all errors are failures", from)
		return
	}
	others, _, _ := p.errorsOf(ignored)
	known := append(failures, others...)
	if rest := without(known); len(rest) > 0 {
		p.set("success", inList(rest), guess+"; what is not in it counts as a success")
	}
	if slices.Contains(known, "connect-timeout") && !slices.Contains(known, "connect-failure") {
		p.note("a refused connection is a failure, too: it has no name without connect-timeout")
	}
}

// classes are the names of the errors of the model, but for any and left, each
// before those that it holds.
var classes = []string{"timeout", "connect-failure", "connect-timeout", "reset", "breaker-open", "limit", "other", "4xx", "5xx"}

// membersOf lists the single errors that a name stands for.
func membersOf(name string) (list []string) {
	switch name {
	case "any":
		for _, class := range classes {
			list = append(list, membersOf(class)...)
		}
	case "connect-failure":
		list = []string{"", "connect-timeout"} // the first is refused, which has no name of its own
	case "4xx", "5xx":
		for n := range 100 {
			list = append(list, fmt.Sprintf("%c%02d", name[0], n))
		}
	default:
		list = []string{name}
	}
	return list
}

// without lists all errors but some, a class by its members that are left if it
// is not whole.
func without(some []string) (rest []string) {
	gone := map[string]bool{}
	for _, name := range some {
		for _, m := range membersOf(name) {
			gone[m] = true
		}
	}
	for _, class := range classes {
		members := membersOf(class)
		left := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return gone[m] })
		if len(left) == len(members) {
			rest = append(rest, class)
		} else {
			rest = append(rest, slices.DeleteFunc(left, func(m string) bool { return m == "" })...)
		}
		for _, m := range members {
			gone[m] = true
		}
	}
	return rest
}
