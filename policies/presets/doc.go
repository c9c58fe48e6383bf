// Package presets holds the breakers, throttles, retry budgets, back-offs and
// limiters of real libraries under their own names, with their own defaults,
// exact to the decision: recordings of the libraries are replayed against them
// row for row (package conformance).
//
// There is one file for each library and kind of policy. Its comments say
// where the rules stand (repository, version, file), what the defaults are and
// what is peculiar. Each configuration is a plain struct; a function returns
// it with the library's defaults:
//
//	c := presets.GobreakerDefaults()
//	c.Timeout = 5 * time.Second
//	breaker, err := c.NewCircuitBreaker(policies.Host{})
//
// All breakers are one state machine, [Breaker]: what a library does in one
// state is a stage, and what it counts in a window. [OutlierDetector], which has
// many hosts to look at, is the only one apart.
package presets
