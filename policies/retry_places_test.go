package policies

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// An alarm is due at an instant; those of the same instant go off in the
// order they were set.
type alarm struct {
	at    time.Duration
	order int
	f     func()
}

type alarms []alarm

func (q alarms) Len() int      { return len(q) }
func (q alarms) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *alarms) Push(x any)   { *q = append(*q, x.(alarm)) }

func (q alarms) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}

func (q *alarms) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// A meshRun is the setting of T1c: clients that send one request after the
// other through a sidecar with 2 retries to a backend that always fails.
type meshRun struct {
	clients, requests int
	fail              time.Duration // until the backend's answer
	budget            Budget
	partial           bool // a request may lose its place after a retry

	retries, overflow int
	most              int // retries in progress
}

func (m *meshRun) run(t *testing.T, seed uint64) {
	t.Helper()
	source := rand.New(rand.NewPCG(seed, 3))
	about := func(d time.Duration) time.Duration {
		return time.Duration((0.8 + 0.4*source.Float64()) * float64(d))
	}
	r := must(NewRetry(RetryConfig{Attempts: 3, Backoff: BackoffConfig{Kind: FullJitter, Base: ms}}, m.budget))
	var queue alarms
	now, order := time.Duration(0), 0
	after := func(d time.Duration, f func()) {
		order++
		heap.Push(&queue, alarm{now + d, order, f})
	}
	sent, inProgress := 0, 0
	var client func()
	var attempt func(n int) func()
	attempt = func(n int) func() {
		return func() {
			after(m.fail+about(3*ms), func() {
				d := r.Decide(Attempt{Number: n, Outcome: failed, U: source.Float64()})
				if n > 1 {
					inProgress--
				}
				switch {
				case d.Retry:
					m.retries++
					inProgress++
					m.most = max(m.most, inProgress)
					after(d.Delay, func() { r.WaitDone(); attempt(n + 1)() })
					return
				case d.Reason == BudgetSpent:
					m.overflow++
					if n != 1 && !m.partial {
						t.Errorf("refused after attempt %d, want only after the first", n)
					}
				case d.Reason != AttemptsSpent:
					t.Errorf("refused by %v", d.Reason)
				}
				after(about(50*ms), client)
			})
		}
	}
	client = func() {
		if sent < m.requests {
			sent++
			r.Start()
			attempt(1)()
		}
	}
	for range m.clients {
		after(about(50*ms), client)
	}
	for len(queue) > 0 {
		next := heap.Pop(&queue).(alarm)
		now = next.at
		next.f()
	}
}

// A request gets both its retries or none, so retries/2 + overflow are the
// requests, exactly. The counts are the means of 20 runs.
func TestPlacesAreRetaken(t *testing.T) {
	for _, test := range []struct {
		name              string
		fail              time.Duration
		most              int
		retries, overflow float64
	}{
		{"3 places, fast failures", 0, 3, 671, 165},
		{"1024 places, fast failures", 0, 1024, 1000, 0},
		{"3 places, slow failures", 100 * ms, 3, 122, 439},
		{"1024 places, slow failures", 100 * ms, 1024, 1000, 0},
	} {
		const runs = 20
		retries, overflow := 0, 0
		for seed := range uint64(runs) {
			budget := must(NewConcurrentBudget(test.most))
			m := meshRun{clients: 20, requests: 500, fail: test.fail, budget: budget}
			m.run(t, seed)
			if m.retries%2 != 0 || m.retries/2+m.overflow != 500 {
				t.Errorf("%s, seed %d: %d retries and %d refusals, want all or none of 500 requests",
					test.name, seed, m.retries, m.overflow)
			}
			if m.most > test.most || budget.Retries() != 0 {
				t.Errorf("%s, seed %d: up to %d retries, %d in the end", test.name, seed, m.most, budget.Retries())
			}
			retries, overflow = retries+m.retries, overflow+m.overflow
		}
		near := func(got int, want float64) bool { return math.Abs(float64(got)/runs-want) <= 0.15*want }
		if !near(retries, test.retries) || !near(overflow, test.overflow) {
			t.Errorf("%s: %v retries and %v refusals, want about %v and %v", test.name,
				float64(retries)/runs, float64(overflow)/runs, test.retries, test.overflow)
		}
	}
}

// A fifth of 20 requests is one place more than the floor of 3, and a fifth
// of 500 is a hundred.
func TestSharesOfTheCrowd(t *testing.T) {
	for _, test := range []struct {
		clients int
		fail    time.Duration
		most    int
	}{{20, 0, 4}, {20, 100 * ms, 4}, {500, 100 * ms, 100}} {
		for _, rule := range []ActiveRule{ActiveRequests, ActiveAttempts} {
			budget := must(NewShareBudget(ShareConfig{Share: 0.2, Floor: 3, Active: rule}))
			m := meshRun{clients: test.clients, requests: 500, fail: test.fail, budget: budget, partial: true}
			m.run(t, 1)
			if m.most > test.most || m.most < 3 {
				t.Errorf("%d clients, %s: up to %d retries, want 3 to %d", test.clients, rule, m.most, test.most)
			}
			if active, retries := budget.Counts(); active != 0 || retries != 0 {
				t.Errorf("%d clients, %s: %d active, %d retries in the end", test.clients, rule, active, retries)
			}
			t.Logf("%d clients, %v, %s: %d retries, %d refusals", test.clients, test.fail, rule, m.retries, m.overflow)
		}
	}
}
