package model_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
)

// A link is a call of the configuration with its caller.
type link struct {
	from string
	*model.Call
	callers uint64 // requests of the client, or services that the node began
}

// links lists the calls in the order of Ledger.Calls.
func links(c *model.Config, l *model.Ledger) []link {
	var list []link
	add := func(from string, steps []model.Step, callers uint64) {
		for i := range steps {
			for j := range steps[i].Calls {
				list = append(list, link{from, &steps[i].Calls[j], callers})
			}
		}
	}
	for i, n := range c.Nodes {
		add(n.Name, n.Steps, l.Nodes[i].Begun)
	}
	for i, k := range c.Clients {
		add(k.Name, k.Steps, l.Clients[i].Requests)
	}
	return list
}

// layers counts the layers of both stacks, and multiplies their attempts.
func (k *link) layers() (retries, timeouts, breakers, limits int, attempts float64) {
	attempts = 1
	for _, s := range []model.Stack{k.Stack, k.Sidecar} {
		for _, l := range s {
			switch {
			case l.Timeout > 0:
				timeouts++
			case l.Breaker != nil:
				breakers++
			case l.Limit != nil:
				limits++
			case l.Retry.Attempts != model.Unlimited:
				retries++
				attempts *= float64(l.Retry.Attempts)
			default:
				retries++
				attempts *= 4 // as drawn
			}
		}
	}
	return retries, timeouts, breakers, limits, attempts
}

// Each entry of a call into its innermost layer, at first or by a retry, is
// one attempt, or one refusal, or ends before it is sent; and each failure is
// a decision of a layer.
func TestLedgerOfLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		l := runRandom(t, r.Config, 1).Ledger()
		list := links(&r.Config, l)
		if len(list) != len(l.Calls) {
			t.Fatalf("%d links in the ledger, want %d", len(l.Calls), len(list))
		}
		told := false // of a deadline, at which a node's own calls end
		for _, k := range list {
			told = told || k.PropagateDeadline
		}
		for i, k := range list {
			c := &l.Calls[i]
			name := c.From + " to " + c.To
			if c.From != k.from || c.To != k.To {
				t.Fatalf("link %d: %s, want %s to %s", i, name, k.from, k.To)
			}
			atMost(t, name+": calls", c.Calls, k.callers*uint64(max(k.Times, 1)))

			retries, timeouts, breakers, limits, attempts := k.layers()
			atMost(t, name+": attempts of a call", float64(c.MostAttempts), attempts)
			atMost(t, name+": attempts", c.Attempts, c.Calls*c.MostAttempts)
			entries, sent := c.Calls+c.Retries, c.Attempts+c.Refused+c.Limited
			atMost(t, name+": attempts and refusals of the entries", sent, entries)
			atMost(t, name+": entries that came to nothing", entries-sent, c.Left+c.TimedOut+c.InFlight)
			if retries == 0 && c.Retries+c.Denied+c.Spent+c.NotRetryable+c.Late != 0 {
				t.Fatalf("%s: no retry, but %+v", name, *c)
			}
			if breakers == 0 && (c.Refused != 0 || c.Openings != 0 || c.OpenTime != 0) || limits == 0 && c.Limited != 0 {
				t.Fatalf("%s: %d breakers and %d limits, but %+v", name, breakers, limits, *c)
			}
			if timeouts == 0 && !told && c.TimedOut != 0 {
				t.Fatalf("%s: no timeout, but %+v", name, *c)
			}
			if retries == 1 && len(k.Stack) > 0 && k.Stack[0].Retry != nil {
				atMost(t, name+": failed, by what the retry decided", c.Failed, c.Denied+c.Spent+c.NotRetryable+c.Late+c.TimedOut)
			}
		}
	})
}

// Where nothing is wrong, all that was asked for is done once: no retry, no
// refusal, no work for nothing.
func TestLedgerOfHealthySystems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		r.Horizon, r.Interval = time.Hour, 0
		heal := func(steps []model.Step) {
			for i := range steps {
				steps[i].Need = 0
				for j := range steps[i].Calls {
					c := &steps[i].Calls[j]
					c.Stack, c.Sidecar = onlyRetries(c.Stack), onlyRetries(c.Sidecar)
				}
			}
		}
		meant := map[string]uint64{} // calls of each node
		count := func(steps []model.Step, times uint64) {
			for _, s := range steps {
				for _, c := range s.Calls {
					meant[c.To] += times * uint64(max(c.Times, 1))
				}
			}
		}
		for i := range r.Nodes {
			n := &r.Nodes[i]
			n.Faults, n.Trace, n.Shed, n.Queue.Limit, n.ServicePerInFlight = nil, nil, model.Shed{}, model.Optional[int]{}, 0
			n.Workers = max(n.Workers, 2)
			heal(n.Steps)
		}
		for i := range r.Clients {
			heal(r.Clients[i].Steps)
		}
		l := runRandom(t, r.Config, 1).Ledger()
		for i, c := range l.Clients {
			if c.Succeeded != c.Requests || c.Latency < 0 {
				t.Fatalf("%+v, want only successes", c)
			}
			count(r.Clients[i].Steps, c.Requests)
		}
		for i, n := range l.Nodes {
			if want := meant[n.Name]; n.Attempts != want || n.Succeeded != want || n.Begun != want {
				t.Fatalf("%+v, want %d attempts and successes", n, want)
			}
			if n.Useful != n.Busy || n.DuplicateWrites != 0 {
				t.Fatalf("%+v, want only useful work and no duplicates", n)
			}
			if r.Nodes[i].Writes && n.Writes == 0 && n.Attempts > 0 {
				t.Fatalf("%+v, want writes", n)
			}
			count(r.Nodes[i].Steps, n.Attempts)
		}
		for _, c := range l.Calls {
			if c.Succeeded != c.Calls || c.Attempts != c.Calls || c.Retries != 0 {
				t.Fatalf("%+v, want an attempt and a success for each call", c)
			}
		}
	})
}

func onlyRetries(s model.Stack) model.Stack {
	var kept model.Stack
	for _, l := range s {
		if l.Retry != nil {
			kept = append(kept, l)
		}
	}
	return kept
}

// Below a chain of callers with k attempts each a dead node gets the product
// of them for each request, and no node gets more.
func TestLedgerOfDeadChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.IntRange(1, 5).Draw(t, "depth")
		requests := rapid.IntRange(1, 5).Draw(t, "requests")
		fault := rapid.SampledFrom([]model.Fault{{Kind: model.FaultError}, {Kind: model.FaultError, Fast: true}, {Kind: model.FaultCrash}}).Draw(t, "fault")
		cfg := model.Config{Horizon: time.Hour}
		var attempts []uint64
		product := uint64(requests)
		hop := func(i int) model.Call {
			k := rapid.IntRange(1, 4).Draw(t, "attempts")
			product *= uint64(k)
			attempts = append(attempts, product)
			c := model.Call{To: nodeName(i), Stack: model.Stack{retries(k, nil)}}
			if rapid.Bool().Draw(t, "by the sidecar") {
				c.Stack, c.Sidecar = nil, c.Stack
			}
			return c
		}
		cfg.Clients = []model.Client{{Name: "client", Arrivals: evenly(10), Requests: requests, Steps: one(hop(0))}}
		for i := range depth - 1 {
			cfg.Nodes = append(cfg.Nodes, relay(nodeName(i), hop(i+1)))
		}
		cfg.Nodes = append(cfg.Nodes, backend(nodeName(depth-1), ms, fault))
		for i, n := range runRandom(t, cfg, 1).Ledger().Nodes {
			if n.Attempts != attempts[i] || n.Succeeded != 0 || n.InFlight != 0 {
				t.Fatalf("%+v, want %d attempts without success", n, attempts[i])
			}
		}
	})
}
