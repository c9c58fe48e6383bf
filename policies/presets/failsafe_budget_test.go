package presets

import (
	"math"
	"testing"
	"time"
)

func TestFailsafeBudget(t *testing.T) {
	same(t, "defaults", FailsafeBudgetDefaults(), FailsafeBudgetConfig{MaxRate: 0.2, MinConcurrency: 3})
	badBudget(t, FailsafeBudgetConfig{MaxRate: -1}, "maximum rate")
	badBudget(t, FailsafeBudgetConfig{MinConcurrency: -1}, "minimum concurrency")

	b, err := NewFailsafeBudget(FailsafeBudgetConfig{MaxRate: 0.5, MinConcurrency: 1})
	madeBudget(t, b, err)
	same(t, "rate of nothing", b.Rate(), 0)
	b.Request()
	for range 2 {
		same(t, "always granted", b.TryRetry(false), true)
	}
	same(t, "below the minimum", b.TrySend(), true)
	same(t, "rate", b.Rate(), 0.5)
	same(t, "reached is not above", b.TrySend(), true)
	same(t, "above", b.TrySend(), false)
	b.TryRetry(true)
	same(t, "rate", b.Rate(), 0.5)
	b.WaitDone() // given up
	b.Done(true, false)
	same(t, "rate without calls", b.Rate(), 1)
}

func TestClientGoBucket(t *testing.T) {
	same(t, "defaults", ClientGoBucketDefaults(), ClientGoBucketConfig{Rate: 10, Burst: 100})
	badBudget(t, ClientGoBucketConfig{Rate: math.Inf(1)}, "rate")
	badBudget(t, ClientGoBucketConfig{Burst: -1}, "burst")
	if b, err := NewClientGoBucket(ClientGoBucketConfig{Rate: -1}, nil); b != nil || err == nil {
		t.Error("a bucket with a rate below 0")
	}

	clock := newBudgetClock()
	made := func(c ClientGoBucketConfig) *ClientGoBucket {
		b, err := NewClientGoBucket(c, clock)
		return madeBudget(t, b, err)
	}
	b := made(ClientGoBucketConfig{Rate: 10, Burst: 2})
	clock.pass(time.Hour)
	for _, want := range []time.Duration{0, 0, 100 * time.Millisecond, 200 * time.Millisecond} {
		same(t, "delay", b.When(), want)
	}
	clock.pass(150 * time.Millisecond)
	same(t, "delay", b.When(), 150*time.Millisecond)
	same(t, "tokens", b.Tokens(), -1.5)
	clock.pass(-time.Hour)
	same(t, "delay of a clock that went back", b.When(), 250*time.Millisecond)
	same(t, "allocations", testing.AllocsPerRun(100, func() { b.When() }), 0)
	same(t, "no burst", made(ClientGoBucketConfig{Rate: 10}).When(), math.MaxInt64)
	b = made(ClientGoBucketConfig{Burst: 1})
	same(t, "a burst", b.When(), 0)
	same(t, "and no rate", b.When(), math.MaxInt64)
}
