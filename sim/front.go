package sim

// frontMask wraps indexes into the front's array, which has a sentinel at 0.
const (
	frontMask = 31
	frontCap  = 30 // entries; the last insertion needs one cell more
)

// front is the earliest part of the queue as a sorted array, the earliest
// entry last. It is a whole queue for a small model, and what the radix heap
// deals out for a large one.
//
// An entry belongs to the front if it is due before limit; nothing in the heap
// is. An entry at limit itself is in the front only if it is older than all
// entries at limit in the heap.
type front struct {
	n     int // entries in f[1 : n+1]
	limit Time
	f     [frontMask + 1]entry // f[0] is due never, so that it ends every search
}

// init empties the front and lets it take everything.
func (f *front) init() {
	f.n, f.limit = 0, MaxTime
	f.f[0].t = MaxTime
}

// insert adds x, due before limit, to a front that is not full, after the
// entries due at the same instant.
func (f *front) insert(x entry) {
	i := f.n
	f.n = i + 1
	for f.f[i&frontMask].t <= x.t {
		f.f[(i+1)&frontMask] = f.f[i&frontMask]
		i--
	}
	f.f[(i+1)&frontMask] = x
}

// spill moves the later half of a full front to the heap.
func (f *front) spill(q *radix) {
	const half = frontCap / 2
	for i := 1; i <= half; i++ {
		q.prepend(f.f[i])
	}
	f.limit = f.f[half].t
	f.n = copy(f.f[1:], f.f[half+1:f.n+1])
}

// filter drops the dead entries and returns how many.
func (f *front) filter(p *slots) (dropped int) {
	n := 0
	for i := 1; i <= f.n; i++ {
		if x := f.f[i&frontMask]; p.live(x) {
			n++
			f.f[n&frontMask] = x
		}
	}
	dropped = f.n - n
	f.n = n
	return dropped
}
