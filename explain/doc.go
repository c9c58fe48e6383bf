// Package explain says in words and numbers what a system can do, without
// running it: how often its nodes are called at worst, how long a caller may
// wait, which breakers can open and when, what its budgets allow, and whether
// the load still fits the capacity once everybody retries.
//
// It is arithmetic on a [model.Config], with these conventions:
//
//   - Rates are those of the busiest time; whether a node stays down is judged
//     by the load that lasts. A closed loop makes as many requests as its
//     clients can if every answer takes its mean time.
//   - Calls are evenly spaced, so a time window W holds ⌈λW⌉ of them; retries
//     come after their mean waits, the calls of a step come together, and clients
//     of a closed loop who begin together go on together. Where arrivals are
//     random that is a mean, and the sentence says so.
//   - A service takes its mean time, unless a bound is asked for. Faults and
//     traces say what may happen, not when, and change no mean; the longest times
//     allow for them.
//   - In a total outage of a node every call of it fails, after that time or, if
//     it hangs, when a timeout ends it. An error is repeated where the retry
//     layer repeats it; the worst case takes one that all of them do.
//   - Budgets, caps and breakers that are not shared are one for each instance
//     of the caller, and instances have equal shares of the load.
//
// What chance and queues do beyond that is the business of a run.
//
//	e := explain.Explain(c)
//	if e.Has(explain.Problem) {
//		e.WriteText(os.Stdout)
//	}
package explain
