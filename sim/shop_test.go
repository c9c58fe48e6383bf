package sim

import "time"

// The timeouts workload: clients that think, ask a server with a waiting line,
// and give up after a fixed time, which 1 % of the requests come to.
const (
	clients     = 1000
	servers     = 10
	workMean    = 10 * time.Millisecond
	thinkMean   = 2 * time.Second
	backoffMean = 200 * time.Millisecond
	patience    = 46100 * time.Microsecond
)

// shop is the workload's state, the same for both implementations.
type shop struct {
	r        *Rand
	busy     int
	waiting  fifo
	requests uint64
	timeouts uint64
}

// fifo is a ring of request numbers that never holds more than the clients can
// abandon.
type fifo struct {
	ring       [1 << 14]ask
	head, tail uint32
}

// ask is one request: the client, and its number to tell a late answer.
type ask struct{ client, num uint32 }

func (f *fifo) push(a ask) {
	f.ring[f.tail%uint32(len(f.ring))] = a
	f.tail++
}

func (f *fifo) pop() ask {
	a := f.ring[f.head%uint32(len(f.ring))]
	f.head++
	return a
}

const (
	thought = iota
	served
	timedOut
)

// engineShop runs the shop on the engine.
type engineShop struct {
	shop
	lane  *Lane
	num   [clients]uint32
	timer [clients]Timer
	limit uint64
}

func (s *engineShop) Handle(e *Engine, ev Event) {
	switch a := (ask{uint32(ev.Arg >> 32), uint32(ev.Arg)}); ev.Kind {
	case thought:
		s.num[a.client]++
		a.num = s.num[a.client]
		s.timer[a.client] = s.lane.After(s, Event{Kind: timedOut, Arg: ev.Arg})
		if s.busy < servers {
			s.busy++
			s.serve(e, a)
		} else {
			s.waiting.push(a)
		}
		if s.requests++; s.requests == s.limit {
			e.Stop()
		}
	case served:
		if s.num[a.client] == a.num {
			s.num[a.client]++
			e.Cancel(s.timer[a.client])
			e.After(exp(s.r, thinkMean), s, Event{Kind: thought, Arg: ev.Arg})
		}
		if s.waiting.head != s.waiting.tail {
			s.serve(e, s.waiting.pop())
		} else {
			s.busy--
		}
	case timedOut:
		s.timeouts++
		s.num[a.client]++
		e.After(exp(s.r, backoffMean), s, Event{Kind: thought, Arg: ev.Arg})
	}
}

func (s *engineShop) serve(e *Engine, a ask) {
	e.After(exp(s.r, workMean), s, Event{Kind: served, Arg: uint64(a.client)<<32 | uint64(a.num)})
}

// start lets every client think.
func (s *engineShop) start(e *Engine) {
	s.r = Stream(1, 0, "shop")
	for i := range uint64(clients) {
		e.After(exp(s.r, thinkMean), s, Event{Kind: thought, Arg: i << 32})
	}
}

// closureShop runs it on closures.
type closureShop struct {
	shop
	c     textbook
	num   [clients]uint32
	timer [clients]*textbookEvent
}

func (s *closureShop) think(client uint32, mean time.Duration) {
	s.c.at(s.c.clock.Add(exp(s.r, mean)), func() { s.request(client) })
}

func (s *closureShop) request(client uint32) {
	s.num[client]++
	a := ask{client, s.num[client]}
	s.timer[client] = s.c.at(s.c.clock.Add(patience), func() {
		s.timeouts++
		s.num[client]++
		s.think(client, backoffMean)
	})
	if s.busy < servers {
		s.busy++
		s.serve(a)
	} else {
		s.waiting.push(a)
	}
	s.requests++
}

func (s *closureShop) serve(a ask) {
	s.c.at(s.c.clock.Add(exp(s.r, workMean)), func() {
		if s.num[a.client] == a.num {
			s.num[a.client]++
			s.c.cancel(s.timer[a.client])
			s.think(a.client, thinkMean)
		}
		if s.waiting.head != s.waiting.tail {
			s.serve(s.waiting.pop())
		} else {
			s.busy--
		}
	})
}
