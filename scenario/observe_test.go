package scenario

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// claimsHold checks that all claims of a scenario hold.
func claimsHold(t *testing.T, text string) {
	t.Helper()
	for _, v := range reportsOf(t, text, 1)[0].Verdicts {
		if v.Status != Holds {
			t.Errorf("%s: %s, measured %s", v.Claim, v.Status, v.Measured())
		}
	}
}

// The link w-b shares a breaker with v-a, and each of its two instances has one
// of its own, which opens at its first failure, at 20.01s and 20.11s.
const guarded = `
horizon: 40s
policies: {one: {breaker: {consecutive: 3, open: 5s, share: one}}}
nodes:
  a: {service: 10ms, faults: [{error: 100%, from: 10s, to: 12s}]}
  b: {service: 10ms, faults: [{error: 100%, from: 20s}]}
clients:
  w: {arrivals: 10/s, start: 20s, instances: 2, calls: [{to: b, stack: [breaker: {consecutive: 1, open: 100s}, policy: one]}]}
  v: {arrivals: 10/s, calls: [{to: a, stack: [policy: one]}]}
claims:
`

// What is claimed of a link is of all its breakers, and of a name that is shared
// of that breaker alone: it opens at the third failure of v-a.
func TestSharedAndPrivateBreakers(t *testing.T) {
	claimsHold(t, guarded+`
  - openings{link=v-a} == 1
  - openings{breaker=one} == 1
  - openings{link=w-b} == 3
  - openings{link=w-b} == 2 after 20s
  - openings{breaker=one} == 0 after 20s
  - closings{link=v-a} == 1
  - closings{breaker=one} == 1
  - closings{link=w-b} == 1
  - first_opening{link=v-a} == 10.21s
  - first_opening{breaker=one} == 10.21s
  - first_opening{link=w-b} == 10.21s
  - open_time{breaker=one} == 5.09s
  - open_time{link=w-b} == 44.97s
  - open_time{link=w-b} == 100ms after 20s until 20.11s
  - requests{client=v} == 103 before opening of one
  - requests{client=v} == 103 before opening of w-b
  - openings{link=w-b} == 0 before opening of w-b
`)
}

// The private breakers of a link open though the one that it shares does not.
func TestPrivateBesideShared(t *testing.T) {
	const calm = `
horizon: 40s
policies: {g: {breaker: {consecutive: 100, share: g}}}
nodes: {a: {}, b: {service: 10ms, faults: [{error: 100%, from: 20s}]}}
clients:
  v: {arrivals: 10/s, calls: [{to: a, stack: [policy: g]}]}
  w: {arrivals: 10/s, calls: [{to: b, stack: [breaker: {consecutive: 1, open: 100s}, policy: g]}]}
claims:
`
	claimsHold(t, calm+`
  - openings{link=w-b} == 1
  - first_opening{link=w-b} == 20.01s
  - calls{node=b} == 201 before opening of w-b
  - openings{breaker=g} == 0
  - first_opening{breaker=g} == never
  - open_time{breaker=g} == 0s
  - first_opening{link=v-a} == never
`)
}

// A name that is shared adds up its links, with each breaker on them once.
func TestSharedNames(t *testing.T) {
	claimsHold(t, `
horizon: 40s
policies:
  one: {breaker: {consecutive: 3, open: 100s, share: one}}
  again: {retry: {attempts: 2, share: pool, budget: {kind: tokens, ratio: 0.1, cap: 5}}}
nodes: {a: {faults: [{error: 100%, from: 20s}]}, b: {}}
clients:
  v: {arrivals: 10/s, calls: [{to: a, stack: [policy: one, policy: again], sidecar: [policy: one]}]}
  w: {arrivals: 5/s, calls: [{to: b, stack: [policy: one, policy: again]}]}
  x: {arrivals: 1/s, calls: [{to: b}]}
claims:
  - openings{link=v-a} == 1
  - openings{budget=pool} == 1
  - attempts{link=v-a} == 202
  - attempts{link=w-b} == 101
  - attempts{budget=pool} == 303
  - refused{link=v-a} == 199
  - refused{link=w-b} == 99
  - refused{breaker=one} == 298
`)
}

// Breakers may begin open: that is no opening, and is time open.
func TestBeginsOpen(t *testing.T) {
	claimsHold(t, `
horizon: 40s
nodes: {a: {}}
clients:
  v:
    instances: 3
    arrivals: 100/s
    calls: [{to: a, stack: [breaker: {preset: resilience4j-count, params: {initial_state: open, wait_in_open_state: {initial_interval: 15s}}}]}]
claims:
  - openings == 0
  - first_opening == never
  - open_time == 15s until 5s
`)
}

// The ledger of an observation is the model's where no breaker is shared, and
// what is at its instant is not before it.
func TestLedgerOfAnObservation(t *testing.T) {
	for _, text := range []string{busy, outage + "  - openings >= 1\n", opens} {
		c := oneCase(t, text)
		o, err := c.start(0)
		if err != nil {
			t.Fatal(err)
		}
		for at := 5 * time.Second; at <= c.Config.Horizon; at += 5 * time.Second {
			if err := o.system.RunUntil(context.Background(), sim.Time(at)); err != nil {
				t.Fatal(err)
			}
			if got, want := o.ledger(at), o.system.Ledger(); !reflect.DeepEqual(got, want) {
				t.Fatalf("at %v: ledger\n%+v\nwant\n%+v", at, got, want)
			}
		}
		horizon := c.Config.Horizon
		for _, at := range []time.Duration{horizon - time.Second, horizon} {
			o.watch(0, policies.Change{From: policies.Closed, To: policies.Open, At: sim.New().Clock().Now().Add(at)})
		}
		before, _, _ := o.breakers[0].until(horizon - time.Second)
		after, _, _ := o.breakers[0].until(horizon)
		if after != before+1 {
			t.Errorf("%d openings before the last second and %d in all, want one more: that at the horizon is not in the run", before, after)
		}
	}
}
