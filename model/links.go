package model

import "fmt"

// A Link is a call of a Config with its caller.
type Link struct {
	*Call

	// Name is caller-callee, such as "web-shop"; the second of such a name is
	// "web-shop#2". No two links of a Config have the same name.
	Name string

	From string // the caller's name
	// Caller is the caller's place: in Nodes, or behind them in Clients.
	Caller int
	// Instances is the number of equal callers, each with policies of its own:
	// the Replicas of a node or the Instances of a client, at least 1.
	Instances int
	// Step is the place of the call's step among those of the caller, Place
	// that of the call in the step, both from 0.
	Step, Place int
}

// Links lists the links of a Config in the order of Ledger.Calls: callers in the
// order nodes, clients; for each in the order of its steps. It asks nothing of
// the Config, which may be one that is not valid. What is changed in a link's
// Call is changed in the Config.
func (c Config) Links() []Link {
	var list []Link
	last := make(map[string]int) // number of the last link of a name; 0 if it is free
	add := func(from string, instances, caller int, steps []Step) {
		for i := range steps {
			for k := range steps[i].Calls {
				call := &steps[i].Calls[k]
				base := from + "-" + call.To
				name := base
				for last[name] > 0 {
					last[base]++
					name = fmt.Sprintf("%s#%d", base, last[base])
				}
				last[name] = 1
				list = append(list, Link{call, name, from, caller, max(1, instances), i, k})
			}
		}
	}
	for i := range c.Nodes {
		add(c.Nodes[i].Name, c.Nodes[i].Replicas, i, c.Nodes[i].Steps)
	}
	for i := range c.Clients {
		add(c.Clients[i].Name, c.Clients[i].Instances, len(c.Nodes)+i, c.Clients[i].Steps)
	}
	return list
}

// Together adds up the ledgers of some links, given by their places in Calls.
// MostAttempts is the most of any of them, and From and To are empty. A breaker
// that several of them share counts at each.
func (l *Ledger) Together(links ...int) CallLedger {
	var sum CallLedger
	for _, i := range links {
		c := &l.Calls[i]
		sum.Calls += c.Calls
		sum.Succeeded += c.Succeeded
		sum.Failed += c.Failed
		sum.Left += c.Left
		sum.InFlight += c.InFlight
		sum.Attempts += c.Attempts
		sum.Tries += c.Tries
		sum.Repeats += c.Repeats
		sum.RepeatsSucceeded += c.RepeatsSucceeded
		sum.TimedOut += c.TimedOut
		sum.Retries += c.Retries
		sum.RetriesSucceeded += c.RetriesSucceeded
		sum.Denied += c.Denied
		sum.Spent += c.Spent
		sum.NotRetryable += c.NotRetryable
		sum.Late += c.Late
		sum.NotClosed += c.NotClosed
		sum.NotIdempotent += c.NotIdempotent
		sum.UnsafeRetries += c.UnsafeRetries
		sum.MostAttempts = max(sum.MostAttempts, c.MostAttempts)
		sum.Refused += c.Refused
		sum.RefusedOpen += c.RefusedOpen
		sum.Limited += c.Limited
		sum.Openings += c.Openings
		sum.OpenTime = addTime(sum.OpenTime, c.OpenTime)
	}
	return sum
}
