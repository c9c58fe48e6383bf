package importer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
	"go.yaml.in/yaml/v3"
)

// Envoy: retry policies of routes, circuit breakers and outlier detection of
// clusters, wherever they stand in a file, in YAML or JSON.

func isEnvoy(root *yaml.Node) bool {
	return deep(root, 0, func(key string) bool {
		switch relaxed(key) {
		case "retrypolicy", "circuitbreakers", "outlierdetection", "numretries", "retrybackoff":
			return true
		}
		return false
	})
}

// deep reports whether f says so of any key in a part of a file.
func deep(n *yaml.Node, depth int, f func(string) bool) bool {
	if n = document.Resolve(n); depth > 40 {
		return false
	}
	if hasKey(n, f) {
		return true
	}
	for _, c := range n.Content {
		if deep(c, depth+1, f) {
			return true
		}
	}
	return false
}

// An envoyFile is what was found in one.
type envoyFile struct {
	routes   []envoyRoute
	clusters []settings          // with breakers or outlier detection
	plain    map[string]settings // clusters with neither, by name
}

type envoyRoute struct {
	action settings
	retry  settings
	some   bool // there is a retry policy
}

func readEnvoy(r *reader, roots []*yaml.Node) {
	f := envoyFile{plain: make(map[string]settings)}
	for _, root := range roots {
		f.walk(r, root, "", settings{r: r}, 0)
	}
	used := make([]bool, len(f.clusters))
	byName := make(map[string]int)
	for k, c := range f.clusters {
		if name, _, ok := c.text("name"); ok {
			byName[name] = k
		}
	}
	uses := make(map[string]int)
	nodes := make(map[string]string) // of clusters that more than one route has
	for _, route := range f.routes {
		name, _, _ := route.action.text("cluster")
		uses[name]++
	}
	for _, route := range f.routes {
		name, _, _ := route.action.text("cluster")
		shared := ""
		if name != "" && uses[name] > 1 {
			shared = name
		}
		k, ok := byName[name]
		cluster := settings{r: r}
		if plain, found := f.plain[name]; found && !ok {
			plain.skip("name")
			cluster = plain
		} else if !ok && len(f.clusters) == 1 { // alone, it is index 0
			ok = name == "" || !f.clusters[0].has("name")
		}
		if ok {
			used[k] = true
			cluster = f.clusters[k]
			if own, _, ok := cluster.text("name"); ok {
				name = own
			}
		}
		s := envoyStack(r, name, shared, route, cluster)
		if shared == "" {
			continue
		}
		if nodes[shared] == "" {
			nodes[shared] = s.node
		}
		s.node = nodes[shared]
	}
	for k, cluster := range f.clusters {
		if !used[k] {
			name, _, _ := cluster.text("name")
			envoyStack(r, name, "", envoyRoute{action: settings{r: r}, retry: settings{r: r}}, cluster)
		}
	}
}

// walk finds routes and clusters. The retry policy of a virtual host is handed
// down to routes without their own.
func (f *envoyFile) walk(r *reader, n *yaml.Node, path string, host settings, depth int) {
	if n = document.Resolve(n); depth > 40 {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for i, v := range n.Content {
			f.walk(r, v, fmt.Sprintf("%s[%d]", path, i), host, depth+1)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	s := r.at(n, path)
	if s.has("num_retries", "retry_on") && !s.has("retry_policy") { // a retry policy alone
		f.routes = append(f.routes, envoyRoute{settings{r: r, maps: []mapping{{place: s.place()}}}, s, true})
		r.open(s)
		return
	}
	isHost := s.has("routes")
	if s.has("circuit_breakers", "outlier_detection") {
		f.clusters = append(f.clusters, s)
	} else if name := textAt(n, "name"); name != "" && s.has("load_assignment", "hosts", "type", "lb_policy", "connect_timeout") {
		f.plain[name] = s
	}
	if s.has("retry_policy") {
		own, _ := s.child("retry_policy")
		if isHost {
			host = own
		} else {
			r.open(s)
			f.routes = append(f.routes, envoyRoute{s, own, true})
		}
	}
	for _, e := range s.maps[0].entries {
		switch relaxed(e.name) {
		case "retrypolicy", "circuitbreakers", "outlierdetection":
			if !r.is(e.name, "retry_policy", "circuit_breakers", "outlier_detection") {
				r.open(s) // so that the key is told as unknown
			}
			continue
		}
		if r.is(e.name, "route") && e.value.Kind == yaml.MappingNode && !r.at(e.value, e.place.Path).has("retry_policy") {
			action := r.at(e.value, e.place.Path)
			r.open(action)
			f.routes = append(f.routes, envoyRoute{action, host, len(host.maps) > 0})
		}
		f.walk(r, e.value, e.place.Path, host, depth+1)
	}
}

// open says that settings are looked into, where no key of theirs led there.
func (r *reader) open(s settings) {
	for _, in := range s.maps {
		r.inner[in.node] = true
	}
}

func envoyStack(r *reader, name, shared string, route envoyRoute, cluster settings) *stack {
	at := route.action
	if len(at.maps) == 0 {
		at = cluster
	}
	cluster = cluster.or(route.action)
	if name == "" {
		name = "upstream"
	}
	s := r.stack(name, at)
	s.sidecar = true
	s.add(r.timeout(name+"-timeout", route.action.or(cluster), protoDuration, 15*time.Second, "for all attempts", "timeout"))
	breakers := envoyThresholds(cluster)
	if route.some {
		p := envoyRetry(r, name, route.retry, breakers)
		p.shared(shared, "retries")
		s.add(p)
	} else {
		for _, key := range []string{"max_retries", "retry_budget"} {
			if e, ok := breakers.find(consumed, key); ok {
				r.lose(e.place.Line, "not in effect without a retry policy: %s: %s", e.name, flow(e.value))
			}
		}
	}
	hosts, where := envoyHosts(cluster)
	if hosts > 0 {
		s.replicas, s.replicasFrom = strconv.Itoa(hosts), where
	}
	if _, ok := cluster.find(opened, "outlier_detection"); ok {
		p := envoyOutlier(r, name, cluster, hosts, where)
		p.shared(shared, "outlier")
		s.add(p)
	}
	if p := envoyLimit(r, name, breakers); p != nil {
		p.shared(shared, "requests")
		s.add(p)
	}
	s.add(r.timeout(name+"-per-try-timeout", route.retry, protoDuration, 0, "for an attempt", "per_try_timeout"))
	return s
}

// or returns the settings, or others if there are none.
func (s settings) or(other settings) settings {
	if len(s.maps) == 0 {
		s.maps = []mapping{{place: other.place()}}
	}
	return s
}

// envoyThresholds returns the thresholds of the default priority.
func envoyThresholds(cluster settings) settings {
	breakers, _ := cluster.child("circuit_breakers")
	none := settings{cluster.r, []mapping{{place: breakers.place()}}}
	for _, e := range breakers.list(opened, "thresholds") {
		t := cluster.r.at(e.value, e.place.Path)
		priority, _, given := t.text("priority")
		if !given || strings.EqualFold(priority, "DEFAULT") || priority == "0" {
			return t
		}
		cluster.r.lose(e.place.Line, "not in the model: thresholds of priority %s: %s", priority, flow(e.value))
	}
	return none
}

// unlimited is the least number that means no limit.
const unlimited = 1 << 31

func envoyLimit(r *reader, name string, s settings) *policy {
	n, e, ok := s.whole(0, "max_requests")
	if n >= unlimited || ok && n == 0 {
		if n == 0 {
			r.add(e.place, "0, which lets no request through, want at least 1")
		}
		r.lose(e.place.Line, "no limit of %s: %s: %d", name, e.name, n)
		return nil
	}
	p := r.policy(name+"-max-requests", "limit", s)
	if !ok {
		p.set("in_flight", "1024", "default of max_requests, of each proxy")
		return p
	}
	p.set("in_flight", fmt.Sprint(min(n, most)), source(e)+", of each proxy")
	return p
}

func envoyRetry(r *reader, name string, s, breakers settings) *policy {
	p := r.policy(name+"-retry", "retry", s)
	if n, e, ok := s.whole(0, "num_retries"); ok {
		p.attempts(n+1, source(e)+", the first excluded")
	} else {
		p.attempts(2, "default of num_retries, 1")
	}
	if s.has("retry_budget") {
		e, _ := s.find(consumed, "retry_budget")
		r.add(e.place, "retry_budget in a retry policy, want it in circuit_breakers.thresholds of the cluster")
	}
	p.envoyErrors(s, "retry_on")
	p.open("backoff")
	p.set("preset", "envoy", "full jitter")
	p.open("params")
	c := presets.EnvoyBackoffDefaults()
	c.BaseInterval, c.MaxInterval = p.envoyBackoff(c.BaseInterval)
	p.must(c.Validate())
	p.close(2)
	p.envoyBudget(breakers)
	return p
}

func (p *policy) envoyBackoff(base time.Duration) (time.Duration, time.Duration) {
	whole := p.settings
	defer func() { p.settings = whole }()
	p.settings, _ = whole.child("retry_back_off")
	base = p.duration("base_interval", protoDuration, base, "base_interval")
	longest, e, ok := p.span(protoDuration, "max_interval")
	if !ok {
		longest = 10 * base
		p.set("max_interval", longest.String(), "default: 10 times the base, "+inMilliseconds(longest))
		return base, longest
	}
	p.keep("MaxInterval", e)
	p.set("max_interval", longest.String(), source(e)+": "+inMilliseconds(longest))
	return base, longest
}

// envoyBudget writes what bounds retries: retry_budget, or max_retries.
func (p *policy) envoyBudget(s settings) {
	p.open("budget")
	defer p.close(1)
	budget, given := s.child("retry_budget")
	n, e, ok := s.whole(0, "max_retries")
	switch {
	case given:
		if ok {
			p.note("not in effect: %s: %d (line %d), there is a retry_budget", e.name, n, e.place.Line)
		}
		p.share(budget.envoyPercent("budget_percent", 20), budget, "min_retry_concurrency")
	case ok && n >= unlimited:
		p.set("kind", "unlimited", source(e)+": no limit")
	case ok:
		p.set("preset", "envoy-max-retries", "")
		p.set("params", fmt.Sprintf("{concurrent: %d}", n), source(e)+": retries at a time, their waits included")
	default:
		p.set("preset", "envoy-max-retries", "")
		p.set("params", "{concurrent: 3}", "default of max_retries: retries at a time, their waits included")
	}
}

// share writes a budget of a share of the active requests.
func (p *policy) share(percent [2]string, s settings, floor string) {
	p.set("preset", "envoy-retry-budget", "")
	p.open("params")
	p.open("share")
	p.set("share", percent[0]+"%", percent[1]+" of the active requests")
	n, e, ok := s.whole(0, floor)
	switch {
	case !ok:
		p.set("floor", "3", "default: retries at a time that are always granted")
	case n >= unlimited:
		p.set("floor", "2147483647", source(e)+": no limit")
	default:
		p.set("floor", fmt.Sprint(n), source(e)+": retries at a time that are always granted")
	}
	p.close(2)
}

// envoyPercent reads {value: 20}; it returns the number and where it is from.
func (s settings) envoyPercent(key string, def float64) [2]string {
	e, ok := s.find(opened, key)
	if !ok {
		return [2]string{number(def), "default: " + number(def) + " %"}
	}
	if e.value.Kind != yaml.MappingNode {
		s.r.marks[e.key] = consumed
		s.r.add(e.place, "%s, want a message such as {value: %v}", document.KindOf(e.value), def)
		return [2]string{number(def), ""}
	}
	inner := s.r.at(e.value, e.place.Path)
	x, v, ok := inner.real(0, 100, "value")
	if !ok {
		return [2]string{"0", source(e) + ": 0 %"}
	}
	return [2]string{number(x), fmt.Sprintf("%s (line %d): %s %%", e.name, v.place.Line, number(x))}
}
