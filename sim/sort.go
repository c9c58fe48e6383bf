package sim

import "math"

// Sorting a handful of entries is most of the work of a small model, and a
// branch that depends on their order is mispredicted half of the time. So they
// are sorted without one, by a network of minima and maxima.

// sortBits is how many low bits of the instants sortFew can look at.
const sortBits = 60

// sortFew writes at most 16 entries to to in reverse: the last due first. Those
// due at the same instant it takes to be in order already. All instants must
// agree except for their lowest sortBits bits.
func sortFew(from, to []entry) {
	n := len(from)
	to = to[:n]
	if n == 1 {
		to[0] = from[0]
		return
	}
	// A key ends in the place in from, which decides between equals and finds
	// the entry again. A row of keys is filled up and closed with greatest.
	const greatest = math.MaxUint64
	var keys [18]uint64
	for i := range min(n, 8) {
		keys[i&7] = uint64(from[i].t)<<4 | uint64(i)
	}
	for i := n; i < 8; i++ {
		keys[i&7] = greatest
	}
	if n <= 4 {
		sort4((*[4]uint64)(keys[:4]))
	} else {
		sort8((*[8]uint64)(keys[:8]))
	}
	if n <= 8 {
		for i := range to {
			to[i] = from[keys[(n-1-i)&7]&15]
		}
		return
	}
	keys[8] = greatest
	row := (*[9]uint64)(keys[9:])
	for i := 8; i < n; i++ {
		row[i&7] = uint64(from[i].t)<<4 | uint64(i)
	}
	for i := n; i < 17; i++ {
		row[i-8] = greatest
	}
	sort8((*[8]uint64)(keys[9:17]))
	i, j := uint64(0), uint64(9)
	for k := n - 1; k >= 0; k-- {
		x, y := keys[min(i, 8)], keys[min(j, 17)]
		var less uint64
		if x < y {
			less = 1
		}
		i += less
		j += 1 - less
		to[k] = from[(y^(x^y)&-less)&15]
	}
}

func sort4(k *[4]uint64) {
	a, b, c, d := k[0], k[1], k[2], k[3]
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	b, c = min(b, c), max(b, c)
	k[0], k[1], k[2], k[3] = a, b, c, d
}

// sort8 is the network of 19 exchanges (Knuth, The Art of Computer Programming
// 3, section 5.3.4).
func sort8(k *[8]uint64) {
	a, b, c, d, e, f, g, h := k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7]
	a, c = min(a, c), max(a, c)
	b, d = min(b, d), max(b, d)
	e, g = min(e, g), max(e, g)
	f, h = min(f, h), max(f, h)
	a, e = min(a, e), max(a, e)
	b, f = min(b, f), max(b, f)
	c, g = min(c, g), max(c, g)
	d, h = min(d, h), max(d, h)
	a, b = min(a, b), max(a, b)
	c, d = min(c, d), max(c, d)
	e, f = min(e, f), max(e, f)
	g, h = min(g, h), max(g, h)
	c, e = min(c, e), max(c, e)
	d, f = min(d, f), max(d, f)
	b, e = min(b, e), max(b, e)
	d, g = min(d, g), max(d, g)
	b, c = min(b, c), max(b, c)
	d, e = min(d, e), max(d, e)
	f, g = min(f, g), max(f, g)
	k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7] = a, b, c, d, e, f, g, h
}

// insertionSort does what sortFew does, without a condition on the instants.
func insertionSort(from, to []entry) {
	n := len(from)
	for i, x := range from {
		j := n - 1 - i
		for j < n-1 && to[j+1].t > x.t {
			to[j] = to[j+1]
			j++
		}
		to[j] = x
	}
}
