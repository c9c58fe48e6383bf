package theory

import (
	"math/bits"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// states lists the strings of a chain in order, as numbers of n bits, the
// oldest outcome in the highest.
func states(n, k int) []uint64 {
	var list []uint64
	for s := range uint64(1) << n {
		if bits.OnesCount64(s) == k-1 {
			list = append(list, s)
		}
	}
	return list
}

// leadingOnes counts from the oldest of n outcomes.
func leadingOnes(s uint64, n int) int {
	return bits.LeadingZeros64(^(s << (64 - n)))
}

// state forgets what no longer matters in a window of n outcomes with fewer
// than k failures: it looks for the number j of failures that are young enough
// to be among k, one at a time from the oldest.
func state(window uint64, n, k int) uint64 {
	for {
		j := bits.OnesCount64(window)
		if j == 0 {
			break
		}
		oldest := bits.Len64(window) - 1 // as many outcomes are later
		// It stays for n-1-oldest outcomes more; k-j failures are missing.
		if n-1-oldest >= k-j {
			break
		}
		window &^= 1 << oldest
	}
	marks := k - 1 - bits.OnesCount64(window)
	return window | (1<<marks-1)<<(n-marks)
}

func TestStateNumbers(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for k := 1; k <= n; k++ {
			c := sure(NewCountChain(fullRule(n, k), DefaultMaxStates))
			list := states(n, k)
			if len(list) != c.full() {
				t.Fatalf("n %d, k %d: %d states, want %d", n, k, c.full(), len(list))
			}
			even, odd, blocks := 0, 0, make([]int, k)
			for number, s := range list {
				blocks[leadingOnes(s, n)]++
				if s&1 == 0 {
					if int(c.even[even]) != number {
						t.Errorf("n %d, k %d: even state %d is %d, want %d", n, k, even, c.even[even], number)
					}
					even++
				} else {
					if int(c.odd[odd]) != number {
						t.Errorf("n %d, k %d: odd state %d is %d, want %d", n, k, odd, c.odd[odd], number)
					}
					odd++
				}
			}
			for l, want := range blocks {
				if c.blocks[l] != want {
					t.Errorf("n %d, k %d: %d states with %d leading ones, want %d", n, k, c.blocks[l], l, want)
				}
			}
		}
	}
}

// TestStepFullFollowsWindows moves every state by a success and by a failure.
func TestStepFullFollowsWindows(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for k := 1; k <= n; k++ {
			c := sure(NewCountChain(fullRule(n, k), DefaultMaxStates))
			list := states(n, k)
			index := map[uint64]int{}
			for number, s := range list {
				index[s] = number
			}
			for number, s := range list {
				marks := leadingOnes(s, n)
				window := s << marks & (1<<n - 1) >> marks // without them
				if state(window, n, k) != s {
					t.Fatalf("n %d, k %d: the state of %b is %b, want %b", n, k, window, state(window, n, k), s)
				}
				for failed := range uint64(2) {
					w := newWalk(c)
					w.full[number] = 1
					trips := w.stepFull(float64(failed), 0)
					next := (window<<1 | failed) & (1<<n - 1)
					if bits.OnesCount64(next) >= k {
						near(t, "trip", trips, 1, 0)
						near(t, "left", sum(w.full), 0, 0)
						continue
					}
					near(t, "trip", trips, 0, 0)
					near(t, "next state", w.full[index[state(next, n, k)]], 1, 0)
					near(t, "all states", sum(w.full), 1, 0)
				}
			}
		}
	}
}

// TestFillsAgainstAllSequences fills a window in all ways.
func TestFillsAgainstAllSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := drawRule(t, 8)
		n := rule.Calls
		c := sure(NewCountChain(rule, DefaultMaxStates))
		ps := make([]float64, n)
		for i := range ps {
			ps[i] = drawP(t)
		}
		want := map[uint64]float64{}
		for sequence := range uint64(1) << n {
			prob, tripped := 1.0, false
			var h history
			for i, p := range ps {
				failed := sequence>>(n-1-i)&1 == 1
				if failed {
					prob *= p
				} else {
					prob *= 1 - p
				}
				tripped = tripped || h.record(rule, failed)
			}
			if !tripped {
				want[state(sequence, n, c.k)] += prob
			}
		}
		w := newWalk(c)
		for _, p := range ps {
			w.step(p, false)
		}
		for number, s := range states(n, c.k) {
			near(t, "state", w.full[number], want[s], 1e-12)
		}
	})
}

// TestFillsAreKept checks that the distribution for an unchanging p is not
// made again, and that it is when p changes for one outcome only.
func TestFillsAreKept(t *testing.T) {
	c := sure(NewCountChain(CountRule{6, 3, 0.5}, DefaultMaxStates))
	a, b := newWalk(c), newWalk(c)
	ps := []float64{}
	for range 20 {
		ps = append(ps, 0.3)
	}
	ps = append(ps, 0.9)
	for range 20 {
		ps = append(ps, 0.3)
	}
	for i, p := range ps {
		b.fillsP = -1 // b forgets
		near(t, "trips", a.step(p, true), b.step(p, true), 0)
		if i == 19 && a.fillsP != 0.3 || i == 22 && a.fillsP != -1 || i == 40 && a.fillsP != 0.3 {
			t.Errorf("after outcome %d, fills are for %v", i, a.fillsP)
		}
	}
	for i := range a.full {
		near(t, "state", a.full[i], b.full[i], 0)
	}
}

// TestChainIsShared evaluates one chain from several goroutines.
func TestChainIsShared(t *testing.T) {
	c := sure(NewCountChain(CountRule{12, 8, 0.4}, DefaultMaxStates))
	segments := []Segment{{1000, 0.1}, {100, 0.5}, {10_000, 0.05}}
	want := sure(c.ExpectedTrips(segments))
	got := make([]float64, 8)
	var group sync.WaitGroup
	for i := range got {
		group.Go(func() { got[i] = sure(c.ExpectedTrips(segments)) })
	}
	group.Wait()
	for _, v := range got {
		near(t, "trips", v, want, 0)
	}
}

func TestSum(t *testing.T) {
	for n := range 20 {
		values := make([]float64, n)
		want := 0.0
		for i := range values {
			values[i] = float64(i*i + 1)
			want += values[i]
		}
		near(t, "sum", sum(values), want, 0)
	}
}
