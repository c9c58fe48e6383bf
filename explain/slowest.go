package explain

import "math"

// slowest is the earliest opening by slow calls alone: good ones in the mean time
// if that is slow; if not, those that are answered or fail as soon as they count
// as slow, or hang.
func (s *sight) slowest(b *Breaker) float64 {
	only := s.trip
	only.failures, only.number, only.consecutive = 0, 0, 0
	first := never
	by := func(calls feed) {
		o := opening{trip: &only, calls: calls}
		at, _ := o.at()
		first = math.Min(first, at)
	}
	if s.goodLate {
		by(s.fail.calls)
		return first
	}
	if s.goodIsSlow() {
		by(s.well)
		return first
	}
	by(s.fail.calls)
	by(s.hang.calls)
	if just := s.slowAfter + tiny; just < b.Hanging {
		calls := s.feed(just, false, false)
		for i := range calls {
			calls[i].finish = finish{takes: just}
		}
		by(calls)
		by(s.feed(just, true, false))
	}
	return first
}

// goodIsSlow reports whether a good call of the mean time counts as slow.
func (s *sight) goodIsSlow() bool { return s.isSlow(finish{takes: s.goodTakes}) }
