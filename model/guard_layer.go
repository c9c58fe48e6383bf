package model

import "github.com/stormglass/stormglass/policies"

// How a retry layer comes by its guard.

// guarded gives the retries of a stack their guards. Each asks the breaker that
// stands nearest inside the retry; where that is one for each instance of the
// caller, so is the guard, whatever the budget is.
func (b *builder) guarded(stack Stack, layers []layer, instances int) error {
	for i := range stack {
		r := stack[i].Retry
		if r == nil || r.Guard == nil {
			continue
		}
		l := &layers[i]
		var breakers []policies.CircuitBreaker // nil if none is asked
		if at := askedBreaker(stack, i); at >= 0 {
			breakers = layers[at].breakers
			if layers[at].private != 0 && l.private == 0 {
				l.private = layers[at].private
				for len(l.retries) < instances {
					l.retries = append(l.retries, l.retries[0])
				}
			}
		}
		retries := make([]*policies.Retry, len(l.retries))
		for k, retry := range l.retries {
			var breaker policies.CircuitBreaker
			if len(breakers) > 0 {
				breaker = breakers[k%len(breakers)] // the only one, or that of the instance
			}
			guard, err := policies.NewGuard(*r.Guard, breaker)
			if err != nil {
				return err
			}
			retries[k] = retry.Guarded(guard)
		}
		l.retries = retries
	}
	return nil
}

// askedBreaker is the index of the breaker that the guard of a retry layer
// asks, -1 if it asks none or there is none.
func askedBreaker(s Stack, retry int) int {
	if !s[retry].Retry.Guard.Asks(policies.GuardBreaker) {
		return -1
	}
	for i := retry + 1; i < len(s); i++ {
		if s[i].Breaker != nil {
			return i
		}
	}
	return -1
}

// guard checks the guard of a retry layer, if it has one.
func (k *check) guard(thing string, s Stack, at int) {
	r := s[at].Retry
	if r == nil || r.Guard == nil {
		return
	}
	if !k.policy(thing, r.Guard.Validate()) {
		return
	}
	if r.Guard.Asks(policies.GuardBreaker) && askedBreaker(s, at) < 0 {
		k.add(thing, "retry: guard asks a breaker, want one inside the retry in the same stack")
	}
}

// unsafe reports whether the calls of a request over a link must not be made
// twice. That is so at all attempts, whatever the policies are.
func (h *hop) unsafe(r *request) bool {
	p := h.call.UnsafeRatio
	return p >= 1 || p > 0 && h.safety.Float64(r.key, 0) < p
}
