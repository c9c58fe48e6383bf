package model_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
)

// eachCall lets f change every call of a system.
func eachCall(c *model.Config, f func(caller int, call *model.Call)) {
	steps := func(caller int, list []model.Step) {
		for i := range list {
			for j := range list[i].Calls {
				f(caller, &list[i].Calls[j])
			}
		}
	}
	for i := range c.Nodes {
		steps(max(c.Nodes[i].Replicas, 1), c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		steps(max(c.Clients[i].Instances, 1), c.Clients[i].Steps)
	}
}

// wantSame runs a system before and after a change that ought to make no
// difference.
func wantSame(t *rapid.T, r *randomSystem, change func()) {
	before := runRandom(t, r.Config, 1).Ledger()
	change()
	if after := runRandom(t, r.Config, 1).Ledger(); !reflect.DeepEqual(before, after) {
		t.Fatalf("before\n%+v\nafter\n%+v", before, after)
	}
}

// Changes of the configuration that say the same in other words.
func TestLedgerIsTheSame(t *testing.T) {
	for name, change := range map[string]func(r *randomSystem){
		"with a series or without": func(r *randomSystem) {
			if r.Interval == 0 {
				r.Interval = 10 * ms
			} else {
				r.Interval = 0
			}
		},
		"with waits recorded or not": func(r *randomSystem) {
			for i := range r.Nodes {
				r.Nodes[i].Waits = !r.Nodes[i].Waits
			}
		},
		"with another balance over one replica": func(r *randomSystem) {
			one := map[string]bool{}
			for _, n := range r.Nodes {
				one[n.Name] = n.Replicas <= 1
			}
			eachCall(&r.Config, func(_ int, c *model.Call) {
				if one[c.To] {
					c.Balance = map[string]string{
						"": model.PowerOfTwo, model.RoundRobin: model.Random, model.Random: model.LeastRequests,
						model.LeastRequests: "", model.PowerOfTwo: model.RoundRobin,
					}[c.Balance]
				}
			})
		},
		"with the other kind of worker where nothing is called": func(r *randomSystem) {
			for i := range r.Nodes {
				if n := &r.Nodes[i]; len(n.Steps) == 0 {
					n.Async = !n.Async
				}
			}
		},
		"with defaults spelled out": func(r *randomSystem) {
			for i := range r.Nodes {
				n := &r.Nodes[i]
				n.Replicas = max(n.Replicas, 1)
				if n.Queue.Order == "" {
					n.Queue.Order = model.FIFO
				}
				for j := range n.Faults {
					f := &n.Faults[j]
					if f.End == 0 {
						f.End = r.Horizon
					}
					if f.Kind == model.FaultError && f.Ratio == 0 {
						f.Ratio = 1
					}
					if f.Kind == model.FaultError && f.Code == 0 {
						f.Code = 503
					}
				}
			}
			for i := range r.Clients {
				c := &r.Clients[i]
				c.Instances = max(c.Instances, 1)
				if c.End == 0 {
					c.End = r.Horizon
				}
			}
			eachCall(&r.Config, func(_ int, c *model.Call) {
				c.Times = max(c.Times, 1)
				if c.Balance == "" {
					c.Balance = model.RoundRobin
				}
			})
		},
		"with a name for what one instance has for itself": func(r *randomSystem) {
			n := 0
			share := func(name *string) {
				if *name == "" {
					n++
					*name = nodeName(1000 + n)
				}
			}
			eachCall(&r.Config, func(callers int, c *model.Call) {
				if callers > 1 {
					return
				}
				for _, s := range []model.Stack{c.Stack, c.Sidecar} {
					for _, l := range s {
						switch {
						case l.Breaker != nil:
							share(&l.Breaker.Share)
						case l.Limit != nil:
							share(&l.Limit.Share)
						case l.Retry != nil && l.Retry.Budget != nil:
							share(&l.Retry.Share)
						}
					}
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				r := drawSystem(t)
				wantSame(t, &r, func() { change(&r) })
			})
		})
	}
}

// Where nobody leaves early it makes no difference whether nodes would notice.
func TestLedgerIsTheSameWithCancel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		for i := range r.Nodes {
			r.Nodes[i].Cancel = false
		}
		before := runRandom(t, r.Config, 1).Ledger()
		for _, c := range before.Calls {
			if c.Left > 0 || c.TimedOut > 0 {
				t.Skip("somebody leaves")
			}
		}
		for i := range r.Nodes {
			r.Nodes[i].Cancel = true
		}
		if after := runRandom(t, r.Config, 1).Ledger(); !reflect.DeepEqual(before, after) {
			t.Fatalf("without\n%+v\nwith\n%+v", before, after)
		}
	})
}

// A proxy that retries is an inner retry of the caller, as long as neither
// looks at the errors, which a proxy answers as a status of its own.
func TestLedgerIsTheSameWithProxy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSystem(t)
		eachCall(&r.Config, func(_ int, c *model.Call) {
			c.Stack, c.Sidecar = blindRetries(c.Stack), blindRetries(c.Sidecar)
		})
		before := runRandom(t, r.Config, 1).Ledger()
		eachCall(&r.Config, func(_ int, c *model.Call) {
			all := append(c.Stack[:len(c.Stack):len(c.Stack)], c.Sidecar...)
			cut := len(all) / 2
			if cut == len(c.Stack) {
				cut = len(all)
			}
			c.Stack, c.Sidecar = all[:cut], all[cut:]
		})
		after := runRandom(t, r.Config, 1).Ledger()
		for i := range before.Clients {
			before.Clients[i].ByCode, after.Clients[i].ByCode = nil, nil
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("before\n%+v\nafter\n%+v", before, after)
		}
	})
}

func blindRetries(s model.Stack) model.Stack {
	s = onlyRetries(s)
	for i := range s {
		r := *s[i].Retry
		r.Errors.RetryOn, r.Errors.NoRetryOn = nil, nil
		s[i].Retry = &r
	}
	return s
}
