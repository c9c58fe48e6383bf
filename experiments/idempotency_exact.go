package experiments

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// An effectTheory knows what the chain of idempotency does with one
// submission. A caller makes attempts, at times that do not depend on luck,
// until one is answered. Let every message held by the queue multiply the
// probability of a way by h: then the sums over all ways are generating
// functions of the number of messages, at h; and with h the probability that
// nothing is seen of a message after some time, they are the probability that
// nothing is seen of any.
type effectTheory struct {
	request, answer, crash float64    // loss
	attempts               [3]int     // of client, gateway, server
	every                  [3]float64 // from an attempt to the next, s
	deliveries             int
	leg, visibility        float64 // s
	service                float64 // mean, s
	constant               bool
}

func effectTheoryOf(c Cell) effectTheory {
	m := effectsOf(c)
	client, gateway, server := m.Timeouts()
	t := effectTheory{
		request: m.RequestLoss, answer: m.AnswerLoss, crash: m.Crash,
		attempts:   [3]int{m.ClientAttempts, m.GatewayAttempts, m.ServerAttempts},
		deliveries: m.Deliveries, leg: m.Leg.Seconds(), visibility: m.Visibility.Seconds(),
		service: m.Service.Mean.Seconds(), constant: m.Service.Kind == model.Constant,
	}
	t.every = [3]float64{(client + m.Backoff).Seconds(), (gateway + m.Backoff).Seconds(), (server + m.Backoff).Seconds()}
	return t
}

// attempt is one attempt of a level: the probabilities that it is answered and
// that it is not, with h of what its messages are tau after its beginning.
func (t *effectTheory) attempt(level int, h func(tau float64) float64, tau float64) (answered, failed float64) {
	inner, innerFailed := 0.0, 0.0
	if level == len(t.attempts)-1 {
		inner = h(tau - t.leg)
	} else {
		inner, innerFailed = t.level(level+1, h, tau-t.leg)
	}
	reach := 1 - t.request
	return reach * (1 - t.answer) * inner, t.request + reach*(innerFailed+t.answer*inner)
}

// level is all attempts of a level.
func (t *effectTheory) level(level int, h func(tau float64) float64, tau float64) (answered, failed float64) {
	failed = 1
	for k := range t.attempts[level] {
		a, f := t.attempt(level, h, tau-float64(k)*t.every[level])
		answered += failed * a
		failed *= f
	}
	return answered, failed
}

func always(h float64) func(float64) float64 { return func(float64) float64 { return h } }

// generating is the generating function of the messages of a level's call.
func (t *effectTheory) generating(level int, h float64) float64 {
	a, f := t.level(level, always(h), 0)
	return a + f
}

// calls is the mean number of attempts of a level's call.
func (t *effectTheory) calls(level int) float64 {
	_, fails := t.attempt(level, always(1), 0)
	return powerSum(fails, t.attempts[level])
}

// powerSum is 1 + x + … + x^(n-1).
func powerSum(x float64, n int) float64 {
	sum := 0.0
	for range n {
		sum = 1 + x*sum
	}
	return sum
}

// executions is the mean number of executions of a message.
func (t *effectTheory) executions() float64 {
	ends := (1 - t.crash) * (1 - t.answer)
	return (1 - t.request) * powerSum(1-(1-t.request)*ends, t.deliveries)
}

// generatingExecutions is the generating function of that number.
func (t *effectTheory) generatingExecutions(z float64) float64 {
	ends := (1 - t.crash) * (1 - t.answer)
	failed := t.request + (1-t.request)*(1-ends)*z
	return (1-t.request)*ends*z*powerSum(failed, t.deliveries) + math.Pow(failed, float64(t.deliveries))
}

// unseen is the probability that nothing is seen of a message for tau after
// the queue got it.
func (t *effectTheory) unseen(tau float64) float64 {
	p, lost := 0.0, 1.0
	for k := range t.deliveries {
		left := tau - float64(k)*t.visibility - t.leg
		switch {
		case left < 0, t.constant && left < t.service:
			p += lost * (1 - t.request)
		case !t.constant:
			p += lost * (1 - t.request) * math.Exp(-left/t.service)
		}
		lost *= t.request
	}
	return p + lost
}

// patient reports whether no message is delivered again while it is worked
// on, which the sums take for granted.
func (t *effectTheory) patient() bool {
	spare := t.visibility - 2*t.leg
	return t.deliveries == 1 || t.constant && spare > t.service || !t.constant && spare > 25*t.service
}

// asked is the mean number of attempts of a client that asks before each
// repetition for what it has done, which it sees after lag: it goes on as long
// as it was not answered and sees nothing of any attempt.
func (t *effectTheory) asked(seen func(tau float64) float64, lag float64) float64 {
	attempts := 1.0
	for k := 1; k < t.attempts[0]; k++ {
		p := 1.0
		for j := 1; j <= k; j++ {
			_, failed := t.attempt(0, seen, float64(j)*t.every[0]-lag)
			p *= failed
		}
		attempts += p
	}
	return attempts
}

// exactIdempotency knows the duplicates without any defence, whatever clients
// ask; those behind a line that nothing with the same key passes, for each
// place of the key; and the intents merged and lost there.
func exactIdempotency(c Cell, metric string, _ int) (float64, bool) {
	t := effectTheoryOf(c)
	if !t.patient() {
		return 0, false
	}
	bypass := c.Float("bypass_dedup_ratio") + c.Float("bypass_state_ratio")
	users := effectUsers{click: c.Float("click_ratio"), device: c.Float("device_ratio")}
	if last := deviceAfter + float64(t.attempts[0])*t.every[0]; bypass > 0 && last >= bypassAfter {
		return 0, false
	}
	noEffect := t.unreached() // of a message
	if c.Text("defences") != defenceNone {
		if c.Text("query") != model.QueryNone {
			return 0, false
		}
		if metric == "blind_repeats_ratio" {
			return users.submissions() * (t.calls(0) - t.asked(always(0), 0)), true
		}
		if defends(c, defenceDedup) && c.Text("record") == model.RecordBefore && t.crash > 0 || c.Text("defences") == defenceDedup {
			return exactDedup(c, metric, t, users)
		}
		return exactDefended(c, metric, t, users)
	}
	attempts, nothing := t.calls(0), t.generating(0, noEffect)
	noMessage := t.generating(0, 0)
	switch c.Text("query") {
	case model.QueryReplica:
		attempts = t.asked(t.unseen, c.Float("lag_s"))
	case model.QueryPrimary:
		attempts = t.asked(t.unseen, 0)
	case model.QueryAccepted:
		attempts = t.asked(always(0), 0)
		a, f := t.attempt(0, always(noEffect), 0)
		_, unsent := t.attempt(0, always(0), 0)
		nothing = (a+f-unsent)*powerSum(unsent, t.attempts[0]) + math.Pow(unsent, float64(t.attempts[0]))
	}
	messages := (1 - t.request) * t.calls(1) * (1 - t.request) * t.calls(2) * (1 - t.request) // of a client's attempt
	without := (1-bypass)*users.all(nothing) + bypass*users.all(noMessage)
	switch metric {
	case "duplicate_effects_ratio":
		effects := users.submissions()*attempts*messages*t.executions() + bypass*(1-users.all(noMessage))
		return effects - (1 - without), true
	case "merged_intents_ratio":
		return 0, true
	case "lost_intents_ratio":
		return without, true
	case "blind_repeats_ratio": // all but those of which nothing had arrived
		return users.submissions() * (attempts - t.asked(always(0), 0)), true
	}
	return 0, false
}
