package model

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/theory"
)

// plainDelivery is one in which nothing goes wrong.
func plainDelivery() DeliveryConfig {
	return DeliveryConfig{
		Producer:  Producer{Arrivals: Arrivals{Kind: Fixed, RateRPS: 10}, End: 10 * time.Second, Ack: Law{Mean: 20 * time.Millisecond}, AckTimeout: time.Second},
		Queue:     MessageQueue{Visibility: 30 * time.Second, Delays: 2, Backoff: policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 5 * time.Second}},
		Consumers: Consumers{Count: 4, Processing: Law{Mean: 100 * time.Millisecond}, Attempts: 3},
		Horizon:   time.Minute,
	}
}

func runDelivery(t *testing.T, c DeliveryConfig, seed uint64) *Delivery {
	t.Helper()
	d, err := NewDelivery(c, seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(context.Background()); err != nil {
		t.Fatalf("%v\n%+v", err, c)
	}
	return d
}

func TestDeliveryWithoutTrouble(t *testing.T) {
	for _, guarantee := range []string{AtLeastOnce, AtMostOnce} {
		c := plainDelivery()
		c.Guarantee = guarantee
		d := runDelivery(t, c, 1)
		l := d.Ledger()
		if l.Intents != 100 || l.ExactlyOne != 100 || l.Deliveries != 100 || l.Attempts != 100 || l.Acked != 100 {
			t.Errorf("%s: %+v, want 100 of everything", guarantee, l)
		}
		if want := 9900*time.Millisecond + 110*time.Millisecond; l.LastEffect != want {
			t.Errorf("%s: last effect at %v, want %v", guarantee, l.LastEffect, want)
		}
	}
}

// In an outage that answers at once each message makes all its attempts: three
// in process, three times with two delays. It dies if that is over before the
// outage is.
func TestDeliveryOutage(t *testing.T) {
	c := plainDelivery()
	c.Producer.Ack = Law{} // in the queue at the instant of the intent
	c.Dependency = Dependency{OutageStart: 2 * time.Second, OutageEnd: 14 * time.Second, OutageFast: true}
	d := runDelivery(t, c, 1)
	l := d.Ledger()
	// Intents of [2 s, 4 s) try at t, t + 5 s and t + 10 s, all before 14 s;
	// those of [4 s, 10 s) live on.
	if l.Dead != 20 || l.DeadSpent != 20 || l.Effected != 80 {
		t.Errorf("%d dead, %d effected, want 20 and 80", l.Dead, l.Effected)
	}
	// Those of [4 s, 9 s) fail twice, those of [9 s, 10 s) once.
	if want := uint64(20*9 + 50*6 + 10*3); l.OutageAttempts != want {
		t.Errorf("%d attempts in the outage, want %d", l.OutageAttempts, want)
	}
	letters := d.DeadLetters()
	if v := letters[0]; v.Key != 20 || v.FirstFailure != 2*time.Second || v.At != 12*time.Second || v.Attempts != 9 || v.Deliveries != 3 || v.Reason != DeadSpent {
		t.Errorf("first dead letter %+v", v)
	}
	if l.OldestLetter != 12*time.Second {
		t.Errorf("oldest letter %v, want 12s", l.OldestLetter)
	}

	c.Owner.Every = 15 * time.Second
	if l := runDelivery(t, c, 1).Ledger(); l.Replayed != 20 || l.ExactlyOne != 100 || l.LastEffect != 19*time.Second {
		t.Errorf("with an owner: %+v, want all effects, the last at 8.9 s + 10 s + 0.1 s", l)
	}
}

// A permanent error is recognised at once, or tried as often as any other.
func TestDeliveryPermanentErrors(t *testing.T) {
	c := plainDelivery()
	c.Dependency.PermanentRatio = 1
	l := runDelivery(t, c, 1).Ledger()
	if l.Dead != 100 || l.DeadPermanent != 100 || l.Attempts != 100 {
		t.Errorf("recognised: %d dead after %d attempts, want 100 after 100", l.Dead, l.Attempts)
	}
	c.Consumers.RetryPermanent = true
	l = runDelivery(t, c, 1).Ledger()
	if l.Dead != 100 || l.DeadSpent != 100 || l.Attempts != 900 {
		t.Errorf("not recognised: %d dead after %d attempts, want 100 after 900", l.Dead, l.Attempts)
	}
	c.Owner.Every = 30 * time.Second
	if l = runDelivery(t, c, 1).Ledger(); l.Compensated != 100 || l.Dead != 0 {
		t.Errorf("owner who repairs nothing: %d compensated, want 100", l.Compensated)
	}
	c.Owner.RepairRatio = 1
	if l = runDelivery(t, c, 1).Ledger(); l.ExactlyOne != 100 {
		t.Errorf("owner who repairs all: %d with one effect, want 100", l.ExactlyOne)
	}
}

// A processing time above the visibility timeout repeats a message until the
// horizon, or until it has been delivered too often.
func TestDeliveryVisibility(t *testing.T) {
	c := plainDelivery()
	c.Producer.End = 50 * time.Millisecond // one intent, in the queue at 10 ms
	c.Queue.Visibility = time.Second
	c.Consumers.Processing = Law{Mean: 1500 * time.Millisecond}
	l := runDelivery(t, c, 1).Ledger()
	// Delivered at 10 ms, 1.01 s, …, 59.01 s; those up to 58.01 s end in time.
	if l.Deliveries != 60 || l.Effects != 59 || l.Duplicates.Visibility != 58 || l.Acked != 0 || l.LateAcks != 59 {
		t.Errorf("%+v", l)
	}
	c.Queue.MaxDeliveries = 3
	d := runDelivery(t, c, 1)
	l = d.Ledger()
	if l.Deliveries != 3 || l.Effects != 3 || l.DeadDeliveries != 1 || l.Dead != 0 || l.Letters != 1 {
		t.Errorf("at most 3 deliveries: %+v", l)
	}
	c.Consumers.Dedup = DedupKey
	if l = runDelivery(t, c, 1).Ledger(); l.Effects != 1 || l.Suppressed != 2 {
		t.Errorf("with the business key: %d effects, %d left out, want 1 and 2", l.Effects, l.Suppressed)
	}
}

// Copies of a message: 1 ÷ (1 − ack loss), whatever the loss of publishes. A
// queue's own number does not tell them apart, the business key does.
func TestDeliveryAckLoss(t *testing.T) {
	c := plainDelivery()
	c.Producer.Arrivals = Arrivals{Kind: Poisson, RateRPS: 100}
	c.Producer.End, c.Horizon = 200*time.Second, 400*time.Second
	c.Producer.AckLoss, c.Producer.RequestLoss = 0.2, 0.3
	c.Consumers.Count = 40
	l := runDelivery(t, c, 7).Ledger()
	n := float64(l.Intents)
	if got, want := float64(l.Stored)/n, 1/0.8; math.Abs(got-want) > 4*math.Sqrt(0.2/0.64/n) {
		t.Errorf("%v copies per intent, want %v", got, want)
	}
	if l.Duplicates.Publish != l.Stored-l.Intents || l.Duplicates.All() != l.Duplicates.Publish {
		t.Errorf("duplicates %+v, want %d, all of the producer", l.Duplicates, l.Stored-l.Intents)
	}
	c.Consumers.Dedup = DedupMessageID
	if again := runDelivery(t, c, 7).Ledger(); again.Duplicates.Publish != l.Duplicates.Publish {
		t.Errorf("%d duplicates with the queue's number, want %d as without", again.Duplicates.Publish, l.Duplicates.Publish)
	}
	c.Consumers.Dedup = DedupKey
	if again := runDelivery(t, c, 7).Ledger(); again.Duplicates.All() != 0 || again.ExactlyOne != l.Intents {
		t.Errorf("%d duplicates with the business key, want none", again.Duplicates.All())
	}
	c.Guarantee = AtMostOnce
	once := runDelivery(t, c, 7).Ledger()
	if got := float64(once.Lost) / n; math.Abs(got-0.3) > 4*math.Sqrt(0.21/n) || once.Duplicates.All() != 0 {
		t.Errorf("at most once: %v lost, %d duplicates, want 0.3 and none", got, once.Duplicates.All())
	}
}

// A consumer that leaves has what it processed and did not commit delivered
// again.
func TestDeliveryRebalance(t *testing.T) {
	c := plainDelivery()
	c.Consumers.Count = 1
	c.Consumers.Processing = Law{Mean: time.Millisecond}
	c.Consumers.CommitEvery = 5 * time.Second
	c.Consumers.LeaveRPS = 0.2
	c.Producer.End, c.Horizon = 2000*time.Second, 2100*time.Second
	l := runDelivery(t, c, 3).Ledger()
	if l.Duplicates.Rebalance == 0 || l.Duplicates.All() != l.Duplicates.Rebalance || l.Suppressed != 0 {
		t.Fatalf("%+v", l)
	}
	// At 10/s with a commit each 5 s and leaves at rate 0.2/s a message is
	// processed anew with the probability 1 − E[e^(−0.2 U)], U up to 5 s.
	again := 1 - (1-math.Exp(-1))/1
	want := again / (1 - again)
	if got := float64(l.Duplicates.Rebalance) / float64(l.Intents); math.Abs(got-want) > 0.1*want {
		t.Errorf("%v duplicates per message, closed form %v", got, want)
	}
	c.Consumers.Dedup = DedupMessageID
	if l := runDelivery(t, c, 3).Ledger(); l.Duplicates.All() != 0 {
		t.Errorf("%d duplicates with the queue's number, want none: the message is the same", l.Duplicates.All())
	}
}

func TestDeliveryRefuses(t *testing.T) {
	for _, test := range []struct {
		set  func(*DeliveryConfig)
		want string
	}{
		{func(c *DeliveryConfig) { c.Horizon = 0 }, "horizon 0s"},
		{func(c *DeliveryConfig) { c.Guarantee = "exactly-once" }, `guarantee "exactly-once"`},
		{func(c *DeliveryConfig) { c.Producer.AckTimeout = 0 }, "ack timeout 0s"},
		{func(c *DeliveryConfig) { c.Producer.AckLoss = 1 }, "ack loss 1, want 0 to below 1"},
		{func(c *DeliveryConfig) { c.Producer.RequestLoss = math.NaN() }, "request loss NaN"},
		{func(c *DeliveryConfig) { c.Producer.Arrivals.TicksPerSecond = 7 }, "7 ticks"},
		{func(c *DeliveryConfig) { c.Consumers.Count = 0 }, "count 0"},
		{func(c *DeliveryConfig) { c.Consumers.Dedup = "hash" }, `dedup "hash"`},
		{func(c *DeliveryConfig) { c.Consumers.LeaveRPS = math.Inf(1) }, "leave rate"},
		{func(c *DeliveryConfig) { c.Consumers.Processing.Mean = -1 }, "processing law"},
		{func(c *DeliveryConfig) { c.Queue.Visibility, c.Consumers.AckLoss = 0, 0.1 }, "stay hidden for ever"},
		{func(c *DeliveryConfig) { c.Queue.Backoff.Base = -1 }, "backoff"},
		{func(c *DeliveryConfig) { c.Dependency.OutageEnd, c.Dependency.OutageStart = 1, 2 }, "outage [2ns, 1ns)"},
		{func(c *DeliveryConfig) { c.Owner.RepairRatio = 2 }, "repair ratio 2"},
	} {
		c := plainDelivery()
		test.set(&c)
		if _, err := NewDelivery(c, 1, 0); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q in it", err, test.want)
		}
	}
}

// randomDelivery is a configuration in which anything may go wrong.
func randomDelivery(r *rand.Rand) DeliveryConfig {
	some := func(p, v float64) float64 {
		if r.Float64() < p {
			return v * r.Float64()
		}
		return 0
	}
	s := func(v float64) time.Duration { return time.Duration(v * 1e9) }
	kinds := []policies.BackoffKind{policies.NoBackoff, policies.FixedBackoff, policies.FullJitter, policies.DecorrelatedJitter}
	c := DeliveryConfig{
		Producer: Producer{
			Arrivals: Arrivals{Kind: Poisson, RateRPS: 1 + 20*r.Float64()}, End: s(20 + 40*r.Float64()),
			Ack: Law{Kind: Exponential, Mean: s(0.001 + 0.5*r.Float64())}, AckTimeout: s(0.05 + 2*r.Float64()),
			RequestLoss: some(0.5, 0.6), AckLoss: some(0.5, 0.6),
		},
		Queue: MessageQueue{Visibility: s(0.2 + some(0.8, 30)), Delays: r.IntN(4),
			Backoff: policies.BackoffConfig{Kind: kinds[r.IntN(len(kinds))], Base: s(0.1 + 5*r.Float64())}},
		Consumers: Consumers{
			Count: 1 + r.IntN(30), Processing: Law{Kind: Exponential, Mean: s(0.001 + some(0.7, 1))}, Attempts: r.IntN(4),
			RetryPermanent: r.IntN(2) == 0, CommitEvery: s(some(0.5, 5)), AckLoss: some(0.5, 0.5),
			Dedup: []string{NoDedup, DedupMessageID, DedupKey}[r.IntN(3)], LeaveRPS: some(0.6, 1), RejoinAfter: s(some(0.5, 3)),
		},
		Dependency: Dependency{TransientRatio: some(0.5, 0.6), UnknownRatio: some(0.5, 1), PermanentRatio: some(0.5, 0.3), OutageFast: r.IntN(2) == 0},
		Owner:      Owner{Every: s(some(0.7, 60)), RepairRatio: r.Float64()},
		Horizon:    s(30 + 200*r.Float64()),
	}
	if r.IntN(3) == 0 {
		c.Queue.MaxDeliveries = 1 + r.IntN(8)
	}
	if r.IntN(2) == 0 {
		c.Dependency.OutageStart = s(20 * r.Float64())
		c.Dependency.OutageEnd = c.Dependency.OutageStart + s(40*r.Float64())
	}
	if c.Owner.Every > 0 {
		c.Owner.Every = max(c.Owner.Every, time.Second)
	}
	return c
}

// Whatever goes wrong, the ledger balances, at least once loses nothing, and at
// most once repeats nothing of which the outcome is known. Run checks the
// first two.
func TestDeliveryRandom(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 60
	}
	r := rand.New(rand.NewPCG(1, 2))
	var sum Duplicates
	for i := range n {
		c := randomDelivery(r)
		l := runDelivery(t, c, uint64(i)).Ledger()
		if l.Lost != 0 {
			t.Fatalf("%d lost\n%+v", l.Lost, c)
		}
		if c.Consumers.Dedup == DedupKey && l.Duplicates.All() != 0 {
			t.Fatalf("%d duplicates with the business key\n%+v", l.Duplicates.All(), c)
		}
		if by := l.Duplicates; c.Consumers.Dedup == DedupMessageID && c.Owner.Every == 0 && by.All() != by.Publish {
			t.Fatalf("duplicates %+v with the queue's number, want those of the producer alone\n%+v", by, c)
		}
		sum.Publish += l.Duplicates.Publish
		sum.Visibility += l.Duplicates.Visibility
		sum.Ack += l.Duplicates.Ack
		sum.Rebalance += l.Duplicates.Rebalance
		sum.Unknown += l.Duplicates.Unknown

		c.Guarantee = AtMostOnce
		if l := runDelivery(t, c, uint64(i)).Ledger(); l.Duplicates.All() != 0 {
			t.Fatalf("%d duplicates with at most once\n%+v", l.Duplicates.All(), c)
		}
	}
	if sum.Publish == 0 || sum.Visibility == 0 || sum.Ack == 0 || sum.Rebalance == 0 || sum.Unknown == 0 {
		t.Errorf("duplicates %+v, want some of each kind", sum)
	}
}

// With idempotent consumers and an owner who repairs everything, replay
// restores every effect exactly once.
func TestDeliveryReplayRestores(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 40
	}
	r := rand.New(rand.NewPCG(3, 4))
	var replayed uint64
	for i := range n {
		c := randomDelivery(r)
		c.Consumers.Dedup = DedupKey
		c.Owner = Owner{Every: time.Second + time.Duration(r.IntN(30))*time.Second, RepairRatio: 1}
		c.Dependency.OutageEnd = min(c.Dependency.OutageEnd, time.Minute)
		c.Queue.Visibility = 20 * time.Second
		c.Horizon = 10 * time.Hour // all that can end has ended
		d := runDelivery(t, c, uint64(i))
		l := d.Ledger()
		replayed += l.Replayed
		for k, e := range d.Effects() {
			if e.Effects != 1 || e.First < e.Begun {
				t.Fatalf("intent %d has %+v, want one effect\n%+v\n%+v", k, e, c, l)
			}
		}
		if l.Letters != 0 || l.Dead != 0 || l.ExactlyOne != l.Intents {
			t.Fatalf("%+v\n%+v", c, l)
		}
	}
	if replayed == 0 {
		t.Error("nothing was replayed")
	}
}

// A run is a function of its configuration, seed and replication.
func TestDeliverySame(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 20 {
		c := randomDelivery(r)
		a, b := *runDelivery(t, c, uint64(i)).Ledger(), *runDelivery(t, c, uint64(i)).Ledger()
		if a != b {
			t.Errorf("%+v\n%+v\nof equal runs differ", a, b)
		}
	}
}

func TestDeliveryStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := plainDelivery()
	c.Producer.End, c.Horizon = time.Hour, 2*time.Hour
	d, err := NewDelivery(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Run(ctx); err != context.Canceled {
		t.Errorf("error %v, want that of the context", err)
	}
}

// Without trouble the consumers are the servers of a queue M/M/c.
func TestDeliveryIsAQueue(t *testing.T) {
	c := plainDelivery()
	c.Producer.Arrivals = Arrivals{Kind: Poisson, RateRPS: 32}
	c.Producer.End, c.Horizon, c.Producer.Ack = 5000*time.Second, 5100*time.Second, Law{}
	c.Consumers = Consumers{Count: 4, Processing: Law{Kind: Exponential, Mean: 100 * time.Millisecond}}
	var sum time.Duration
	effects := runDelivery(t, c, 1).Effects()
	for _, e := range effects {
		sum += e.First - e.Begun
	}
	waits, err := theory.ErlangC(4, 3.2)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.1 + waits*0.1/(4-3.2)
	if got := sum.Seconds() / float64(len(effects)); math.Abs(got-want) > 0.03*want {
		t.Errorf("mean time to the effect %v s, M/M/4 has %v s", got, want)
	}
}
