package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
)

// A file with one layer, node or client of interest, in block style from line 5.
const (
	asNode   = "horizon: 1m\nclients:\n  w: {arrivals: 1/s, calls: [b]}\nnodes:\n  b:\n%s"
	asClient = "horizon: 1m\nnodes: {b: {}}\nclients:\n  w:\n%s"
	asLayer  = "horizon: 1m\nclients:\n  w: {arrivals: 1/s, calls: [{to: b, stack: [p]}]}\nnodes: {b: {}}\npolicies:\n  p:\n%s"
)

// block writes key: value lines below a path such as retry.budget, each
// key of the path a level deeper.
func block(indent int, path, lines string) string {
	var b strings.Builder
	for _, key := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' }) {
		fmt.Fprintf(&b, "%s%s:\n", strings.Repeat(" ", indent), key)
		indent += 2
	}
	for _, line := range strings.Split(lines, "; ") {
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", indent), line)
	}
	return b.String()
}

// Each wrong value is told at its own key, the last of its lines.
func TestWrongValues(t *testing.T) {
	for _, tc := range []struct{ form, path, lines string }{
		{asLayer, "", "timeout: 0s"},
		{asLayer, "limit", "in_flight: 0"},
		{asLayer, "retry", "attempts: 0"},
		{asLayer, "retry", "on: [6xx]"},
		{asLayer, "retry", "on: [any]; not_on: [nothing]"},
		{asLayer, "retry", "guard: [luck]"},
		{asLayer, "retry", "attempts: unlimited"},
		{asLayer, "retry", "share: s"},
		{asLayer, "retry.backoff", "kind: fixed; base: 0s"},
		{asLayer, "retry.backoff", "base: 1s; multiplier: 0.5"},
		{asLayer, "retry.backoff", "base: 1s; multiplier: 2; cap: 1ms"},
		{asLayer, "retry.backoff", "base: 1s; multiplier: 2; first_exponent: 99"},
		{asLayer, "retry.backoff", "kind: full; base: 1s; jitter: 50%"},
		{asLayer, "retry.backoff", "base: 1s; cap_last: true"},
		{asLayer, "retry.backoff", "kind: decorrelated; base: 1s; multiplier: 2"},
		{asLayer, "retry.backoff", "preset: envoi"},
		{asLayer, "retry.budget", "preset: finagel"},
		{asLayer, "retry.budget", "kind: tokens; ratio: 10%; cap: 0"},
		{asLayer, "retry.budget", "kind: tokens; ratio: 10%; cap: 10; initial: 11"},
		{asLayer, "retry.budget", "kind: tokens; ratio: 10%; cap: 10; initial: -1"},
		{asLayer, "retry.budget", "kind: tokens; ratio: 10%; cap: 10; floor: 3"},
		{asLayer, "retry.budget", "kind: counter; ratio: 10%; reset_at: 10; grace: -1"},
		{asLayer, "retry.budget", "kind: counter; ratio: 10%; grace: 10; reset_at: 5"},
		{asLayer, "retry.budget", "kind: share; ratio: 10%; floor: -1"},
		{asLayer, "retry.budget", "kind: concurrent; cap: -1"},
		{asLayer, "retry.budget", "kind: throttle; ratio: 10%; max_tokens: 0"},
		{asLayer, "retry.budget", "kind: window; ratio: 10%; length: 0s"},
		{asLayer, "breaker", "preset: hystrics"},
		{asLayer, "breaker", "window: 10; minimum: -1"},
		{asLayer, "breaker", "window: 10; failure_rate: 0"},
		{asLayer, "breaker", "window: 10; slow_rate: 50%; slow_after: 0s"},
		{asLayer, "breaker", "window: 10; open: 0s"},
		{asLayer, "breaker", "window: 10; probes: 0"},
		{asLayer, "breaker", "window: 10; probes: unlimited"},
		{asLayer, "breaker", "window: 10; probes_in_flight: -1"},
		{asLayer, "breaker", "window: 10; close_after: 3"},
		{asLayer, "breaker", "window: 10; probes: 2; half_open: first-failure; close_after: 3"},
		{asLayer, "breaker", "window: 10; slow_in_flight: true"},
		{asLayer, "breaker", "window: 10; consecutive: -1"},
		{asLayer, "breaker", "window: 10; ignore: [nothing]"},
		{asLayer, "breaker", "window: 10; success: [nothing]"},
		{asLayer, "breaker", "window: 0"},
		{asLayer, "breaker", "window: 10s/7"},
		{asLayer, "breaker.window", "calls: -1"},
		{asLayer, "breaker.window", "length: 10s; buckets: -1"},
		{asLayer, "breaker.window", "length: 10s; max_calls: -1"},
		{asLayer, "breaker.window", "calls: 10; buckets: 5"},
		{asLayer, "breaker.window", "length: 10s; buckets: 5; max_calls: 10"},

		{asLayer, "limit", "in_flight: 1; share: \"a\\nb\""},
		{"horizon: 1m\nclients:\n  w: {arrivals: 1/s, calls: ['b,c']}\nnodes:\n%s", "", "  b,c: {}"},
		{"horizon: 1m\nclients:\n  w: {arrivals: 1/s, calls: [x per y]}\nnodes:\n%s", "", "  x per y: {}"},
		{asLayer, "breaker", "consecutive: 5; window: 3"},
		{asNode, "service", "samples: []"},
		{asNode, "", "replicas: 0"},
		{asNode, "shed", "in_flight: 0"},
		{asNode, "faults", "- error: 10%;   for: 0s"},
		{asNode, "faults", "- error: 10%;   to: 0.1ns"},
		{asNode, "faults", "- error: 10%;   first: 0"},
		{asClient, "", "arrivals: 1/s; calls: [b]; requests: 0"},
		{asClient, "", "arrivals: 1/s; calls: [b]; end: 0s"},
		{asLayer, "retry", "deadline: 0s"},
		{asLayer, "breaker", "window: 10s; minimum: 0"},
		{asNode, "faults", "- error: 10%;   from: 1m"},
		{asNode, "faults", "- stall: true;   for: 5s;   from: 70s"},
		{asNode, "trace.segments", "- error: 10%;   to: 80s;   from: 70s"},
		{asNode, "", "replicas: -1"},
		{asNode, "", "workers: 0"},
		{asNode, "", "service: exponential 0s"},
		{asNode, "service", "law: lognormal; mean: 5ms; cv: -1"},
		{asNode, "service", "law: uniform; low: 5ms; high: 1ms"},
		{asNode, "service", "law: exponential; mean: 0s"},
		{asNode, "shed", "in_flight: -1"},
		{asNode, "shed", "rate: 1/s; burst: -1"},
		{asNode, "shed", "in_flight: 1; burst: 5"},
		{asNode, "shed", "code: 429"},
		{asNode, "", "calls: [b]"},
		{asNode, "", "calls: c"},
		{asNode, "", "trace: nothing.csv"},
		{asNode, "trace.segments", "from: 5s; to: 1s"},
		{asNode, "service", "law: quantiles; quantiles: {p90: 5ms, p50: 1ms}"},
		{asNode, "faults", "error: 0"},
		{asNode, "faults", "slow: 0"},
		{asNode, "faults", "limit: 0/s"},
		{asNode, "faults", "stall: true; from: 2m"},
		{asNode, "faults", "from: 20s; stall: true; to: 10s"},
		{asNode, "faults", "stall: true; replica: 1"},
		{asNode, "faults", "error: 1; first: -1"},
		{asNode, "faults", "error: 1; client: nobody"},
		{asNode, "faults", "limit: 1/s; burst: -1"},
		{asNode, "faults", "stall: true; code: 500"},
		{asNode, "faults", "stall: true; fast: true"},
		{asNode, "faults", "stall: true; effect: true"},
		{asNode, "faults", "stall: true; silent: true"},
		{asNode, "script", "times: -1"},

		{asClient, "", "calls: [b]; arrivals: 1/s; instances: -1"},
		{asClient, "", "calls: [b]; arrivals: 1/s; requests: -1"},
		{asClient, "", "calls: [b]; arrivals: 1/s; start: 2m"},
		{asClient, "", "calls: [b]; arrivals: 1/s; start: 20s; end: 10s"},
		{asClient, "", "calls: [b]; loop: 0"},
		{asClient, "", "calls: [b]; arrivals: 0/s"},
		{asClient, "", "calls: [b]; arrivals: {ramp: {over: 5s, from: 0/s}}"},
		{asClient, "", "arrivals: 1/s; calls: [c]"},
		{asClient, "", "arrivals: 1/s; calls: [{parallel: [b, b], times: 2}]"},
		{asClient, "", "arrivals: 1/s; calls: [{to: b, sidecar: [{retry: {guard: [breaker]}}]}]"},
		{asClient, "", "arrivals: 1/s; calls: [{to: b, times: -1}]"},
		{asClient, "", "arrivals: 1/s; calls: [{to: b, stack: [nobody]}]"},
		{asClient, "", "arrivals: 1/s; calls: [{parallel: [b, b], need: 3}]"},
	} {
		text := fmt.Sprintf(tc.form, block(4, tc.path, tc.lines))
		last := len(strings.Split(strings.TrimSpace(text), "\n"))
		_, err := Parse("f", []byte(text))
		if err == nil {
			t.Errorf("%s: %s is accepted", tc.path, tc.lines)
			continue
		}
		key := tc.lines[strings.LastIndex(tc.lines, "; ")+1:]
		key, _, _ = strings.Cut(strings.TrimSpace(key), ":")
		if line, _, _ := strings.Cut(err.Error(), "\n"); !strings.HasPrefix(line, fmt.Sprintf("f:%d:", last)) || !strings.Contains(line, key) {
			t.Errorf("%s: %s: want line %d and key %s:\n%v", tc.path, tc.lines, last, key, err)
		}
	}
}

func layerText(kind, policy string) string {
	if kind != "breaker" {
		policy = fmt.Sprintf("{retry: {%s: %s}}", kind, policy)
	} else {
		policy = fmt.Sprintf("{breaker: %s}", policy)
	}
	return fmt.Sprintf("horizon: 1s\nclients: {w: {arrivals: 1/s, calls: [{to: b, stack: [p]}]}}\nnodes: {b: {}}\npolicies: {p: %s}\n", policy)
}

// Every preset is known by its name, in both forms, and has no param bogus.
func TestPresets(t *testing.T) {
	names := map[string][]string{"breaker": presets.BreakerNames(), "budget": presets.BudgetNames(), "backoff": presets.BackoffNames()}
	for _, kind := range slices.Sorted(maps.Keys(names)) {
		for _, name := range names[kind] {
			for _, form := range []string{name, "{preset: " + name + "}", "{preset: " + name + ", params: {}}"} {
				if _, err := Parse("f", []byte(layerText(kind, form))); err != nil {
					t.Errorf("%s %s: %v", kind, form, err)
				}
			}
			_, err := Parse("f", []byte(layerText(kind, "{preset: "+name+", params: {bogus: 1}}")))
			if err == nil || !strings.HasPrefix(err.Error(), "f:4:") || !strings.Contains(err.Error(), `params.bogus: unknown key "bogus"`) {
				t.Errorf("%s %s: %v, want bogus located", kind, name, err)
			}
		}
	}
}

func TestPresetParams(t *testing.T) {
	for _, tc := range []struct{ kind, policy, want string }{
		{"breaker", "{preset: gobreaker, params: {timeout: 5s}}", ""},
		{"breaker", "{preset: gobreaker, params: {timeout: 5}}", "params.timeout: \"5\" has no unit"},
		{"breaker", "{preset: gobreaker, params: {timeot: 5s}}", `did you mean "timeout"?`},
		{"breaker", "{preset: gobreaker, open: 5s}", "breaker.open: beside a preset"},
		{"breaker", "{window: 10, params: {timeout: 5s}}", "parameters without a preset"},
		{"budget", "{preset: finagle, cap: 5}", "budget.cap: beside a preset"},
		{"backoff", "{preset: envoy, base: 5s}", "backoff.base: beside a preset"},
		{"backoff", `""`, "is no duration"},
	} {
		_, err := Parse("f", []byte(layerText(tc.kind, tc.policy)))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %s", tc.kind, tc.policy, err, tc.want)
		}
	}
}

// errorsOf are the lines of the error of a file.
func errorsOf(text string) []string {
	_, err := Parse("f", []byte(text))
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}

// A part is told by its own place, also where the model names it by number.
func TestPlaceOfPart(t *testing.T) {
	for _, tc := range []struct{ form, lines, want string }{
		{asNode, "    faults: [{stall: true}, {slow: 0}]\n", "f:6:36: nodes.b.faults[1].slow: factor 0, want"},
		{asNode, "    script: [ok, {times: -1}]\n", "f:6:26: nodes.b.script[1].times: times -1, want"},
		{asNode, "    trace: {segments: [{to: 2s}, {from: 1s, to: 3s}]}\n", "f:6:41: nodes.b.trace.segments[1].from: start 1s, want"},
		{asClient, "    arrivals: 1/s\n    calls: [b, {parallel: [b, {to: b, times: -1}]}]\n", "f:6:46: clients.w.calls[1].parallel[1].times: times -1, want"},
		{asClient, "    arrivals: 1/s\n    calls: [b, {parallel: [b, b], need: 3}]\n", "f:6:41: clients.w.calls[1].need: need 3, want"},
		{asClient, "    arrivals: 1/s\n    calls: [{to: b, stack: [{limit: {in_flight: 1, share: s}}, {limit: {in_flight: 2, share: s}}]}]\n",
			"f:6:94: clients.w.calls[0].stack[1].limit.share: limit: share \"s\", want"},
		{asClient, "    calls: [b]\n    arrivals: {ramp: {to: 5/s, over: 0s}}\n", `f:6:38: clients.w.arrivals.ramp.over: arrivals "ramp": ramp length 0s, want`},
		{asClient, "    calls: [b]\n    arrivals: {bursts: {rate: 5/s, off_rate: 1/s, on: 1s, off: 0s}}\n", `f:6:64: clients.w.arrivals.bursts.off: arrivals "bursts": off length 0s, want`},
		{asLayer, "    retry: {guard: [budget, breaker]}\n", "f:7:20: policies.p.retry.guard: retry: guard asks a breaker, want"},
	} {
		list := errorsOf(fmt.Sprintf(tc.form, tc.lines))
		if len(list) != 1 || !strings.HasPrefix(list[0], tc.want) {
			t.Errorf("%s: %q, want %q", tc.lines, list, tc.want)
		}
	}
}

// Words count as a whole, in any case, those of the subject before others and
// the longest first; what is in quotes does not.
func TestNearest(t *testing.T) {
	at := document.Place{Keys: map[string]document.Place{}}
	for _, key := range []string{"on", "probes", "probes_in_flight", "cv", "cap"} {
		at.Keys[key] = document.Place{Path: key}
	}
	for text, want := range map[string]string{
		"breaker: probes 0, want 1":                "probes",
		"breaker: probes in flight 0, want probes": "probes_in_flight",
		`law "cap: on": CV -1, want on`:            "cv",
		"only concurrent captures, want one":       "",
		"retries -1, want less than the cap":       "cap",
		`active "probes", want one`:                "",
		"rest 5, want an end":                      "cap",
	} {
		if got := nearest(at, words{"cap": "reset,rest"}, text).Path; got != want {
			t.Errorf("%s: at %q, want %q", text, got, want)
		}
	}
}

// What only a variant or a swept value brings names it; the rest is told once.
func TestProblemsOfVariants(t *testing.T) {
	const form = "horizon: 1m\nnodes: {b: {replicas: %d}}\nclients: {w: {arrivals: 1/s, calls: [b]}}\n"
	for _, tc := range []struct {
		replicas int
		rest     string
		want     []string
	}{
		{1, "variants:\n  good: {set: {nodes.b.replicas: 2}}\n  slow: {set: {nodes.b.replicas: -2}}\n  slower: {set: {nodes.b.replicas: x}}\n",
			[]string{`f:6:34: nodes.b.replicas: replicas -2, want at least 1, or 0 for 1 (in variant "slow")`,
				`f:7:36: nodes.b.replicas: "x", want a whole number (in variant "slower")`}},
		{1, "sweep:\n  nodes.b.replicas: [1, -3, -4]\n",
			[]string{`f:5:25: nodes.b.replicas: replicas -3, want at least 1, or 0 for 1 (in variant "nodes.b.replicas=-3")`,
				`f:5:29: nodes.b.replicas: replicas -4, want at least 1, or 0 for 1 (in variant "nodes.b.replicas=-4")`}},
		{-1, "variants:\n  x: {set: {clients.w.requests: 5}}\n  y: {set: {clients.w.requests: -5}}\n",
			[]string{`f:2:23: nodes.b.replicas: replicas -1, want at least 1, or 0 for 1`,
				`f:6:33: clients.w.requests: requests -5, want at least 1, or 0 for no bound (in variant "y")`}},
	} {
		if got := errorsOf(fmt.Sprintf(form, tc.replicas) + tc.rest); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tc.rest, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// Many names that are not known are told quickly: the known ones are looked
// at for the first of them only.
func TestManyUnknownNames(t *testing.T) {
	var text strings.Builder
	text.WriteString("horizon: 1m\nclients: {w: {arrivals: 1/s, calls: [n1]}}\nnodes:\n")
	const n = 3000
	for i := range n {
		fmt.Fprintf(&text, "  n%d: {calls: [m%d]}\n", i, i)
	}
	list := errorsOf(text.String())
	hints := 0
	for _, line := range list {
		if strings.Contains(line, "did you mean") {
			hints++
		}
	}
	if want := fmt.Sprintf("f: %d more problems", n-50); hints != hinted || list[len(list)-1] != want {
		t.Errorf("%d hints and %q, want %d and %q", hints, list[len(list)-1], hinted, want)
	}
}

// What would be passed over in silence is refused.
func TestNothingIsPassedOver(t *testing.T) {
	const file = `horizon: 1m
clients: {w: {arrivals: 1/s, calls: [{to: b, stack: [%s]}, {to: c, stack: [{breaker: {window: 5, share: x}}]}]}}
nodes: {b: {}, c: {}}
policies: {p: {retry: 2}}
%s`
	for _, tc := range []struct{ stack, rest, want string }{
		{"{policy: p, timeout: 1s}", "", "stack[0].timeout: beside policy"},
		{"{breaker: {window: 5, share: x, ignore: [503]}}", "", `"x" counts ignore [], success [] here and ignore ["503"], success [] before`},
		{"p", "sweep: {claims: [[requests > 0]]}", `path "claims", want none in claims`},
		{"p", "variants: {v: {set: {sweep: {}}}}", `path "sweep", want none in sweep`},
		{"p", "sweep: {nodes.b.workers: [1, 2], nodes.b: [{workers: 3}]}", `path "nodes.b" replaces "nodes.b.workers"`},
		{"p", "variants: {v: {set: {nodes.b.workers: 1, nodes.b: {}}}}", `path "nodes.b" replaces "nodes.b.workers"`},
	} {
		_, err := Parse("f", fmt.Appendf(nil, file, tc.stack, tc.rest))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s %s: %v, want %s", tc.stack, tc.rest, err, tc.want)
		}
	}
}
