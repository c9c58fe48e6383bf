// Package policies decides about calls: whether one may be made, and what its
// outcome teaches. A policy here is production code. It takes a clock and
// outcomes, starts no goroutine and no timer, and does not know whether it
// runs in a service or in a simulation.
//
// A breaker has two steps, since the answer to a call comes later:
//
//	b, err := policies.NewBreaker(policies.BreakerConfig{
//		Rule: policies.RuleConfig{
//			Window:   policies.WindowConfig{Kind: policies.TimeWindow, Length: 10 * time.Second},
//			MinCalls: 20, FailureRate: 0.5,
//		},
//		OpenFor: 5 * time.Second, Probes: 10,
//	}, nil)
//	...
//	if permit, ok := b.Allow(); ok {
//		start := time.Now()
//		err := call()
//		b.Record(permit, policies.Outcome{Latency: time.Since(start), Err: err})
//	}
//
// [Breaker] stops calls to a callee that seems to be down and probes whether
// it is back. [Rule] is what opens it, a window and its thresholds, for those
// who only observe. [WindowConfig] tells the kinds of window apart.
//
// [Retry] decides whether a failed attempt is made again, after which wait of a
// [Backoff], and within which [Budget]: tokens, a counter, a share of what is in
// flight or of what was asked lately, a number of retries at a time, or a
// throttle on the failures. A [Guard] puts more questions to a retry, in an order:
// whether the budget grants it, whether the breaker is closed, whether the call
// may be made twice. [RetryPresets] are policies that were published.
//
// Breakers, budgets and back-offs of real libraries are in package presets: each
// is a [CircuitBreaker], a Budget or [Delays], and stands wherever those of this
// package do.
//
// Left to the caller are the calls themselves, their timeouts, and what to
// answer in place of a call that was refused.
//
// # Costs
//
// Every method of a breaker takes amortised constant time, and none allocates
// for an outcome; a change of state allocates once. Allow of a closed breaker is
// an atomic load. Record takes a mutex, and reads the clock only for windows that
// need the time. Successes that cannot make the rule trip are counted by an
// atomic step instead, and goroutines that meet at one breaker note their
// outcomes apart as long as these cannot make it trip. Nothing is less exact
// for it.
//
// A count window takes two bits for each call it holds, a time window 8 to 16
// bytes, buckets 32 bytes each; with InFlightSlow there are 32 bytes for each
// call in flight. Once goroutines have met at a breaker it takes 4 KiB more, and
// 16 KiB for each of up to 16 of them if the window is one of time. Memory is
// kept for reuse and not given back.
//
// # Time
//
// All intervals are half-open. An outcome leaves a time window at the instant
// its age is the length; an open breaker refuses until OpenFor is over and
// allows at that instant. Slow means strictly longer than SlowAfter. A clock
// that goes back is taken to stand still.
package policies
