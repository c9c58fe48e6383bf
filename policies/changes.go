package policies

// lock and unlock guard everything that changes. Whoever unlocks delivers the
// changes that were made.
func (b *Breaker) lock() {
	if !b.unshared {
		b.mu.Lock()
	}
}

func (b *Breaker) unlock() {
	pending := b.changes.pending()
	b.mutexUnlock()
	if pending {
		b.deliver()
	}
}

func (b *Breaker) mutexUnlock() {
	if !b.unshared {
		b.mu.Unlock()
	}
}

// changes queues state changes for OnChange, so that it is called outside the
// lock and still for one change at a time, in order.
type changes struct {
	queue      []Change
	delivering bool
}

func (c *changes) add(change Change) { c.queue = append(c.queue, change) }

// pending reports whether someone must deliver: there is a change, and nobody
// delivers already.
func (c *changes) pending() bool { return len(c.queue) > 0 && !c.delivering }

// deliver hands the queued changes to OnChange. A change that OnChange itself
// brings about, or another goroutine meanwhile, joins the queue.
func (b *Breaker) deliver() {
	b.lock()
	if !b.changes.pending() {
		b.mutexUnlock()
		return
	}
	b.changes.delivering = true
	defer func() { // with the lock held, unless OnChange panicked
		b.changes.delivering = false
		b.mutexUnlock()
	}()
	for len(b.changes.queue) > 0 {
		c := b.changes.queue[0]
		b.changes.queue = append(b.changes.queue[:0], b.changes.queue[1:]...)
		b.callback(c)
	}
}

// callback calls OnChange without the lock and returns with it.
func (b *Breaker) callback(c Change) {
	b.mutexUnlock()
	defer b.lock()
	b.onChange(c)
}
