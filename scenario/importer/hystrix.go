package importer

import (
	"fmt"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"go.yaml.in/yaml/v3"
)

// Hystrix with the retries of Ribbon inside, as of a Zuul gateway.

func isHystrix(root *yaml.Node) bool {
	return hasKey(root, func(key string) bool {
		first := strings.ToLower(steps(key)[0])
		return first == "hystrix" || first == "ribbon"
	})
}

func readHystrix(r *reader, roots []*yaml.Node) {
	for i, root := range roots {
		root = undot(undot(root, "hystrix"), "ribbon")
		roots[i] = root
		file := r.at(root, "")
		all, given := file.child("hystrix")
		ribbon, balanced := file.child("ribbon")
		commands, _ := all.child("command")
		pools, _ := all.child("threadpool")
		h := hystrix{r: r, defaults: settings{r: r}, ribbon: ribbon, balanced: balanced}
		h.pool, _ = pools.child("default")
		list := commands.each()
		for _, e := range list {
			if e.name == "default" {
				h.defaults = r.at(e.value, e.place.Path)
			}
		}
		if len(list) == 0 && given || !given && balanced {
			h.command("default", all)
		}
		for _, e := range list {
			if e.name != "default" || len(list) == 1 {
				h.command(e.name, r.at(e.value, e.place.Path))
			}
		}
	}
}

// A hystrix is what all commands of a file have in common.
type hystrix struct {
	r                      *reader
	defaults, pool, ribbon settings
	balanced               bool // there is a ribbon
}

func (h *hystrix) command(name string, own settings) {
	r := h.r
	section := func(path ...string) settings {
		s := settings{r: r}
		for _, from := range []settings{own, h.defaults} {
			for _, key := range path {
				from, _ = from.child(key)
			}
			s.maps = append(s.maps, from.maps...)
		}
		return s
	}
	stack := r.stack(name, own)
	breaker := section("circuitBreaker")
	if breaker.enabled("breaker of " + name) {
		p := r.policy(name+"-breaker", "breaker", breaker)
		p.set("preset", "hystrix-1.5.18", "")
		p.open("params")
		c := presets.Hystrix1518Defaults()
		c.VolumeThreshold = p.count("volume_threshold", 0, c.VolumeThreshold, "calls", "requestVolumeThreshold")
		c.ErrorThreshold = p.count("error_threshold", 0, c.ErrorThreshold, "%", "errorThresholdPercentage")
		c.SleepWindow = p.duration("sleep_window", milliseconds, c.SleepWindow, "sleepWindowInMilliseconds")
		p.settings = section("metrics", "rollingStats")
		c.Window = p.duration("window", milliseconds, c.Window, "timeInMilliseconds")
		p.settings = section("metrics", "healthSnapshot")
		c.SnapshotInterval = p.duration("snapshot_interval", milliseconds, c.SnapshotInterval, "intervalInMilliseconds")
		p.settings = breaker
		p.must(c.Validate())
		stack.add(p)
	}
	stack.add(h.bulkhead(name, section("execution", "isolation"), section("execution", "isolation", "semaphore")))
	if section("execution", "timeout").enabled("timeout of " + name) {
		thread := section("execution", "isolation", "thread")
		stack.add(r.timeout(name+"-timeout", thread, milliseconds, time.Second, "for a call with its retries", "timeoutInMilliseconds"))
	}
	if h.balanced {
		stack.add(h.retry(name))
		stack.add(r.timeout(name+"-read-timeout", h.ribbon, milliseconds, time.Second, "for an attempt", "ReadTimeout"))
	}
}

// enabled reports whether something is not switched off, and tells if it is.
func (s settings) enabled(what string) bool {
	if s.flag(true, "enabled") {
		return true
	}
	e, _ := s.find(consumed, "enabled")
	s.r.lose(e.place.Line, "switched off: %s: %s", what, e.value.Value)
	return false
}

// bulkhead is the threads of a command, or its semaphore.
func (h *hystrix) bulkhead(name string, isolation, semaphore settings) *policy {
	from, key, what := h.pool, "coreSize", "threads"
	if strategy, e, ok := isolation.text("strategy"); ok {
		switch relaxed(strategy) {
		case "thread":
		case "semaphore":
			from, key, what = semaphore, "maxConcurrentRequests", "calls in progress"
		default:
			h.r.add(e.place, "%q, want THREAD or SEMAPHORE", strategy)
		}
	}
	p := h.r.policy(name+"-bulkhead", "limit", from)
	p.count("in_flight", 1, 10, what, key)
	return p
}

// retry is that of Ribbon: MaxAutoRetries on a server, and the same on each of
// MaxAutoRetriesNextServer others.
func (h *hystrix) retry(name string) *policy {
	same, _, given := h.ribbon.whole(0, "MaxAutoRetries")
	next, _, too := h.ribbon.whole(0, "MaxAutoRetriesNextServer")
	if !too {
		next = 1
	}
	p := h.r.policy(name+"-retry", "retry", h.ribbon)
	comment := fmt.Sprintf("(1 + MaxAutoRetries %d) x (1 + MaxAutoRetriesNextServer %d)", same, next)
	if !given || !too {
		comment += ", defaults 0 and 1"
	}
	p.attempts((1+min(same, most))*(1+min(next, most)), comment)
	p.set("on", "[connect-failure]", "default; GUESSED: not what times out or breaks, which is retried for GET or OkToRetryOnAllOperations")
	if h.ribbon.flag(false, "OkToRetryOnAllOperations") {
		p.lines[len(p.lines)-1] = line{p.depth, "on: [connect-failure, reset, timeout]", "OkToRetryOnAllOperations; GUESSED"}
	}
	return p
}
