package model

import "github.com/stormglass/stormglass/sim"

// An effectKey is all that the lines of defence know of a key.
type effectKey struct {
	recorded sim.Time // in the table of keys
	done     sim.Time // in the state of the object
	shards   uint64   // where the constraint has it, a bit each
	owner    int32    // intent that came first with it
	owned    bool
}

func (k *effectKey) own(intent int) {
	if !k.owned {
		k.owned, k.owner = true, int32(intent)
	}
}

// An effectMessage is a message in the queue.
type effectMessage struct {
	way     uint64
	attempt uint64 // deliveries so far
	timer   sim.Timer
	key     int32
	running int32 // deliveries whose end the queue has not seen
	visible bool  // will be delivered again unless acknowledged
}

// An effectExecution is one delivery at the consumer.
type effectExecution struct {
	way     uint64
	message uint64
	key     int32
}

func (r *EffectRun) newKey() int32 {
	r.keys = append(r.keys, effectKey{recorded: notYet, done: notYet})
	return int32(len(r.keys) - 1)
}

// keyIn returns the key kept in a place, which it makes if there is none.
func (r *EffectRun) keyIn(place *int32) int32 {
	if *place == noKey {
		*place = r.newKey()
	}
	return *place
}

func (r *EffectRun) bodyKey(intent int) int32 { return r.keyIn(&r.intents[intent].body) }

// store puts a message into the queue.
func (r *EffectRun) store(e *sim.Engine, w uint64, key int32) {
	in := &r.intents[wayIntent(w)]
	if r.config.KeyAt == KeyAtProducer {
		if in.missing {
			key = r.newKey()
		} else {
			key = r.keyIn(&in.number)
		}
	}
	in.stored[waySubmission(w)] = true
	if !in.sent {
		in.sent, in.message = true, key
	}
	in.open++
	r.ledger.Messages++
	r.deliver(e, r.messages.put(effectMessage{way: w, key: key}))
}

// consumerKey is the key that a consumer knows an execution by.
func (r *EffectRun) consumerKey(in *effectIntent, key int32) int32 {
	switch {
	case r.config.KeyAt != KeyAtConsumer:
		return key
	case in.missing:
		return r.newKey()
	}
	return r.keyIn(&in.number)
}

// deliver sends a message to the consumer, and again after a while unless it
// is acknowledged.
func (r *EffectRun) deliver(e *sim.Engine, place uint64) {
	m := &r.messages.values[place]
	m.attempt++
	r.ledger.Deliveries++
	if m.visible = m.attempt < uint64(r.config.Deliveries); m.visible {
		m.timer = r.again.After(r, sim.Event{Kind: effectsRedeliver, Arg: place})
	}
	w := m.way | wayStep(atQueue, m.attempt)
	if r.config.RequestLoss > 0 && r.requests.Float64(w, 0) < r.config.RequestLoss {
		r.ledger.DeliveriesLost++
		r.end(place)
		return
	}
	m.running++
	run := effectExecution{way: w, message: place, key: r.consumerKey(&r.intents[wayIntent(w)], m.key)}
	e.After(r.config.Leg, r, sim.Event{Kind: effectsConsume, Arg: r.runs.put(run)})
}

// end drops a message that nothing will come of any more.
func (r *EffectRun) end(place uint64) {
	if m := &r.messages.values[place]; m.running == 0 && !m.visible {
		r.intents[wayIntent(m.way)].open--
		r.messages.take(place)
	}
}

// consume looks a delivery up in the table of keys and begins its work.
func (r *EffectRun) consume(e *sim.Engine, place uint64) {
	c, run := &r.config, r.runs.values[place]
	if c.Dedup {
		key := &r.keys[run.key]
		if now := e.Now(); key.recorded <= now && (c.Keep == 0 || now < key.recorded.Add(c.Keep)) {
			r.ledger.StoppedDedup++
			r.stopped(run)
			r.finish(e, place)
			return
		}
		if c.Record == RecordBefore {
			r.record(e, run)
			if r.crashed(run.way) {
				r.ledger.CrashedBefore++
				r.drop(place)
				return
			}
		}
	}
	e.After(r.sampler.draw(&r.service, run.way, 0), r, sim.Event{Kind: effectsWrite, Arg: place})
}

func (r *EffectRun) crashed(w uint64) bool {
	if r.config.Crash == 0 || r.crashes.Float64(w, 0) >= r.config.Crash {
		return false
	}
	r.ledger.Crashes++
	return true
}

// record writes an execution's key into the table of keys.
func (r *EffectRun) record(e *sim.Engine, run effectExecution) {
	key := &r.keys[run.key]
	key.recorded = e.Now()
	key.own(wayIntent(run.way))
}

// write does the effect of an execution, unless the state or the constraint
// stops it.
func (r *EffectRun) write(e *sim.Engine, place uint64) {
	c, run := &r.config, r.runs.values[place]
	did := r.apply(e, run, c.State, true)
	recorded := c.Dedup && c.Record != RecordBefore
	if did && recorded && c.Record == RecordWithin {
		r.record(e, run)
		recorded = false
	}
	if !(c.Dedup && c.Record == RecordBefore) && r.crashed(run.way) {
		r.drop(place)
		return
	}
	if recorded {
		r.record(e, run)
	}
	r.finish(e, place)
}

// apply lets an effect at the store, past the lines that look at it, and
// reports whether it was done. An effect that is not shown leaves the state of
// the object as it was.
func (r *EffectRun) apply(e *sim.Engine, run effectExecution, state, shown bool) bool {
	c, key, now := &r.config, &r.keys[run.key], e.Now()
	shard := uint64(1)
	if c.Unique && c.Shards > 1 {
		shard <<= min(c.Shards-1, int(r.shards.Float64(run.way, 0)*float64(c.Shards)))
	}
	switch {
	case state && key.done.Add(c.StateLag) <= now:
		r.ledger.StoppedState++
	case c.Unique && key.shards&shard != 0:
		r.ledger.StoppedUnique++
	default:
		key.own(wayIntent(run.way))
		key.shards |= shard
		if shown {
			key.done = min(key.done, now)
		}
		r.effect(now, run.way)
		return true
	}
	r.stopped(run)
	return false
}

// stopped notes that an execution came to nothing, and if that was another
// intent's doing.
func (r *EffectRun) stopped(run effectExecution) {
	intent := wayIntent(run.way)
	if int(r.keys[run.key].owner) != intent {
		r.intents[intent].taken = true
	}
}

// effect counts an effect of the intent of a way.
func (r *EffectRun) effect(now sim.Time, w uint64) {
	in := &r.intents[wayIntent(w)]
	r.ledger.Effects++
	if in.effects++; in.effects == 1 {
		in.first = w
	} else {
		r.ledger.DuplicatesBy[causeOf(in.first, w)]++
	}
	if s := waySubmission(w); s != byWriter {
		in.done[s] = min(in.done[s], now)
	}
}

// causeOf says where the ways of two effects of an intent part.
func causeOf(first, second uint64) Cause {
	a, b := waySubmission(first), waySubmission(second)
	switch differ := first ^ second; {
	case a == byWriter || b == byWriter:
		return CauseBypass
	case a != b && (a == byDevice || b == byDevice):
		return CauseDevice
	case a != b:
		return CauseClick
	case differ>>12 != 0:
		return CauseClient
	case differ>>8 != 0:
		return CauseGateway
	case differ>>4 != 0:
		return CauseServer
	}
	return CauseRedelivery
}

// finish ends an execution and acknowledges its delivery.
func (r *EffectRun) finish(e *sim.Engine, place uint64) {
	run := r.runs.values[place]
	if r.config.AnswerLoss > 0 && r.answers.Float64(run.way, 0) < r.config.AnswerLoss {
		r.drop(place)
		return
	}
	r.runs.take(place)
	e.After(r.config.Leg, r, sim.Event{Kind: effectsAck, Arg: run.message})
}

// drop ends an execution of which the queue does not hear.
func (r *EffectRun) drop(place uint64) {
	run := r.runs.take(place)
	r.messages.values[run.message].running--
	r.end(run.message)
}

// acknowledged takes a message out of the queue.
func (r *EffectRun) acknowledged(e *sim.Engine, place uint64) {
	m := &r.messages.values[place]
	m.running--
	if m.visible {
		e.Cancel(m.timer)
		m.visible = false
	}
	r.end(place)
}

// bypass repeats the first message of an intent as another writer, past the
// table of keys and perhaps past the state. Without a message it has nothing
// to repeat.
func (r *EffectRun) bypass(e *sim.Engine, w uint64, pastState bool) {
	in := &r.intents[wayIntent(w)]
	in.open--
	if !in.sent {
		return
	}
	r.ledger.Bypasses++
	run := effectExecution{way: w, key: r.consumerKey(in, in.message)}
	r.apply(e, run, r.config.State && !pastState, !pastState)
}
