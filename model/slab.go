package model

// A slab keeps values in flight in reused places, so that an event can name one
// by a number and nothing is allocated once enough places exist.
type slab[T any] struct {
	values []T
	free   []uint32
}

// put stores a value and returns its place.
func (s *slab[T]) put(v T) (place uint64) {
	if n := len(s.free); n > 0 {
		i := s.free[n-1]
		s.free = s.free[:n-1]
		s.values[i] = v
		return uint64(i)
	}
	s.values = append(s.values, v)
	return uint64(len(s.values) - 1)
}

// take removes and returns the value in a place.
func (s *slab[T]) take(place uint64) (v T) {
	v, s.values[place] = s.values[place], v
	s.free = append(s.free, uint32(place))
	return v
}

// held is the number of values stored.
func (s *slab[T]) held() int { return len(s.values) - len(s.free) }
