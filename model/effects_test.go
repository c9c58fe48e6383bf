package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// quiet are effects that nothing goes wrong with: one attempt of each caller,
// no loss, and a service of 100 ms.
func quiet() Effects {
	return Effects{
		Intents: 100, Every: 10 * time.Second, KeyAt: KeyAtOperation,
		ClickAfter: 300 * time.Millisecond, DeviceAfter: 20 * time.Second, SameAfter: 40 * time.Second, BypassAfter: time.Hour,
		ClientAttempts: 1, GatewayAttempts: 1, ServerAttempts: 1, Deliveries: 1,
		Leg: 5 * time.Millisecond, Timeout: 200 * time.Millisecond, Backoff: 100 * time.Millisecond, Visibility: 30 * time.Second,
		Service: Law{Mean: 100 * time.Millisecond}, Shards: 1,
	}
}

func effectsRun(t *testing.T, c Effects, seed uint64) EffectLedger {
	t.Helper()
	r, err := NewEffectRun(c, seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	e := sim.New()
	r.Start(e)
	e.Run()
	l, err := r.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	if l.Pending != 0 || l.UnderWay != 0 || r.tasks.held() != 0 || r.messages.held() != 0 {
		t.Errorf("left over: %d pending, %d under way, %d tasks, %d messages", l.Pending, l.UnderWay, r.tasks.held(), r.messages.held())
	}
	if l.Submissions != l.Answered+l.FoundDone+l.GaveUp {
		t.Errorf("submissions %d = answered %d + found %d + given up %d", l.Submissions, l.Answered, l.FoundDone, l.GaveUp)
	}
	return l
}

// Every case has 100 intents that all go the same way.
func TestEffectsExactly(t *testing.T) {
	type counts struct {
		once, duplicated, merged, lost uint64
		by                             [Causes]uint64
	}
	twice := func(cause Cause) counts {
		c := counts{duplicated: 100}
		c.by[cause] = 100
		return c
	}
	once := counts{once: 100}
	for _, test := range []struct {
		name string
		set  func(*Effects)
		want counts
	}{
		{"nothing goes wrong", func(*Effects) {}, once},
		{"requests lost", func(c *Effects) { c.RequestLoss, c.ClientAttempts = 1, 3 }, counts{lost: 100}},

		// Each layer multiplies what is not answered: 3 × 2 × 2 × 2 effects.
		{"answers lost", func(c *Effects) {
			c.AnswerLoss, c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries = 1, 3, 2, 2, 2
		}, counts{duplicated: 100, by: [Causes]uint64{CauseClient: 1600, CauseGateway: 400, CauseServer: 200, CauseRedelivery: 100}}},
		{"answers lost, constraint", func(c *Effects) {
			c.AnswerLoss, c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries, c.Unique = 1, 3, 2, 2, 2, true
		}, once},
		{"answers lost, key of the server", func(c *Effects) {
			c.AnswerLoss, c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries, c.Unique = 1, 3, 2, 2, 2, true
			c.KeyAt = KeyAtServer
		}, counts{duplicated: 100, by: [Causes]uint64{CauseClient: 400, CauseGateway: 100}}},
		{"answers lost, producer without number", func(c *Effects) {
			c.AnswerLoss, c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries, c.Unique = 1, 3, 2, 2, 2, true
			c.KeyAt, c.NumberMissing = KeyAtProducer, 1
		}, counts{duplicated: 100, by: [Causes]uint64{CauseClient: 800, CauseGateway: 200, CauseServer: 100}}},
		{"answers lost, producer", func(c *Effects) {
			c.AnswerLoss, c.ClientAttempts, c.GatewayAttempts, c.ServerAttempts, c.Deliveries, c.Unique = 1, 3, 2, 2, 2, true
			c.KeyAt = KeyAtProducer
		}, once},
		{"answers lost, consumer without number", func(c *Effects) {
			c.AnswerLoss, c.Deliveries, c.Unique, c.KeyAt, c.NumberMissing = 1, 3, true, KeyAtConsumer, 1
		}, counts{duplicated: 100, by: [Causes]uint64{CauseRedelivery: 200}}},

		{"clicks", func(c *Effects) { c.ClickRatio = 1 }, twice(CauseClick)},
		{"clicks, key of the operation", func(c *Effects) { c.ClickRatio, c.Unique = 1, true }, once},
		{"clicks, key of the SDK", func(c *Effects) { c.ClickRatio, c.Unique, c.KeyAt = 1, true, KeyAtSDK }, twice(CauseClick)},
		{"clicks, hash", func(c *Effects) { c.ClickRatio, c.Unique, c.KeyAt = 1, true, KeyAtGateway }, once},
		{"clicks, dedup", func(c *Effects) { c.ClickRatio, c.Dedup = 1, true }, once},
		{"clicks, dedup, longer service", func(c *Effects) { c.ClickRatio, c.Dedup, c.Service.Mean = 1, true, time.Second }, twice(CauseClick)},
		{"the same, recorded before", func(c *Effects) {
			c.ClickRatio, c.Dedup, c.Service.Mean, c.Record = 1, true, time.Second, RecordBefore
		}, once},
		{"clicks, forgotten", func(c *Effects) { c.ClickRatio, c.Dedup, c.Keep = 1, true, 199*time.Millisecond }, twice(CauseClick)},
		{"clicks, kept", func(c *Effects) { c.ClickRatio, c.Dedup, c.Keep = 1, true, 201*time.Millisecond }, once},
		{"clicks, state", func(c *Effects) { c.ClickRatio, c.State, c.Service.Mean = 1, true, time.Second }, once},
		{"clicks, late state", func(c *Effects) { c.ClickRatio, c.State, c.StateLag = 1, true, 301*time.Millisecond }, twice(CauseClick)},
		{"clicks, state just in time", func(c *Effects) { c.ClickRatio, c.State, c.StateLag = 1, true, 300*time.Millisecond }, once},

		{"devices apart", func(c *Effects) { c.DeviceRatio, c.Unique, c.State, c.Dedup = 1, true, true, true }, twice(CauseDevice)},
		{"devices synced", func(c *Effects) { c.DeviceRatio, c.Unique, c.Synced = 1, true, true }, once},
		{"devices, consumer", func(c *Effects) { c.DeviceRatio, c.Unique, c.KeyAt = 1, true, KeyAtConsumer }, once},

		{"same order", func(c *Effects) { c.SameRatio, c.Unique = 0.5, true }, once},
		{"same order, hash", func(c *Effects) { c.SameRatio, c.Unique, c.KeyAt = 0.5, true, KeyAtGateway }, counts{once: 50, merged: 50}},
		{"same order, hash, forgotten", func(c *Effects) {
			c.SameRatio, c.Dedup, c.KeyAt, c.Keep = 0.5, true, KeyAtGateway, 39*time.Second
		}, once},

		{"crash", func(c *Effects) { c.Crash, c.Deliveries, c.Dedup = 1, 3, true },
			counts{duplicated: 100, by: [Causes]uint64{CauseRedelivery: 200}}},
		{"crash, one transaction", func(c *Effects) { c.Crash, c.Deliveries, c.Dedup, c.Record = 1, 3, true, RecordWithin }, once},
		{"crash, recorded before", func(c *Effects) { c.Crash, c.Deliveries, c.Dedup, c.Record = 1, 3, true, RecordBefore }, counts{lost: 100}},
		{"crash, state", func(c *Effects) { c.Crash, c.Deliveries, c.State = 1, 3, true }, once},
		{"slow consumer", func(c *Effects) { c.Deliveries, c.Service.Mean = 3, 31*time.Second },
			counts{duplicated: 100, by: [Causes]uint64{CauseRedelivery: 100}}},

		{"writer, dedup", func(c *Effects) { c.BypassDedup, c.Dedup = 1, true }, twice(CauseBypass)},
		{"writer, state", func(c *Effects) { c.BypassDedup, c.State = 1, true }, once},
		{"writer past the state", func(c *Effects) { c.BypassState, c.State, c.Dedup = 1, true, true }, twice(CauseBypass)},
		{"writer, constraint", func(c *Effects) { c.BypassState, c.Unique = 1, true }, once},
		{"writer without message", func(c *Effects) { c.BypassState, c.RequestLoss = 1, 1 }, counts{lost: 100}},
	} {
		c := quiet()
		test.set(&c)
		l := effectsRun(t, c, 1)
		if got := (counts{l.Once, l.Duplicated, l.Merged, l.Lost, l.DuplicatesBy}); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A client sends at 0 and, as no answer comes, at 520 and 1,040 ms; an effect
// is done 120 ms after it sent, and found when the replica has it.
func TestEffectsOfAskingFirst(t *testing.T) {
	for _, test := range []struct {
		query        string
		lag, service time.Duration
		effects      uint64 // of each intent
		repeats      uint64 // of what was accepted
	}{
		{QueryNone, 0, 100, 3, 2},
		{QueryReplica, 0, 100, 1, 0},
		{QueryReplica, 400, 100, 1, 0},
		{QueryReplica, 401, 100, 2, 1},
		{QueryReplica, 920, 100, 2, 1},
		{QueryReplica, 921, 100, 3, 2},
		{QueryPrimary, 921, 100, 1, 0},
		{QueryPrimary, 0, 501, 2, 1}, // not done yet
		{QueryAccepted, 0, 501, 1, 0},
	} {
		c := quiet()
		c.AnswerLoss, c.ClientAttempts = 1, 3
		c.Query, c.Lag, c.Service.Mean = test.query, test.lag*time.Millisecond, test.service*time.Millisecond
		l := effectsRun(t, c, 1)
		if l.Effects != 100*test.effects || l.Repeats != 100*test.repeats {
			t.Errorf("%s, lag %d ms, service %d ms: %d effects, %d repeats, want %d and %d", test.query, test.lag, test.service,
				l.Effects, l.Repeats, 100*test.effects, 100*test.repeats)
		}
	}
}

// Copies that fall at random into S shards meet with probability 1/S.
func TestEffectsInShards(t *testing.T) {
	c := quiet()
	c.Intents, c.ClickRatio, c.Unique = 20_000, 1, true
	for _, shards := range []int{2, 8, 64} {
		c.Shards = shards
		l := effectsRun(t, c, 5)
		want := float64(c.Intents) * (1 - 1/float64(shards))
		if sd := math.Sqrt(want / float64(shards)); math.Abs(float64(l.Duplicates())-want) > 4*sd {
			t.Errorf("%d shards: %d duplicates, want %v ± %v", shards, l.Duplicates(), want, sd)
		}
	}
}

func TestEffectsRefuse(t *testing.T) {
	for _, test := range []struct {
		set  func(*Effects)
		want string
	}{
		{func(c *Effects) { c.Intents = 0 }, "intents 0, want 1 to"},
		{func(c *Effects) { c.ClientAttempts = 16 }, "client attempts 16, want 1 to 15"},
		{func(c *Effects) { c.Deliveries = 0 }, "deliveries 0"},
		{func(c *Effects) { c.Shards = 65 }, "shards 65, want 1 to 64"},
		{func(c *Effects) { c.SameRatio = 0.6 }, "same ratio 0.6, want from 0 to 0.5"},
		{func(c *Effects) { c.Crash = math.NaN() }, "crash NaN"},
		{func(c *Effects) { c.BypassDedup, c.BypassState = 0.6, 0.6 }, "bypasses together"},
		{func(c *Effects) { c.KeyAt = "" }, `key at "", want one of operation, sdk`},
		{func(c *Effects) { c.Record = "never" }, `record "never", want one of after`},
		{func(c *Effects) { c.Query = "cache" }, `query "cache", want one of none`},
		{func(c *Effects) { c.Timeout = 2 * c.Leg }, "timeout 10ms, want from 10.000001ms"},
		{func(c *Effects) { c.Every = 0 }, "every 0s, want from 1ns"},
		{func(c *Effects) { c.Leg = -1 }, "leg -1ns"},
		{func(c *Effects) { c.Leg = math.MaxInt64 }, "leg "},
		{func(c *Effects) { c.Intents, c.Every = maxIntents, time.Hour }, "intents × every"},
		{func(c *Effects) { c.Service.Mean = -1 }, "mean -1ns"},
	} {
		c := quiet()
		test.set(&c)
		if _, err := NewEffectRun(c, 1, 1); err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "model: effects: ") {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
}

// Waits that multiply beyond the clock are refused.
func TestEffectsTakeNoCenturies(t *testing.T) {
	const year = 365 * 24 * time.Hour
	c := Effects{Intents: 1, Every: 1, KeyAt: "operation", ClientAttempts: 3, GatewayAttempts: 15, ServerAttempts: 15, Deliveries: 1,
		Timeout: year, Backoff: year, Visibility: 1, RequestLoss: 1, Shards: 1, Service: Law{Mean: 1}}
	want := "model: effects: client × gateway × server attempts × (timeout + back-off) and deliveries × visibility take up to"
	if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want one that begins %q", err, want)
	}
}
