package theory

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestChainStates(t *testing.T) {
	for _, test := range []struct {
		rule CountRule
		full float64 // C(N, k-1)
		k    float64
	}{
		{CountRule{20, 20, 0.2}, 1140, 4},
		{CountRule{20, 10, 0.2}, 1140, 4},
		{CountRule{20, 20, 0.5}, 167960, 10},
		{CountRule{20, 20, 0.8}, 15504, 16},
		{CountRule{20, 20, 1}, 20, 20},
		{CountRule{20, 20, 1e-9}, 1, 1},
		{CountRule{1, 1, 1}, 1, 1},
		{CountRule{100, 100, 0.04}, 156849 + 4851, 4}, // C(100, 3)
		{CountRule{100, 100, 0.2}, 1.3234157293921226e20, 20},
	} {
		want := test.full + float64(test.rule.Calls)*(test.k+1)
		got := sure(ChainStates(test.rule))
		near(t, "states", got, want, 1e-14)
		c, err := NewCountChain(test.rule, DefaultMaxStates)
		if got > DefaultMaxStates {
			if !errors.Is(err, ErrTooManyStates) {
				t.Errorf("%+v: error %v, want ErrTooManyStates", test.rule, err)
			}
			continue
		}
		if must(t, c, err).States() != int(want) || c.Rule() != test.rule {
			t.Errorf("%+v: %d states of %+v, want %v", test.rule, c.States(), c.Rule(), want)
		}
	}
	if got := sure(ChainStates(CountRule{100000, 1, 0.5})); !math.IsInf(got, 1) {
		t.Errorf("states of a huge chain: %v", got)
	}
}

func TestNewCountChainErrors(t *testing.T) {
	_, err := NewCountChain(CountRule{20, 20, 0.2}, 100)
	wantError(t, err, "count chain", "20 calls", "failure rate 0.2", "too many states", "at most 100")
	if !errors.Is(err, ErrTooManyStates) {
		t.Errorf("%v is not ErrTooManyStates", err)
	}
	_, err = NewCountChain(CountRule{20, 20, 0.2}, -1)
	wantError(t, err, "too many states")
	_, err = NewCountChain(CountRule{0, 20, 0.2}, 100)
	wantError(t, err, "calls 0")
	_, err = NewCountChain(CountRule{1 << 16, 1, 1e-9}, 1<<30)
	wantError(t, err, "too many states")
	_, err = ChainStates(CountRule{5, 1, 2})
	wantError(t, err, "failure rate 2")
}

// A history decides trips the plain way: it keeps all outcomes since the
// window was emptied, the latest in the lowest bit.
type history struct {
	bits uint64
	held int
}

func (h *history) record(rule CountRule, failed bool) (trip bool) {
	h.bits <<= 1
	if failed {
		h.bits |= 1
	}
	h.held = min(h.held+1, rule.Calls)
	failures := 0
	for i := range h.held {
		failures += int(h.bits >> i & 1)
	}
	if h.held < min(rule.MinCalls, rule.Calls) || float64(failures)/float64(h.held) < rule.FailureRate {
		return false
	}
	*h = history{}
	return true
}

// enumerate goes through all sequences of outcomes.
func enumerate(rule CountRule, ps []float64) (trips []float64, anyTrip float64) {
	trips = make([]float64, len(ps))
	for sequence := range uint64(1) << len(ps) {
		prob := 1.0
		var h history
		var tripped []int
		for i, p := range ps {
			failed := sequence>>i&1 == 1
			if failed {
				prob *= p
			} else {
				prob *= 1 - p
			}
			if h.record(rule, failed) {
				tripped = append(tripped, i)
			}
		}
		for _, i := range tripped {
			trips[i] += prob
		}
		if len(tripped) > 0 {
			anyTrip += prob
		}
	}
	return trips, anyTrip
}

func drawRule(t *rapid.T, most int) CountRule {
	calls := rapid.IntRange(1, most).Draw(t, "calls")
	return CountRule{
		Calls:       calls,
		MinCalls:    rapid.IntRange(1, calls+1).Draw(t, "minimum"),
		FailureRate: float64(rapid.IntRange(1, 20).Draw(t, "rate·20")) / 20,
	}
}

func drawP(t *rapid.T) float64 {
	return rapid.OneOf(rapid.Float64Range(1e-15, 1), rapid.SampledFrom([]float64{0, 1, 1e-3, 1e-8})).Draw(t, "p")
}

func TestChainAgainstAllSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t, 7)
		var segments []Segment
		var ps []float64
		for range rapid.IntRange(1, 4).Draw(t, "segments") {
			s := Segment{int64(rapid.IntRange(0, 4).Draw(t, "length")), drawP(t)}
			segments = append(segments, s)
			for range s.Calls {
				ps = append(ps, s.P)
			}
		}
		each, wantAny := enumerate(rule, ps)
		c, err := NewCountChain(rule, DefaultMaxStates)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.TripsBySegment(segments)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, s := range segments {
			want := 0.0
			for _, v := range each[:s.Calls] {
				want += v
			}
			each = each[s.Calls:]
			near(t, "trips of a segment", got[i], want, 1e-11)
			sum += want
		}
		near(t, "trips", sure(c.ExpectedTrips(segments)), sum, 1e-11)
		near(t, "any trip", sure(c.AnyTrip(segments)), wantAny, 1e-11)
	})
}

// plainTrips keeps the probability of every history in a map.
func plainTrips(rule CountRule, ps []float64) (trips float64) {
	now := map[history]float64{{}: 1}
	for _, p := range ps {
		next := map[history]float64{}
		for h, prob := range now {
			for _, failed := range []bool{false, true} {
				part := prob * (1 - p)
				if failed {
					part = prob * p
				}
				to := h
				if to.record(rule, failed) {
					trips += part
				}
				to.bits &= 1<<(rule.Calls-1) - 1 // what leaves next does not count
				next[to] += part
			}
		}
		now = next
	}
	return trips
}

func TestChainAgainstPlainChain(t *testing.T) {
	for _, rule := range []CountRule{
		{10, 10, 0.3}, {10, 10, 0.5}, {10, 4, 0.5}, {10, 1, 0.9}, {10, 7, 0.2}, {9, 3, 0.45}, {8, 8, 1}, {8, 2, 1}, {10, 6, 0.01},
	} {
		segments := []Segment{{30, 0.1}, {3, 0.9}, {1, 0.5}, {25, 0.3}, {7, 0}, {5, 1}, {20, 0.2}}
		var ps []float64
		for _, s := range segments {
			for range s.Calls {
				ps = append(ps, s.P)
			}
		}
		c := sure(NewCountChain(rule, DefaultMaxStates))
		near(t, "trips", sure(c.ExpectedTrips(segments)), plainTrips(rule, ps), 1e-12)
	}
}

// TestWalkLosesNothing checks that all probability stays in the walk.
func TestWalkLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := sure(NewCountChain(drawRule(t, 12), DefaultMaxStates))
		w := newWalk(c)
		for range rapid.IntRange(0, 60).Draw(t, "outcomes") {
			w.step(drawP(t), true)
			near(t, "total", w.total(), 1, 1e-13)
		}
	})
}
