package model_test

import (
	"container/heap"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
)

// The system against a twin that is written for nothing but to be short:
// closures in a heap, one struct for each call. Services are scripted, to the
// nanosecond, so that both know them and no two things happen at a time.

// A twin is a system of scripted nodes and of calls with a retry between two
// timeouts.
type twin struct {
	config model.Config
	now    time.Duration
	events twinHeap
	serial int
	nodes  map[string]*twinNode
	calls  map[*model.Call]*model.CallLedger
}

type twinEvent struct {
	at     time.Duration
	serial int
	do     func() // nil once it is cancelled
}

type twinHeap []*twinEvent

func (h twinHeap) Len() int { return len(h) }
func (h twinHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].serial < h[j].serial
}
func (h twinHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *twinHeap) Push(x any)   { *h = append(*h, x.(*twinEvent)) }
func (h *twinHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func (w *twin) after(d time.Duration, do func()) *twinEvent {
	w.serial++
	e := &twinEvent{w.now + d, w.serial, do}
	heap.Push(&w.events, e)
	return e
}

type twinNode struct {
	*model.Node
	model.NodeLedger
	script int
	free   int
	queue  []*twinJob
}

// A twinJob is an attempt at a node.
type twinJob struct {
	node    *twinNode
	answer  func(ok bool) // nil once the caller has gone
	arrived time.Duration
	queued  bool
	began   time.Duration
	service *twinEvent
	serves  time.Duration
	leave   func() // the node's own calls
	holds   bool
}

func (w *twin) arrive(n *twinNode, answer func(ok bool)) *twinJob {
	j := &twinJob{node: n, answer: answer, arrived: w.now}
	n.Attempts++
	switch {
	case n.free > 0:
		w.begin(j)
	case n.Queue.Limit.Known && len(n.queue) >= n.Queue.Limit.Value:
		n.Rejected++
		w.after(0, func() {
			if j.answer != nil {
				j.answer(false)
			}
		})
	default:
		j.queued = true
		n.queue = append(n.queue, j)
	}
	return j
}

func (w *twin) begin(j *twinJob) {
	n := j.node
	n.free--
	j.holds, j.queued, j.began = true, false, w.now
	n.Begun++
	if wait := w.now - j.arrived; wait > 0 {
		n.Waited++
		n.Wait += wait
	}
	s := n.Script[n.script]
	n.script++
	j.serves = s.Service
	j.service = w.after(s.Service, func() {
		n.Busy += s.Service
		j.service = nil
		if s.Code != 0 {
			w.finish(j, false)
			return
		}
		if n.Async {
			w.release(j)
		}
		w.steps(n.Steps, &j.leave, func(ok bool) { w.finish(j, ok) })
	})
}

func (w *twin) release(j *twinJob) {
	n := j.node
	if !j.holds {
		return
	}
	j.holds = false
	n.Held += w.now - j.began
	n.free++
	if len(n.queue) == 0 {
		return
	}
	at := 0
	if n.Queue.Order == model.LIFO {
		at = len(n.queue) - 1
	}
	next := n.queue[at]
	n.queue = append(n.queue[:at:at], n.queue[at+1:]...)
	w.begin(next)
}

func (w *twin) finish(j *twinJob, ok bool) {
	n := j.node
	n.Sojourn += w.now - j.arrived
	w.release(j)
	switch {
	case j.answer == nil:
		n.Abandoned++
		return
	case ok:
		n.Succeeded++
	default:
		n.Failed++
	}
	j.answer(ok)
}

// gone is told that the caller has left.
func (w *twin) gone(j *twinJob) {
	n := j.node
	j.answer = nil
	ended := !j.queued && j.service == nil && j.leave == nil
	if !n.Cancel || ended {
		return
	}
	n.Abandoned++
	n.Sojourn += w.now - j.arrived
	switch {
	case j.queued:
		for i, other := range n.queue {
			if other == j {
				n.queue = append(n.queue[:i:i], n.queue[i+1:]...)
				return
			}
		}
	case j.service != nil:
		n.Busy += w.now - j.began
		j.service.do = nil
	default:
		j.leave()
	}
	w.release(j)
}

// steps makes calls step by step; leave gives up those under way.
func (w *twin) steps(steps []model.Step, leave *func(), done func(ok bool)) {
	if len(steps) == 0 {
		*leave = nil
		done(true)
		return
	}
	var under []func() // how to leave each call, nil once it has ended
	need, pending := steps[0].Need, 0
	over := func(next func()) {
		for _, l := range slices.Backward(under) { // the last first: who waits behind another does not get its worker
			if l != nil {
				l()
			}
		}
		*leave = nil
		next()
	}
	*leave = func() { over(func() {}) }
	for i := range steps[0].Calls {
		c := &steps[0].Calls[i]
		for range max(c.Times, 1) {
			pending++
			at := len(under)
			under = append(under, nil)
			under[at] = w.call(c, func(ok bool) {
				under[at] = nil
				pending--
				if ok {
					need--
				}
				if need == 0 {
					over(func() { w.steps(steps[1:], leave, done) })
				} else if pending < need {
					over(func() { done(false) })
				}
			})
		}
	}
	if need == 0 {
		need = pending
	}
}

// call makes a call with the stack timeout, retry, timeout.
func (w *twin) call(c *model.Call, done func(ok bool)) (leave func()) {
	l := w.calls[c]
	l.Calls++
	var total, each, wait *twinEvent
	var job *twinJob
	attempts := 0
	stop := func() {
		for _, e := range []*twinEvent{total, each, wait} {
			if e != nil {
				e.do = nil
			}
		}
		if job != nil {
			w.gone(job)
		}
	}
	end := func(ok bool) {
		stop()
		if ok {
			l.Succeeded++
		} else {
			l.Failed++
		}
		done(ok)
	}
	var attempt func()
	ended := func(ok bool) {
		each.do, job = nil, nil
		retry := c.Stack[1].Retry
		switch {
		case ok:
			if attempts > 1 {
				l.RetriesSucceeded++
				l.RepeatsSucceeded++
			}
			end(true)
		case attempts == retry.Attempts:
			l.Spent++
			end(false)
		default:
			l.Retries++
			if retry.Backoff.Base == 0 {
				attempt()
			} else {
				wait = w.after(retry.Backoff.Base, attempt)
			}
		}
	}
	attempt = func() {
		attempts++
		l.Attempts++
		l.Tries++
		if attempts > 1 {
			l.Repeats++
		}
		l.MostAttempts = max(l.MostAttempts, uint64(attempts))
		each = w.after(c.Stack[2].Timeout, func() {
			l.TimedOut++
			w.gone(job)
			ended(false)
		})
		job = w.arrive(w.nodes[c.To], func(ok bool) { ended(ok) })
	}
	total = w.after(c.Stack[0].Timeout, func() {
		l.TimedOut++
		end(false)
	})
	attempt()
	return func() {
		l.Left++
		stop()
	}
}

// run plays a system in which everything ends before the horizon.
func (w *twin) run() (clients []model.ClientLedger) {
	w.nodes, w.calls = map[string]*twinNode{}, map[*model.Call]*model.CallLedger{}
	for i := range w.config.Nodes {
		n := &w.config.Nodes[i]
		w.nodes[n.Name] = &twinNode{Node: n, free: n.Workers}
	}
	eachCall(&w.config, func(_ int, c *model.Call) { w.calls[c] = &model.CallLedger{To: c.To} })
	clients = make([]model.ClientLedger, len(w.config.Clients))
	for i := range w.config.Clients {
		c, l := &w.config.Clients[i], &clients[i]
		l.Name = c.Name
		for k := range c.Requests {
			at := c.Start + time.Duration(k)*(sec/time.Duration(c.Arrivals.RateRPS))
			w.after(at, func() {
				l.Requests++
				var leave func()
				w.steps(c.Steps, &leave, func(ok bool) {
					if ok {
						l.Succeeded++
					} else {
						l.Failed++
					}
					l.Latency += w.now - at
					l.Measured++
				})
			})
		}
	}
	for len(w.events) > 0 {
		e := heap.Pop(&w.events).(*twinEvent)
		w.now = e.at
		if e.do != nil {
			e.do()
		}
	}
	return clients
}
