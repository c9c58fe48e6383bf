package model

// choose returns the replica that an attempt of a request goes to.
func (h *hop) choose(key, path uint64) int {
	n := len(h.to.servers)
	switch h.call.Balance {
	case Random:
		return h.draw(key, path, 0, n)
	case LeastRequests:
		best := 0
		for i := 1; i < n; i++ {
			if h.out[i] < h.out[best] {
				best = i
			}
		}
		return best
	case PowerOfTwo:
		a, b := h.draw(key, path, 0, n), h.draw(key, path, 1, n-1)
		if b >= a {
			b++ // another one
		}
		if h.out[b] < h.out[a] {
			return b
		}
		return a
	}
	at := h.turn
	if h.turn++; h.turn == n {
		h.turn = 0
	}
	return at
}

// draw returns a number from 0 to n-1, each equally likely.
func (h *hop) draw(key, path, which uint64, n int) int {
	return min(n-1, int(h.choice.Float64(key, descend(path, which))*float64(n)))
}
