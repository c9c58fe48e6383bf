package policies

// lock and unlock guard everything that changes. Whoever unlocks delivers the
// changes of state that were made.
func (b *Breaker) lock() {
	if b.unshared {
		return
	}
	b.mu.Lock()
	if b.calm {
		b.settle()
	}
}

func (b *Breaker) unlock() {
	untold := b.changes.untold
	if b.mayCalm() {
		b.calmDown()
	}
	b.mutexUnlock()
	if untold {
		b.deliver()
	}
}

func (b *Breaker) mutexUnlock() {
	if !b.unshared {
		b.mu.Unlock()
	}
}

// changes is the queue between the lock and OnChange, which is called outside
// the lock and still for one change at a time, in order.
type changes struct {
	untold     bool // whoever unlocks must deliver: nobody does so already
	delivering bool
	told       int // changes at the head of the queue that are done with
	queue      []Change
}

func (c *changes) add(change Change) {
	c.queue = append(c.queue, change)
	c.untold = !c.delivering
}

// next takes the oldest change out of the queue.
func (c *changes) next() Change {
	change := c.queue[c.told]
	c.told++
	if 2*c.told >= len(c.queue) {
		c.queue = c.queue[:copy(c.queue, c.queue[c.told:])]
		c.told = 0
	}
	return change
}

// deliver hands the queued changes to OnChange. A change that OnChange itself
// brings about, or another goroutine meanwhile, joins the queue.
func (b *Breaker) deliver() {
	b.lock()
	if !b.changes.untold {
		b.mutexUnlock()
		return
	}
	b.changes.untold, b.changes.delivering = false, true
	defer func() {
		b.changes.untold, b.changes.delivering = len(b.changes.queue) > 0, false
		b.mutexUnlock()
	}()
	for len(b.changes.queue) > 0 {
		b.tell(b.changes.next())
	}
}

// tell calls OnChange without the lock and returns with it, also by a panic.
func (b *Breaker) tell(c Change) {
	b.mutexUnlock()
	defer b.lock()
	b.onChange(c)
}
