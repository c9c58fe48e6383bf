package scenario

import (
	"strings"
	"testing"
)

// drill is one evenly spaced request in 100ms, so that a run has 100.
const drill = `name: drill
horizon: 10s
policies:
  again: {retry: 2}
nodes:
  b:
    faults:
      - {error: 100%, from: 0s, to: 5s}
clients:
  web: {arrivals: 10/s, calls: [{to: b, stack: [again]}]}
`

// verdictsOf lists the cases of a scenario that is run, with the mean of each
// claim.
func verdictsOf(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for _, r := range reportsOf(t, text, 2) {
		b.WriteString(r.Case.Variant + ":")
		for i := range r.Verdicts {
			b.WriteString(" " + r.Verdicts[i].format(r.Verdicts[i].Mean))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A variant changes what it names, wherever that stands, and nothing else.
func TestVariants(t *testing.T) {
	for _, tc := range []struct{ name, set, want string }{
		{"a value", "clients.web.arrivals: 20/s", "200 300"},
		{"a place in a list", "nodes.b.faults[0].to: 2s", "100 120"},
		{"a mapping in a list", "nodes.b.faults[0]: {error: 100%, to: 1s}", "100 110"},
		{"a whole list", "nodes.b.faults: []", "100 100"},
		{"a list in a list", "clients.web.calls[0].stack[0]: {retry: 4}", "100 250"},
		{"a short form by another", "policies.again.retry: {attempts: 3}", "100 200"},
		{"a new key", "clients.web.requests: 10", "10 20"},
		{"a new key in a list", "clients.web.calls[0].times: 2", "100 300"},
		{"nothing in a list", "nodes.b.faults[0]: null", "100 100"},
		{"a new policy, and its use", "policies.never: {retry: 1}; clients.web.calls[0].stack[0]: never", "100 100"},
		{"a new node", "nodes.c: {}; clients.web.calls: [b, c]", "100 100"},
		{"nothing becomes something", "clients.web.calls[0].stack: []", "100 100"},
		{"the horizon", "horizon: 1s", "10 20"},
		{"two in order", "nodes.b.faults[0].to: 2s; nodes.b.faults[0].from: 1s", "100 110"},
	} {
		text := drill + "claims: [requests == 100, 'calls{node=b} == 150']\nvariants:\n" + block(2, "v.set", tc.set)
		if got, want := verdictsOf(t, text), ": 100 150\nv: "+tc.want+"\n"; got != want {
			t.Errorf("%s: %s\nwant %s", tc.name, got, want)
		}
	}
}

// Claims of a variant take the place of those of the scenario, which is run
// itself only if it has any.
func TestClaimsOfVariants(t *testing.T) {
	variants := "variants: {mute: {}, own: {claims: [succeeded == 50]}}\n"
	if got := verdictsOf(t, drill+"claims: [requests == 100]\n"+variants); got != ": 100\nmute: 100\nown: 50\n" {
		t.Error(got)
	}
	if got := verdictsOf(t, drill+variants); got != "mute:\nown: 50\n" {
		t.Error(got)
	}
}

// All combinations of swept values are run, the last path changing fastest, in
// every variant.
func TestSweep(t *testing.T) {
	text := drill + `claims: [requests == 1, 'calls{node=b} == 1']
sweep:
  clients.web.arrivals: [10/s, 20/s]
  nodes.b.faults[0].to: [1s, 2s, 5s]
variants:
  twice: {set: {horizon: 20s}}
  patient: {set: {policies.again.retry: 3}}
`
	const want = `clients.web.arrivals=10/s, nodes.b.faults[0].to=1s: 100 110
clients.web.arrivals=10/s, nodes.b.faults[0].to=2s: 100 120
clients.web.arrivals=10/s, nodes.b.faults[0].to=5s: 100 150
clients.web.arrivals=20/s, nodes.b.faults[0].to=1s: 200 220
clients.web.arrivals=20/s, nodes.b.faults[0].to=2s: 200 240
clients.web.arrivals=20/s, nodes.b.faults[0].to=5s: 200 300
twice, clients.web.arrivals=10/s, nodes.b.faults[0].to=1s: 200 210
twice, clients.web.arrivals=10/s, nodes.b.faults[0].to=2s: 200 220
twice, clients.web.arrivals=10/s, nodes.b.faults[0].to=5s: 200 250
twice, clients.web.arrivals=20/s, nodes.b.faults[0].to=1s: 400 420
twice, clients.web.arrivals=20/s, nodes.b.faults[0].to=2s: 400 440
twice, clients.web.arrivals=20/s, nodes.b.faults[0].to=5s: 400 500
patient, clients.web.arrivals=10/s, nodes.b.faults[0].to=1s: 100 120
patient, clients.web.arrivals=10/s, nodes.b.faults[0].to=2s: 100 140
patient, clients.web.arrivals=10/s, nodes.b.faults[0].to=5s: 100 200
patient, clients.web.arrivals=20/s, nodes.b.faults[0].to=1s: 200 240
patient, clients.web.arrivals=20/s, nodes.b.faults[0].to=2s: 200 280
patient, clients.web.arrivals=20/s, nodes.b.faults[0].to=5s: 200 400
`
	if got := verdictsOf(t, text); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A path that leads into the value of one before it changes that value.
func TestSweepWithin(t *testing.T) {
	text := drill + `claims: ['calls{node=b} == 1']
sweep:
  nodes.b.faults[0]: [{error: 100%, to: 4s}, {error: 100%, to: 2s}]
  nodes.b.faults[0].from: [0s, 1s]
`
	const fault = "nodes.b.faults[0]={error: 100%, to: "
	want := fault + "4s}, nodes.b.faults[0].from=0s: 140\n" + fault + "4s}, nodes.b.faults[0].from=1s: 130\n" +
		fault + "2s}, nodes.b.faults[0].from=0s: 120\n" + fault + "2s}, nodes.b.faults[0].from=1s: 110\n"
	if got := verdictsOf(t, text); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What is wrong with a change is told where the change stands, which is line 11
// or later.
func TestWrongChanges(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"variants:\n  v:\n    set:\n      nodes.c.workers: 1", `test.yaml:14:7: variants.v.set.nodes.c.workers: path "nodes.c.workers": there is no "c"`},
		{"variants:\n  v:\n    set:\n      node.b.workers: 1", `test.yaml:14:7: variants.v.set.node.b.workers: path "node.b.workers": there is no "node"; did you mean "nodes"?`},
		{"variants:\n  v:\n    set:\n      nodes.b.faults[1].error: 1", "test.yaml:14:7: variants.v.set.nodes.b.faults[1].error: path \"nodes.b.faults[1].error\": there is no place [1]"},
		{"variants:\n  v:\n    set:\n      nodes.b.wrokers: 1", `test.yaml:14:24: nodes.b.wrokers: unknown key "wrokers"; did you mean "workers"?`},
		{"variants:\n  v:\n    set:\n      nodes.b.workers: lots", `test.yaml:14:24: nodes.b.workers: "lots", want `},
		{"variants:\n  v:\n    set: {horizon: 1s}\n    claims:\n      - requests == 5 until 2s", "test.yaml:15:9: variants.v.claims[0]"},
		{"sweep:\n  nodes.c.workers: [1]", `test.yaml:12:3: sweep.nodes.c.workers: path "nodes.c.workers": there is no "c"`},
		{"sweep:\n  nodes.b.workers: [1, lots]", `test.yaml:12:24: nodes.b.workers: "lots", want `},
		{"sweep:\n  nodes.b.workers: []", "test.yaml:12:3: sweep.nodes.b.workers: nodes.b.workers: 0 combinations, want 1 to 10000"},
		{"sweep:\n  seed: [" + strings.Repeat("1, ", 200) + "1]\n  replications: [" + strings.Repeat("1, ", 200) + "1]", "test.yaml:13:3: sweep.replications: replications: 40401 combinations"},
	} {
		_, err := Parse("test.yaml", []byte(drill+tc.text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%.60s: %v\nwant %s", tc.text, err, tc.want)
		}
	}
}
