package model

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/sim"
)

// drawEffects draws effects of any kind.
func drawEffects(t *rapid.T) Effects {
	ratio := func(name string, most float64) float64 {
		return rapid.OneOf(rapid.SampledFrom([]float64{0, 0, most}), rapid.Float64Range(0, most)).Draw(t, name)
	}
	ms := func(name string, lo, hi int) time.Duration {
		return time.Duration(rapid.IntRange(lo, hi).Draw(t, name)) * time.Millisecond
	}
	count := func(name string, hi int) int { return rapid.IntRange(1, hi).Draw(t, name) }
	c := Effects{
		Intents: count("intents", 60), Every: ms("every", 1, 5000),
		ClickRatio: ratio("clicks", 1), DeviceRatio: ratio("devices", 1), SameRatio: ratio("same", 0.5),
		ClickAfter: ms("click after", 0, 1000), DeviceAfter: ms("device after", 0, 30_000), SameAfter: ms("same after", 0, 60_000),
		KeyAt: rapid.SampledFrom(keyPlaces).Draw(t, "key"), Synced: rapid.Bool().Draw(t, "synced"), NumberMissing: ratio("missing", 1),
		ClientAttempts: count("client", 4), GatewayAttempts: count("gateway", 3), ServerAttempts: count("server", 3), Deliveries: count("deliveries", 5),
		Leg: ms("leg", 0, 50), Timeout: ms("timeout", 101, 1000), Backoff: ms("back-off", 0, 1000), Visibility: ms("visibility", 1, 30_000),
		RequestLoss: ratio("request loss", 1), AnswerLoss: ratio("answer loss", 1), Crash: ratio("crash", 1),
		Service: rapid.SampledFrom([]Law{{}, {Mean: 300 * time.Millisecond}, {Kind: Exponential, Mean: time.Second}}).Draw(t, "service"),
		Dedup:   rapid.Bool().Draw(t, "dedup"), State: rapid.Bool().Draw(t, "state"), Unique: rapid.Bool().Draw(t, "unique"),
		Record: rapid.SampledFrom(recordOrders).Draw(t, "record"), Keep: ms("keep", 0, 2) * 1000, StateLag: ms("state lag", 0, 2000),
		Shards: count("shards", 4), Query: rapid.SampledFrom(queryKinds).Draw(t, "query"), Lag: ms("lag", 0, 5000),
		BypassDedup: ratio("past dedup", 0.5), BypassState: ratio("past state", 0.5), BypassAfter: ms("bypass after", 0, 100_000),
	}
	return c
}

func startEffects(t *rapid.T, c Effects, seed uint64) (*EffectRun, *sim.Engine) {
	r, err := NewEffectRun(c, seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.New()
	r.Start(e)
	return r, e
}

func ledgerOf(t *rapid.T, r *EffectRun) EffectLedger {
	l, err := r.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The ledger balances at any instant, nothing is pending in the end, and a run
// is the same when it is run again.
func TestEffectsLedgerBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawEffects(t)
		seed := rapid.Uint64().Draw(t, "seed")
		r, e := startEffects(t, c, seed)
		for range 5 {
			e.RunUntil(e.Now().Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "step")) * time.Millisecond))
			ledgerOf(t, r)
		}
		e.Run()
		l := ledgerOf(t, r)
		if l.Pending != 0 || l.UnderWay != 0 || l.Intents != uint64(c.Intents) || r.tasks.held()+r.messages.held() != 0 {
			t.Errorf("at the end: %+v, %d tasks and %d messages left", l, r.tasks.held(), r.messages.held())
		}
		if l.Submissions != l.Answered+l.FoundDone+l.GaveUp {
			t.Errorf("submissions do not balance: %+v", l)
		}
		again, e2 := startEffects(t, c, seed)
		e2.Run()
		if b := ledgerOf(t, again); b != l {
			t.Errorf("run again: %+v, before %+v", b, l)
		}
	})
}

// With all three lines, one shard, and a key that the client makes once for
// each operation, on all devices, nothing is done twice and nobody is taken for
// another, whatever is lost, crashes, lags or passes by. Apart devices make
// nothing worse than their own number.
func TestEffectsAllLinesAndTheOperationsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawEffects(t)
		c.KeyAt, c.Dedup, c.State, c.Unique, c.Shards = KeyAtOperation, true, true, true, 1
		r, e := startEffects(t, c, rapid.Uint64().Draw(t, "seed"))
		e.Run()
		l := ledgerOf(t, r)
		var others uint64
		for cause, n := range l.DuplicatesBy {
			if Cause(cause) != CauseDevice {
				others += n
			}
		}
		switch {
		case l.Merged != 0:
			t.Errorf("%d intents merged", l.Merged)
		case (c.Synced || c.DeviceRatio == 0) && l.Duplicates() != 0:
			t.Errorf("%d duplicates, want none: %v", l.Duplicates(), l.DuplicatesBy)
		case l.Duplicated != l.Duplicates():
			t.Errorf("%d intents have %d duplicates, want one of each: %v", l.Duplicated, l.Duplicates(), l.DuplicatesBy)
		case c.BypassDedup+c.BypassState == 0 && others != 0:
			t.Errorf("duplicates other than by devices: %v", l.DuplicatesBy)
		}
	})
}

// An effect that begins is done, unless the table has a key without one: with
// another key than a hash, whoever gets through to the consumer has an effect.
func TestEffectsAreLostOnTheWayOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawEffects(t)
		if c.KeyAt == KeyAtGateway {
			c.SameRatio = 0
		}
		c.Record = rapid.SampledFrom([]string{RecordAfter, RecordWithin}).Draw(t, "recorded")
		c.Query = QueryNone
		r, e := startEffects(t, c, 9)
		e.Run()
		bare := c
		bare.Dedup, bare.State, bare.Unique = false, false, false
		r2, e2 := startEffects(t, bare, 9)
		e2.Run()
		l, without := ledgerOf(t, r), ledgerOf(t, r2)
		if l.Merged != 0 || l.Lost != without.Lost {
			t.Errorf("%d merged and %d lost, without defences %d", l.Merged, l.Lost, without.Lost)
		}
		if l.Duplicates() > without.Duplicates() {
			t.Errorf("%d duplicates, without defences %d", l.Duplicates(), without.Duplicates())
		}
	})
}

// Common random numbers: keys and defences change nothing of what clients,
// gateway and server do, and nothing but deliveries of what the queue does.
func TestEffectsHaveTheSameLuck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawEffects(t)
		c.Query = QueryNone
		r, e := startEffects(t, c, 4)
		e.Run()
		other := drawEffects(t)
		d := c
		d.KeyAt, d.Dedup, d.State, d.Unique, d.Record, d.Keep, d.StateLag, d.Shards = other.KeyAt, other.Dedup, other.State, other.Unique,
			other.Record, other.Keep, other.StateLag, other.Shards
		r2, e2 := startEffects(t, d, 4)
		e2.Run()
		a, b := ledgerOf(t, r), ledgerOf(t, r2)
		if a.Submissions != b.Submissions || a.Answered != b.Answered || a.Attempts != b.Attempts || a.Messages != b.Messages || a.Bypasses != b.Bypasses {
			t.Errorf("%+v and %+v, want the same way to the queue", a, b)
		}
	})
}

// TestEffectsDoNotAllocate measures a run under way, all lines at work.
func TestEffectsDoNotAllocate(t *testing.T) {
	c := quiet()
	c.Intents, c.Every = 10_000, time.Second
	c.ClickRatio, c.DeviceRatio, c.RequestLoss, c.AnswerLoss, c.Crash = 0.05, 0.02, 0.05, 0.05, 0.05
	c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries = 3, 2, 2, 5
	c.Dedup, c.State, c.Unique, c.StateLag, c.Shards = true, true, true, time.Second, 4
	r, err := NewEffectRun(c, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.New()
	r.Start(e)
	e.RunUntil(sim.Time(2000 * time.Second))
	if n := testing.AllocsPerRun(20_000, func() { e.Step() }); n != 0 {
		t.Errorf("%v allocations per event, want 0", n)
	}
	if e.Pending() == 0 {
		t.Error("the run was over before it was measured")
	}
}

func BenchmarkEffects(b *testing.B) {
	c := quiet()
	c.Intents, c.Every = 10_000, time.Second
	c.ClickRatio, c.RequestLoss, c.AnswerLoss, c.Crash = 0.02, 0.01, 0.01, 0.01
	c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries = 3, 2, 2, 5
	c.Dedup, c.State, c.Unique = true, true, true
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r, err := NewEffectRun(c, 1, uint64(n))
		if err != nil {
			b.Fatal(err)
		}
		e := sim.New()
		r.Start(e)
		e.Run()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*c.Intents), "ns/intent")
}
