package theory

import (
	"errors"
	"fmt"
	"math"
)

// DefaultMaxStates is a limit for [NewCountChain] that keeps an evaluation
// below 60 MB, and below a few seconds.
const DefaultMaxStates = 1 << 20

// ErrTooManyStates is wrapped by the error of [NewCountChain] for a rule whose
// chain is above the limit. [TripRateUpperBound] and [ScanProbability] still
// apply to such a rule.
var ErrTooManyStates = errors.New("too many states")

// A CountChain computes exactly how often a [CountRule] trips when outcomes
// are independent and their failure probability is piecewise constant.
//
// It is a Markov chain on the contents of the window (Fu and Koutras 1994;
// Fu 2001), in the smallest form for full windows (Chang, Chen and Hwang
// 2001): with k failures needed among the last N outcomes, a failure that will
// have left before k can be in the window together is forgotten. What is left
// are C(N, k-1) states instead of 2^(N-1). A window that is still filling up
// loses nothing, so there the number of failures is enough; when it is full
// its contents are drawn from their exact distribution.
//
// Sums are of positive terms only, so small rates keep their relative
// accuracy. A chain is not changed by its methods.
type CountChain struct {
	rule    CountRule
	n, m, k int // window, minimum, failures that trip a full window

	// need[i] is the number of failures that trip a window that holds i
	// outcomes: above i for i < m, need[n] = k.
	need []int

	// A state of a full window is a string of n bits, oldest first, with k-1
	// ones, and states are numbered in the order of these strings. Leading
	// ones stand for outcomes that no longer matter; the zero after them is a
	// success, and then ones are failures. Forgetting is implied: a failure
	// that comes to stand right behind the leading ones joins them.
	//
	// blocks[l] is the number of states with exactly l leading ones.
	blocks []int
	// even[i] and odd[i] are the numbers of the i-th state that ends in zero
	// and in one.
	even, odd []int32

	// caps[s] bounds what a filling window may hold to become state s without
	// a trip: fewer than caps[s] failures among the outcomes that do not
	// matter. It is nil if there is no bound, which is so if m = n.
	caps []uint16

	choose [][]int // choose[i][j] is C(i, j), at most math.MaxInt32

	maxWork int64 // updates of a state before an evaluation gives up
}

// NewCountChain builds the chain of a rule. It returns an error that wraps
// [ErrTooManyStates] if it has more than maxStates states, which
// [ChainStates] tells beforehand.
func NewCountChain(rule CountRule, maxStates int) (*CountChain, error) {
	states, err := ChainStates(rule)
	if err != nil {
		return nil, err
	}
	if states > float64(min(maxStates, math.MaxInt32)) || rule.Calls > math.MaxUint16 {
		return nil, fmt.Errorf("theory: count chain: %d calls at failure rate %v: %w: %.3g, want at most %d",
			rule.Calls, rule.FailureRate, ErrTooManyStates, states, maxStates)
	}
	c := &CountChain{rule: rule, n: rule.Calls, m: rule.minCalls(), maxWork: maxWork}
	c.need = failuresNeeded(rule)
	c.k = c.need[c.n]
	c.choose = binomials(c.n, c.k)
	c.blocks = make([]int, c.k)
	for l := range c.blocks {
		c.blocks[l] = c.choose[c.n-1-l][c.k-1-l]
	}
	c.even = make([]int32, 0, c.blocks[0])
	c.odd = make([]int32, 0, c.choose[c.n][c.k-1]-c.blocks[0])
	c.splitByLast(c.n, c.k-1)
	if c.m < c.n {
		c.caps = make([]uint16, c.full())
		at := c.caps
		for l := c.k - 1; l >= 0; l-- { // the last block first, to fill from the end
			size := c.blocks[l]
			c.fillCaps(at[len(at)-size:], l+1, c.k-1-l, 0, l+1)
			at = at[:len(at)-size]
		}
	}
	return c, nil
}

// ChainStates returns the number of states in the chain of a rule: C(N, k-1)
// for full windows and at most N·(k+1) for those that are filling up. It is
// +Inf if that is too large for a float64.
func ChainStates(rule CountRule) (float64, error) {
	if err := rule.Validate(); err != nil {
		return 0, err
	}
	k := FailuresToTrip(rule.Calls, rule.FailureRate)
	full := 1.0
	for i, low := 0, min(k-1, rule.Calls-k+1); i < low && !math.IsInf(full, 1); i++ {
		full = math.Round(full * float64(rule.Calls-i) / float64(i+1))
	}
	return full + float64(rule.Calls)*float64(k+1), nil
}

// Rule returns the rule of the chain.
func (c *CountChain) Rule() CountRule { return c.rule }

// States returns the number of states, which the cost of a step is
// proportional to.
func (c *CountChain) States() int { return c.full() + c.n*(c.k+1) }

// full is the number of states of a full window.
func (c *CountChain) full() int { return len(c.even) + len(c.odd) }

// binomials is Pascal's triangle up to C(n, k), capped.
func binomials(n, k int) [][]int {
	rows := make([][]int, n+1)
	cells := make([]int, (n+1)*(k+1))
	for i := range rows {
		rows[i], cells = cells[:k+1], cells[k+1:]
		rows[i][0] = 1
		for j := 1; j <= min(i, k); j++ {
			rows[i][j] = min(rows[i-1][j-1]+rows[i-1][j], math.MaxInt32)
		}
	}
	return rows
}

// splitByLast lists the strings with that many bits and ones in order, and
// notes the number of each under its last bit.
func (c *CountChain) splitByLast(bits, ones int) {
	number := int32(len(c.even) + len(c.odd))
	switch {
	case ones == 0:
		c.even = append(c.even, number)
	case ones == bits:
		c.odd = append(c.odd, number)
	default:
		c.splitByLast(bits-1, ones)
		c.splitByLast(bits-1, ones-1)
	}
}

// fillCaps fills the caps of the strings whose first held outcomes are given:
// failures of them are known, bound is the cap so far, and ones failures are
// still to come among the rest.
func (c *CountChain) fillCaps(caps []uint16, held, ones, failures, bound int) {
	// Further successes only make it harder to trip, so when no failure is to
	// come the next look decides.
	look := held
	if ones == 0 {
		look = max(held, c.m)
	}
	if look >= c.m {
		bound = max(min(bound, c.need[look]-failures), 0)
	}
	rest := c.n - held
	if ones == 0 {
		caps[0] = uint16(bound)
		return
	}
	zero := 0
	if ones < rest {
		zero = c.choose[rest-1][ones]
		c.fillCaps(caps[:zero], held+1, ones, failures, bound)
	}
	c.fillCaps(caps[zero:], held+1, ones-1, failures+1, bound)
}
