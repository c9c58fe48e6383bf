package model

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// blog is the contention of the article: 10 ms legs, base 5 ms, cap 2 s.
func blog(clients int, kind policies.BackoffKind) Contention {
	return Contention{
		Clients: clients,
		Backoff: policies.BackoffConfig{Kind: kind, Base: 5 * time.Millisecond, Cap: 2 * time.Second, FirstExponent: 1},
		LegMean: 10 * time.Millisecond,
		LegSD:   2 * time.Millisecond,
	}
}

func mustContend(t testing.TB, c Contention, replication uint64) *Contenders {
	t.Helper()
	r, err := NewContenders(c, 1, replication)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.New()
	r.Start(e)
	e.Run()
	return r
}

// On a network without variance clients that wait alike stay in step: every
// round of four legs has one winner, and the rest waits for the next.
func TestContentionInStep(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name    string
		kind    policies.BackoffKind
		clients int
		calls   uint64
		last    time.Duration
	}{
		{"one client: read and write, there and back", policies.NoBackoff, 1, 1, 40 * ms},
		{"one client never waits", policies.ExponentialBackoff, 1, 1, 40 * ms},
		{"two", policies.NoBackoff, 2, 3, 80 * ms},
		{"two, wait of 5 ms × 2", policies.ExponentialBackoff, 2, 3, 90 * ms},
		{"two, wait of 5 ms", policies.FixedBackoff, 2, 3, 85 * ms},
		{"three, waits of 10 and 20 ms", policies.ExponentialBackoff, 3, 6, 150 * ms},
		{"ten", policies.NoBackoff, 10, 55, 400 * ms},
		{"a hundred", policies.NoBackoff, 100, 5050, 4 * time.Second},
		// 10, 20, … 1280 ms are 8 waits, 2550 ms; the other 91 are capped.
		{"a hundred, capped", policies.ExponentialBackoff, 100, 5050, 4*time.Second + 2550*ms + 91*2*time.Second},
	} {
		c := blog(test.clients, test.kind)
		c.LegSD = 0
		r := mustContend(t, c, 0)
		if r.Calls != test.calls || r.Conflicts != test.calls-uint64(test.clients) || r.Last != sim.Time(test.last) || r.Succeeded() != test.clients {
			t.Errorf("%s: %d calls, %d conflicts, %d succeeded, last at %v, want %d, %d, %d, %v",
				test.name, r.Calls, r.Conflicts, r.Succeeded(), r.Last, test.calls, test.calls-uint64(test.clients), test.clients, test.last)
		}
	}
}

// A second client waits once: its wait is all that is random without variance
// of the network.
func TestContentionOfTwoWaitsOnce(t *testing.T) {
	const ms = float64(time.Millisecond)
	for _, test := range []struct {
		kind     policies.BackoffKind
		low, top float64 // of the uniform wait, ms
	}{
		{policies.FullJitter, 0, 10}, {policies.EqualJitter, 5, 10}, {policies.DecorrelatedJitter, 5, 15},
	} {
		c := blog(2, test.kind)
		c.LegSD = 0
		const reps = 2000
		sum, least, most := 0.0, math.Inf(1), 0.0
		for rep := range uint64(reps) {
			r := mustContend(t, c, rep)
			if r.Calls != 3 {
				t.Fatalf("%s: %d calls, want 3", test.kind, r.Calls)
			}
			wait := float64(r.Last)/ms - 80
			sum += wait
			least, most = min(least, wait), max(most, wait)
		}
		mean, width := (test.low+test.top)/2, test.top-test.low
		if se := width / math.Sqrt(12*reps); math.Abs(sum/reps-mean) > 4*se {
			t.Errorf("%s: mean wait %v ms, want %v ± %v", test.kind, sum/reps, mean, 4*se)
		}
		if least < test.low || least > test.low+width/100 || most >= test.top || most < test.top-width/100 {
			t.Errorf("%s: waits from %v to %v ms, want %v to %v", test.kind, least, most, test.low, test.top)
		}
	}
}

// A leg takes |N(m, s)|: the mean is s·√(2/π)·exp(-m²/2s²) + m·erf(m/(s√2)).
func TestContentionLegs(t *testing.T) {
	for _, test := range []struct {
		mean, sd time.Duration
	}{{10 * time.Millisecond, 2 * time.Millisecond}, {0, 2 * time.Millisecond}, {time.Millisecond, time.Millisecond}} {
		c := blog(1, policies.NoBackoff)
		c.LegMean, c.LegSD = test.mean, test.sd
		m, s := float64(test.mean), float64(test.sd)
		want := s*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*s*s)) + m*math.Erf(m/(s*math.Sqrt2))
		variance := m*m + s*s - want*want
		const reps = 5000
		sum := 0.0
		for rep := range uint64(reps) {
			sum += float64(mustContend(t, c, rep).Last)
		}
		if got, se := sum/reps, math.Sqrt(4*variance/reps); math.Abs(got-4*want) > 4*se {
			t.Errorf("|N(%v, %v)|: four legs take %v, want %v ± %v", test.mean, test.sd,
				time.Duration(got), time.Duration(4*want), time.Duration(4*se))
		}
	}
}

// contentionTwin plays the same contention in the plainest way: all messages in
// a list, of which it takes the one that is due first.
func contentionTwin(c Contention, seed, replication uint64) (calls, conflicts int, last time.Duration) {
	type message struct {
		due    time.Duration
		client int
		step   string
		seen   int
	}
	legs, jitter := sim.NewDraws(seed, replication, "contention/legs"), sim.NewDraws(seed, replication, "contention/jitter")
	backoff, err := policies.NewBackoff(c.Backoff)
	if err != nil {
		panic(err)
	}
	sent, failures, wait := make([]uint64, c.Clients), make([]int, c.Clients), make([]time.Duration, c.Clients)
	travel := func(client int) time.Duration {
		g := legs.Rand(uint64(client), sent[client])
		sent[client]++
		return time.Duration(math.RoundToEven(math.Abs(float64(c.LegMean) + float64(c.LegSD)*g.NormFloat64())))
	}
	var queue []message
	version := 0
	for i := range c.Clients {
		queue = append(queue, message{travel(i), i, "read", 0})
	}
	for len(queue) > 0 {
		first := 0
		for i := range queue {
			if queue[i].due < queue[first].due {
				first = i
			}
		}
		m := queue[first]
		queue = append(queue[:first], queue[first+1:]...)
		now, i := m.due, m.client
		switch m.step {
		case "read":
			queue = append(queue, message{now + travel(i), i, "have read", version})
		case "have read":
			queue = append(queue, message{now + travel(i), i, "write", m.seen})
		case "write":
			calls++
			answer := "written"
			if m.seen != version {
				answer = "conflict"
				conflicts++
			} else {
				version++
			}
			queue = append(queue, message{now + travel(i), i, answer, 0})
		case "conflict":
			u := jitter.Float64(uint64(i), uint64(failures[i]))
			failures[i]++
			wait[i] = backoff.Delay(failures[i], wait[i], u)
			queue = append(queue, message{now + wait[i] + travel(i), i, "read", 0})
		case "written":
			last = now
		}
	}
	return calls, conflicts, last
}

func TestContentionAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := blog(rapid.IntRange(1, 30).Draw(t, "clients"), rapid.SampledFrom([]policies.BackoffKind{
			policies.NoBackoff, policies.FixedBackoff, policies.ExponentialBackoff,
			policies.FullJitter, policies.EqualJitter, policies.DecorrelatedJitter}).Draw(t, "kind"))
		c.LegMean = time.Duration(rapid.Int64Range(0, int64(20*time.Millisecond)).Draw(t, "mean"))
		// No two instants of a run are alike in nanoseconds, but for bad luck.
		c.LegSD = time.Duration(rapid.Int64Range(int64(time.Millisecond), int64(20*time.Millisecond)).Draw(t, "sd"))
		seed, replication := rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "replication")
		r, err := NewContenders(c, seed, replication)
		if err != nil {
			t.Fatal(err)
		}
		e := sim.New()
		r.Start(e)
		e.Run()
		calls, conflicts, last := contentionTwin(c, seed, replication)
		if r.Calls != uint64(calls) || r.Conflicts != uint64(conflicts) || r.Last != sim.Time(last) {
			t.Errorf("%d calls, %d conflicts, last at %v; the twin has %d, %d, %v", r.Calls, r.Conflicts, r.Last, calls, conflicts, last)
		}
		n := uint64(c.Clients)
		if r.Calls != n+r.Conflicts || r.Conflicts > n*(n-1)/2 || r.Succeeded() != c.Clients || e.Pending() != 0 {
			t.Errorf("%d calls, %d conflicts, %d of %d succeeded, %d pending", r.Calls, r.Conflicts, r.Succeeded(), n, e.Pending())
		}
	})
}

// Under any back-off the first attempt of a client has the same network.
func TestContentionSharesItsLuck(t *testing.T) {
	first := func(kind policies.BackoffKind) (reads []sim.Time) {
		r, err := NewContenders(blog(50, kind), 3, 7)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.clients {
			var at sim.Time
			for leg := range legsPerAttempt {
				at = at.Add(r.leg(i, leg))
			}
			reads = append(reads, at)
		}
		return reads
	}
	a, b := first(policies.NoBackoff), first(policies.DecorrelatedJitter)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("client %d: %v and %v", i, a[i], b[i])
		}
		if i > 0 && a[i] == a[i-1] {
			t.Errorf("clients %d and %d are alike", i-1, i)
		}
	}
}

// Where nothing caps an exponential wait, a client may have to wait for longer
// than there is time. It does not succeed, and the run ends all the same.
func TestContentionBeyondTime(t *testing.T) {
	c := blog(60, policies.ExponentialBackoff)
	c.Backoff.Cap, c.LegSD = 0, 0
	r := mustContend(t, c, 0)
	// In step, the k-th conflict is followed by a wait of 5 ms × 2^k. Those for
	// k up to 39 are 174 years together; with the next it would be 348 years,
	// and a Time ends after 292.
	if want := sim.Time(0).Add(40*40*time.Millisecond + (1<<40-2)*5*time.Millisecond); r.Succeeded() != 40 || r.Last != want {
		t.Errorf("%d clients succeed, the last at %v, want 40 and %v", r.Succeeded(), r.Last, want)
	}
}

func TestContentionValidate(t *testing.T) {
	valid := blog(10, policies.FullJitter)
	for _, test := range []struct {
		change func(*Contention)
		want   string
	}{
		{func(c *Contention) { c.Clients = 0 }, "model: contention: clients 0, want 1 to 1000000"},
		{func(c *Contention) { c.Clients = 1_000_001 }, "model: contention: clients 1000001, want 1 to 1000000"},
		{func(c *Contention) { c.LegMean = -1 }, "model: contention: mean of a leg -1ns, want at least 0s"},
		{func(c *Contention) { c.LegSD = -1 }, "model: contention: standard deviation of a leg -1ns, want at least 0s"},
		{func(c *Contention) { c.Backoff.Base = 0 }, "policies: full backoff: base 0s, want 1ns to 8760h0m0s"},
	} {
		c := valid
		test.change(&c)
		if _, err := NewContenders(c, 1, 0); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	if err := valid.Validate(); err != nil {
		t.Error(err)
	}
}

func TestContentionAllocatesNothing(t *testing.T) {
	r, err := NewContenders(blog(1000, policies.FullJitter), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.New()
	r.Start(e)
	e.RunUntil(sim.Time(time.Second))
	if n := testing.AllocsPerRun(1000, func() { e.Step() }); n != 0 {
		t.Errorf("%v allocations per event, want 0", n)
	}
	if e.Pending() == 0 {
		t.Error("the run was over before it was measured")
	}
}

func BenchmarkContention(b *testing.B) {
	c, events := blog(100, policies.FullJitter), uint64(0)
	for rep := uint64(0); b.Loop(); rep++ {
		r, err := NewContenders(c, 1, rep)
		if err != nil {
			b.Fatal(err)
		}
		e := sim.New()
		r.Start(e)
		e.Run()
		events += e.Events()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
