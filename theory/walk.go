package theory

// A walk is the distribution of a chain's states on the way through a sequence
// of outcomes.
type walk struct {
	chain *CountChain

	full, next []float64 // probability of each state of a full window
	// fresh[i*(k+1)+j] is the probability that i < n outcomes are recorded
	// since the window was emptied, j of them failures (k stands for k and more).
	fresh []float64

	slot    int       // of the latest outcome in the rings
	ps      []float64 // ring: failure probability of the last n outcomes
	emptied []float64 // ring: probability that the window was emptied at each of them
	sameP   int       // how many of the latest outcomes have the same p

	// fills is the distribution of the states that a window reaches when it is
	// full, if it was emptied n outcomes ago: what is missing to 1 has tripped.
	// It depends on the last n values of p.
	fills  []float64
	fillsP float64 // the p it was made for, if they were all equal; else -1
	prefix []float64
	byPos  []float64 // the last n values of p, oldest first, from 1
	noneP  []float64 // product of 1-p from position i to the end
	allP   []float64 // product of p from position i to the end

	work int64 // states visited
}

// newWalk starts with an empty window.
func newWalk(c *CountChain) *walk {
	w := &walk{
		chain:   c,
		full:    make([]float64, c.full()),
		next:    make([]float64, c.full()),
		fresh:   make([]float64, c.n*(c.k+1)),
		ps:      make([]float64, c.n),
		emptied: make([]float64, c.n),
		fills:   make([]float64, c.full()),
		fillsP:  -1,
		prefix:  make([]float64, c.k+1),
		byPos:   make([]float64, c.n+1),
		noneP:   make([]float64, c.n+2),
		allP:    make([]float64, c.n+2),
	}
	w.restart(1)
	return w
}

// step records one outcome that fails with probability p and returns the
// probability of a trip at it. The tripped part goes on with an empty window
// if again is set, else it is dropped.
func (w *walk) step(p float64, again bool) float64 {
	c := w.chain
	before := w.ps[w.slot]
	if w.slot++; w.slot == c.n {
		w.slot = 0
	}
	if p != before {
		w.sameP = 0
	}
	w.sameP++
	w.ps[w.slot] = p
	filled := w.emptied[w.slot] // emptied n outcomes ago
	if filled > 0 {
		w.updateFills(p)
	}
	trips := w.stepFresh(p) + w.stepFull(p, filled)
	w.restart(0)
	if again {
		w.restart(trips)
	}
	w.work += int64(c.States())
	return trips
}

// restart sets the probability that the window was emptied at the latest
// outcome.
func (w *walk) restart(prob float64) {
	w.fresh[0], w.emptied[w.slot] = prob, prob
}

// stepFresh moves the windows that are filling up. Those that become full are
// left to stepFull.
func (w *walk) stepFresh(p float64) (trips float64) {
	c := w.chain
	width := c.k + 1
	for i := c.n - 1; i >= 0; i-- {
		failures := w.fresh[i*width : (i+1)*width]
		trips += record(failures, i+1, c.need[i+1], p)
		if i+1 < c.n {
			copy(w.fresh[(i+1)*width:], failures)
		}
	}
	clear(w.fresh[:width])
	return trips
}

// stepFull moves the full windows and adds those that have just become full.
func (w *walk) stepFull(p, filled float64) float64 {
	c, q := w.chain, 1-p
	next, even, odd := w.next, c.even, c.odd
	tight := w.full[:len(even)] // k-1 failures matter: the next one trips
	loose := w.full[len(even):]
	trips := p * sum(tight)
	if filled == 0 {
		for i, v := range tight {
			next[even[i]] = q * v
		}
		for i, v := range loose {
			next[odd[i]] = p * v
		}
	} else {
		fills := w.fills[:len(next)]
		for i, v := range tight {
			to := even[i]
			next[to] = q*v + filled*fills[to]
		}
		for i, v := range loose {
			to := odd[i]
			next[to] = p*v + filled*fills[to]
		}
	}
	// After a success one more outcome no longer matters. States with l
	// leading ones go, in their order, to the last ones that end in zero.
	for _, size := range c.blocks[1:] {
		for i, to := range even[len(even)-size:] {
			next[to] += q * loose[i]
		}
		loose = loose[size:]
	}
	w.full, w.next = next, w.full
	return trips
}

// sum adds in four strands, so that one addition need not wait for another.
func sum(values []float64) float64 {
	var a, b, c, d float64
	for ; len(values) >= 4; values = values[4:] {
		a += values[0]
		b += values[1]
		c += values[2]
		d += values[3]
	}
	for _, v := range values {
		a += v
	}
	return (a + b) + (c + d)
}

// updateFills brings fills up to date with the last n values of p.
func (w *walk) updateFills(p float64) {
	if w.sameP >= w.chain.n {
		if w.fillsP == p {
			return
		}
		w.fillsP = p
	} else {
		w.fillsP = -1
	}
	w.computeFills()
}

// computeFills goes through the blocks. In the states with l leading ones, any
// l outcomes that did not trip are followed by a success, and then by the
// outcomes that the state spells out.
func (w *walk) computeFills() {
	c := w.chain
	w.noneP[c.n+1], w.allP[c.n+1] = 1, 1
	for i := c.n; i > 0; i-- {
		p := w.ps[(w.slot+i)%c.n]
		w.byPos[i] = p
		w.noneP[i] = w.noneP[i+1] * (1 - p)
		w.allP[i] = w.allP[i+1] * p
	}
	// prefix[j] is the probability that the first l outcomes hold j failures
	// and have not tripped.
	clear(w.prefix)
	w.prefix[0] = 1
	at := 0
	for l, size := range c.blocks {
		states := w.fills[at : at+size]
		at += size
		w.spell(states, l+2, c.k-1-l, 1-w.byPos[l+1])
		if c.caps != nil {
			w.limit(states, c.caps[at-size:at], l)
		}
		record(w.prefix, l+1, c.need[l+1], w.byPos[l+1])
	}
}

// spell fills states with the probabilities of all sequences of outcomes from
// position pos to n that hold that many failures, times prob.
func (w *walk) spell(states []float64, pos, ones int, prob float64) {
	rest := w.chain.n - pos + 1
	switch ones {
	case 0:
		states[0] = prob * w.noneP[pos]
	case rest:
		states[0] = prob * w.allP[pos]
	case 1: // the later the failure, the lower the state
		for i := len(states) - 1; i >= 0; i-- {
			p := w.byPos[pos]
			pos++
			states[i] = prob * p * w.noneP[pos]
			prob *= 1 - p
		}
	default:
		p, zero := w.byPos[pos], w.chain.choose[rest-1][ones]
		w.spell(states[:zero], pos+1, ones, prob*(1-p))
		w.spell(states[zero:], pos+1, ones-1, prob*p)
	}
}

// limit multiplies each state by the probability that its l first outcomes
// hold fewer failures than its cap.
func (w *walk) limit(states []float64, caps []uint16, l int) {
	below := make([]float64, l+2)
	for j := range l + 1 {
		below[j+1] = below[j] + w.prefix[j]
	}
	for i := range states {
		states[i] *= below[caps[i]]
	}
}
