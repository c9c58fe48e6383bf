package presets

import "sync"

// A teller is a lock, and a queue of changes to tell of: in order, one at a
// time and without the lock.
type teller[C any] struct {
	mu       sync.Mutex
	onChange func(C) // nil if nobody is told; then nothing is put into untold
	untold   []C
	told     int // changes at the head of untold that are done with
	telling  bool
}

// unlock gives the lock up and tells of the changes that were made, unless
// somebody is doing so already.
func (t *teller[C]) unlock() {
	if len(t.untold) == 0 || t.telling {
		t.mu.Unlock()
	} else {
		t.deliver()
	}
}

func (t *teller[C]) deliver() {
	t.telling = true
	defer func() {
		t.telling = false
		t.mu.Unlock()
	}()
	for t.told < len(t.untold) {
		c := t.untold[t.told]
		t.told++
		t.tell(c)
	}
	t.untold, t.told = t.untold[:0], 0
}

// tell calls onChange without the lock and returns with it, also by a panic.
func (t *teller[C]) tell(c C) {
	t.mu.Unlock()
	defer t.mu.Lock()
	t.onChange(c)
}
