package presets

// A driftingSum adds up what was written in the last slices of time: some that
// are stored, and the one being written. It has no clock. Its owner rolls it
// at the first operation after the end of a slice, and the next slice begins
// then: so the edges drift with the traffic.
type driftingSum struct {
	stored  []int64
	at      int   // where the slice being written will be stored
	old     int64 // sum of the stored ones
	writing int64
}

func newDriftingSum(stored int) driftingSum { return driftingSum{stored: make([]int64, stored)} }

func (s *driftingSum) add(n int64) { s.writing += n }

func (s *driftingSum) sum() int64 { return s.old + s.writing }

// roll stores the slice being written and begins another, before which some
// more passed without an operation.
func (s *driftingSum) roll(passed int64) {
	s.put(s.writing)
	s.writing = 0
	for n := min(passed, int64(len(s.stored))); n > 0; n-- {
		s.put(0)
	}
}

func (s *driftingSum) put(n int64) {
	s.old += n - s.stored[s.at]
	s.stored[s.at] = n
	if s.at++; s.at == len(s.stored) {
		s.at = 0
	}
}
