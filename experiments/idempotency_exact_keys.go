package experiments

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// effectUsers are how often users submit an intent again.
type effectUsers struct{ click, device float64 }

func (u effectUsers) submissions() float64 { return 1 + u.click + u.device }

// all is the probability that something holds for all submissions of an
// intent, if it does for one with probability p; device1 for those of the first
// device.
func (u effectUsers) all(p float64) float64     { return u.device1(p) * (1 - u.device + u.device*p) }
func (u effectUsers) device1(p float64) float64 { return p * (1 - u.click + u.click*p) }

// exactDefended counts the effects of each key behind a line that is exact: a
// constraint, or a state that is read where it is written. Copies of a key that
// fall at random into S shards find the mean of S·(1 − G(1 − 1/S)) of them, with G
// the generating function of their number. What other lines stop of the same
// key changes nothing.
func exactDefended(c Cell, metric string, t effectTheory, u effectUsers) (float64, bool) {
	key, same := c.Text("key"), c.Float("same_ratio")
	bypass := c.Float("bypass_dedup_ratio") + c.Float("bypass_state_ratio")
	none := (1-bypass)*u.all(t.generating(0, t.unreached())) + bypass*u.all(t.generating(0, 0)) // P(no effect)
	if key != model.KeyAtGateway || same == 0 {
		switch metric {
		case "merged_intents_ratio":
			return 0, true
		case "lost_intents_ratio":
			return none, true
		}
	}
	shards := c.Float("shards")
	state := defends(c, defenceState) && c.Float("state_lag_s") == 0 && c.Float("bypass_state_ratio") == 0
	if state {
		shards = 1
	}
	alone := !defends(c, defenceDedup) && !defends(c, defenceState)
	if !state && !(defends(c, defenceUnique) && (shards == 1 || alone)) {
		return 0, false
	}
	if key == model.KeyAtGateway && same > 0 {
		return exactMerged(c, metric, none, shards == 1 && bypass*t.unreached() < negligible)
	}
	if metric != "duplicate_effects_ratio" {
		return 0, false
	}
	effects, ok := t.effectsOfKeys(c, u, shards)
	return effects - (1 - none), ok
}

// unreached is the probability that no delivery of a message arrives.
func (t *effectTheory) unreached() float64 { return math.Pow(t.request, float64(t.deliveries)) }

// negligible is a share of the intents that no run shows.
const negligible = 1e-6

// exactMerged is a hash of the body: of two intents with one key one is merged,
// if both come through.
func exactMerged(c Cell, metric string, none float64, ok bool) (float64, bool) {
	pairs := math.Floor(c.Float("intents") / 2)
	switch metric {
	case "duplicate_effects_ratio":
		return 0, ok
	case "merged_intents_ratio":
		return 2 * c.Float("same_ratio") * pairs / c.Float("intents") * (1 - none) * (1 - none), ok
	case "lost_intents_ratio":
		return none, ok
	}
	return 0, false
}

// effectsOfKeys is the mean number of effects of an intent: of each of its keys,
// one for each shard that a copy falls into. The copy of another writer, whose
// key is that of the first message, may fall into a new one.
func (t *effectTheory) effectsOfKeys(c Cell, u effectUsers, shards float64) (float64, bool) {
	empty := 1 - 1/shards
	hit := func(none float64) float64 { return shards * (1 - none) }
	h := t.generatingExecutions(empty)
	one, unsent := t.generating(0, h), t.generating(0, 0)
	bypass := c.Float("bypass_dedup_ratio") + c.Float("bypass_state_ratio")
	withWriter := func(g, unsent float64) float64 { return unsent + (g-unsent)*(1-bypass+bypass*empty) }
	number := hit(withWriter(u.all(one), u.all(unsent)))
	quiet := bypass*h < negligible || bypass == 0 // the writer's copy has no part
	switch c.Text("key") {
	case model.KeyAtOperation:
		if c.Text("devices") == "synced" {
			return number, true
		}
		first, unsentFirst := u.device1(one), u.device1(unsent)
		second := unsentFirst*withWriter(one, unsent) + (1-unsentFirst)*one
		return hit(withWriter(first, unsentFirst)) + u.device*hit(second), bypass == 0 || float64(t.attempts[0])*t.every[0] < deviceAfter
	case model.KeyAtSDK:
		return u.submissions() * hit(one), quiet
	case model.KeyAtServer:
		arrivals := t.calls(0) * (1 - t.request) * t.calls(1) * (1 - t.request)
		return u.submissions() * arrivals * hit(t.generating(2, h)), quiet
	case model.KeyAtGateway:
		return number, true
	}
	messages := u.submissions() * t.calls(0) * (1 - t.request) * t.calls(1) * (1 - t.request) * t.calls(2) * (1 - t.request)
	missing, writer := c.Float("missing_ratio"), bypass*(1-u.all(unsent))
	random := messages*t.executions() + writer // of a consumer: all have keys of their own
	if c.Text("key") == model.KeyAtProducer {
		random = messages*hit(h) + writer*h
	}
	return (1-missing)*number + missing*random, true
}

// exactDedup is a table that gets its keys before the work and keeps them. A
// key whose first copy crashes is burnt: nothing has an effect with it any more.
// All that other writers repeat has one.
func exactDedup(c Cell, metric string, t effectTheory, u effectUsers) (float64, bool) {
	key := c.Text("key")
	if metric == "merged_intents_ratio" && (key != model.KeyAtGateway || c.Float("same_ratio") == 0) {
		return 0, true
	}
	quiet, unsent := t.generating(0, t.unreached()), t.generating(0, 0)
	bypass := c.Float("bypass_dedup_ratio") + c.Float("bypass_state_ratio")
	if c.Text("record") != model.RecordBefore {
		if metric == "lost_intents_ratio" && (key != model.KeyAtGateway || c.Float("same_ratio") == 0) {
			return (1-bypass)*u.all(quiet) + bypass*u.all(unsent), true
		}
		return 0, false
	}
	missing := c.Float("missing_ratio")
	if c.Float("keep_s") > 0 || (key == model.KeyAtProducer || key == model.KeyAtConsumer) && missing > 0 {
		return 0, false
	}
	works := func(none float64) float64 { return (1 - none) * (1 - t.crash) }
	var mean, none float64 // number of keys with an effect: its mean, and the probability of 0
	switch {
	case key == model.KeyAtOperation && c.Text("devices") == "apart":
		first, second := works(u.device1(quiet)), u.device*works(quiet)
		mean, none = first+second, (1-first)*(1-second)
	case key == model.KeyAtSDK:
		mean, none = u.submissions()*works(quiet), u.all(1-works(quiet))
	case key == model.KeyAtServer, key == model.KeyAtGateway && c.Float("same_ratio") > 0:
		return 0, false
	default:
		mean = works(u.all(quiet))
		none = 1 - mean
	}
	switch metric {
	case "lost_intents_ratio":
		return (1-bypass)*none + bypass*u.all(unsent), true
	case "duplicate_effects_ratio":
		return mean - (1-bypass)*(1-none), c.Text("defences") == defenceDedup
	}
	return 0, false
}
