package experiments

import (
	"math"

	"github.com/stormglass/stormglass/model"
)

// A deliveryFate is what may happen to one delivery, each by its probability.
type deliveryFate struct {
	effect      float64 // the work is done
	interrupted float64 // the consumer leaves in the middle: delivered again
	rebalance   float64 // it leaves between work and commit: delivered again
	visibility  float64 // the timeout passes before the commit: delivered again
	ack         float64 // the acknowledgement comes in time and is lost: delivered again
}

// again is the probability that there is another delivery.
func (f deliveryFate) again() float64 { return f.interrupted + f.rebalance + f.visibility + f.ack }

// fateOf is exact but for the sum over the law of the processing time T. A
// commit comes a time U after the work, uniform below commit_every_s, since
// commits do not know of the work and another consumer commits at other
// instants; a consumer leaves after a time X,
// exponential. Of a visibility timeout V, delivered again are X < min(T+U, V),
// otherwise T+U ≥ V, otherwise what a lost acknowledgement hid.
func fateOf(c Cell) deliveryFate {
	const steps = 1 << 13
	law := deliveryLaw(c)
	nu := c.Float("leaves_per_hour") / 3600 / c.Float("consumers")
	commit, v, loss := c.Float("commit_every_s"), c.Float("visibility_s"), c.Float("consumer_ack_loss_ratio")
	if v == 0 {
		v = math.Inf(1)
	}
	var f deliveryFate
	for i := range steps {
		t := law.Quantile((float64(i) + 0.5) / steps).Seconds()
		inTime, late := 0.0, 0.0 // nobody left, and T+U < V or not
		switch {
		case t >= v:
			late = math.Exp(-nu * v)
		case commit == 0:
			inTime = math.Exp(-nu * t)
		default:
			u := math.Min(commit, v-t)
			inTime = u / commit * math.Exp(-nu*t)
			if nu > 0 {
				inTime = (math.Exp(-nu*t) - math.Exp(-nu*(t+u))) / (nu * commit)
			}
			if u < commit {
				late = (commit - u) / commit * math.Exp(-nu*v)
			}
		}
		f.effect += math.Exp(-nu*t) / steps
		interrupted := -math.Expm1(-nu * math.Min(t, v))
		f.interrupted += interrupted / steps
		f.rebalance += math.Max(0, 1-inTime-late-interrupted) / steps
		f.visibility += late / steps
		f.ack += loss * inTime / steps
	}
	return f
}

// exactDelivery knows a delivery whose dependency fails for good or not at all,
// and of an outage what is lost and what dies. A copy is delivered until one
// delivery comes through; copies of an intent are 1 ÷ (1 − ack loss).
func exactDelivery(c Cell, metric string, _ int) (float64, bool) {
	once := c.Text("guarantee") == model.AtMostOnce
	if metric == "lost_ratio" && !once {
		return 0, true
	}
	if name := "duplicate_ratio"; metric == name && (once || c.Text("dedup") == model.DedupKey) {
		return 0, true
	}
	f, permanent, transient := fateOf(c), c.Float("permanent_ratio"), c.Float("transient_ratio")
	if once {
		return exactAtMostOnce(c, metric, f)
	}
	if c.Float("commit_every_s") > 0 && (c.Float("consumers") < 10 || c.Text("processing_law") == model.Constant && f.visibility > 0) {
		return 0, false // a message that comes again is in step with the commits
	}
	if transient > 0 || c.Float("max_deliveries") > 0 || c.Text("retry_permanent") == "on" || !deliveryEnds(c, f) {
		return 0, false
	}
	owned, repair := c.Float("owner_every_s") > 0, c.Float("repair_ratio")
	unsettled, compensated := permanent, 0.0
	if owned {
		unsettled, compensated = 0, permanent*(1-repair)
	}
	effected := 1 - unsettled - compensated
	copies := 1 / (1 - c.Float("ack_loss_ratio"))
	byCause := func(p float64) float64 {
		if c.Text("dedup") != model.NoDedup {
			return 0
		}
		return effected * copies * p / (1 - f.again()) * f.effect / (1 - f.interrupted)
	}
	if c.Float("outage_s") > 0 && !owned {
		if c.Text("outage_answer") != answerAtOnce {
			return 0, false
		}
		unsettled += (1 - permanent) * diesInOutage(c)
		effected = 1 - unsettled
	}
	switch metric {
	case "effected_ratio":
		return effected, true
	case "dead_ratio":
		return unsettled, true
	case "compensated_ratio":
		return compensated, true
	case "queued_ratio":
		return 0, true
	}
	if c.Float("outage_s") > 0 {
		return 0, false
	}
	switch metric {
	case "duplicate_unknown_ratio":
		return 0, true
	case "duplicate_ratio":
		publish, _ := exactDelivery(c, "duplicate_publish_ratio", 0)
		return publish + byCause(f.visibility+f.ack+f.rebalance), true
	case "duplicate_publish_ratio":
		if c.Text("dedup") == model.DedupKey {
			return 0, true
		}
		return effected * (copies - 1), true
	case "duplicate_visibility_ratio":
		return byCause(f.visibility), true
	case "duplicate_ack_ratio":
		return byCause(f.ack), true
	case "duplicate_rebalance_ratio":
		return byCause(f.rebalance), true
	}
	return 0, false
}

// exactAtMostOnce multiplies what every step lets through. An attempt begins
// with the message if consumers are idle.
func exactAtMostOnce(c Cell, metric string, f deliveryFate) (float64, bool) {
	known := 1 - c.Float("unknown_ratio")
	effected := (1 - c.Float("request_loss_ratio")) * f.effect * (1 - c.Float("permanent_ratio")) * (1 - c.Float("transient_ratio")*known)
	if c.Float("outage_s") > 0 {
		if c.Float("rate_rps")*c.Float("processing_s") > 0.7*c.Float("consumers") || c.Float("consumers") < 20 || c.Float("transient_ratio") > 0 {
			return 0, false
		}
		effected *= 1 - outageShare(c, 0)*known
	}
	switch metric {
	case "lost_ratio":
		return 1 - effected, true
	case "effected_ratio", "exactly_once_ratio":
		return effected, true
	}
	return 0, false
}

// outageShare is the share of the intents that come in the outage, but for
// its last seconds.
func outageShare(c Cell, last float64) float64 {
	from := math.Min(c.Float("outage_at_s"), c.Float("publish_s"))
	to := math.Min(c.Float("outage_at_s")+c.Float("outage_s")-last, c.Float("publish_s"))
	return math.Max(0, to-from) / c.Float("publish_s")
}

// diesInOutage is the share of the intents whose attempts all fall into an
// outage that answers at once, and none of which had its effect all the same:
// with j copies none of j times as many attempts had.
func diesInOutage(c Cell) float64 {
	delays := c.Float("delays")
	without := math.Pow(1-c.Float("unknown_ratio"), c.Float("attempts")*(1+delays))
	loss := c.Float("ack_loss_ratio")
	return outageShare(c, c.Float("delay_s")*(math.Pow(2, delays)-1)) * (1 - loss) * without / (1 - loss*without)
}

// deliveryEnds reports whether all is settled long before the end of the run:
// the acknowledgement can come, the consumers keep up, and rounds are short
// against the time that is left.
func deliveryEnds(c Cell, f deliveryFate) bool {
	copies := 1 / (1 - c.Float("ack_loss_ratio"))
	load := c.Float("rate_rps") * copies / (1 - f.again()) * c.Float("processing_s") / c.Float("consumers")
	round := c.Float("processing_s") + c.Float("commit_every_s") + c.Float("ack_timeout_s") + c.Float("rejoin_s")
	if loss := c.Float("consumer_ack_loss_ratio"); loss > 0 || f.visibility > 0 {
		round += c.Float("visibility_s")
	}
	idle := c.Float("horizon_s") - c.Float("publish_s")
	if outage := c.Float("outage_s"); outage > 0 {
		// What the outage left over is worked off by the capacity to spare.
		behind := outage
		if c.Text("outage_answer") != answerAtOnce {
			behind *= c.Float("attempts") * (1 + c.Float("delays"))
		}
		over := c.Float("outage_at_s") + outage + behind*load/(1-math.Min(load, 0.9)) + c.Float("delay_s")*math.Pow(2, c.Float("delays"))
		idle = math.Min(idle, c.Float("horizon_s")-over)
	}
	return c.Float("ack_ms")/1e3 < c.Float("ack_timeout_s") && load < 0.9 && f.again() < 0.5 && c.Float("ack_loss_ratio") < 0.5 &&
		idle > 40*round+2*c.Float("owner_every_s")
}
