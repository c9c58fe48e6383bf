package explain

import (
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A turn is how many calls of an instance are taken in behind a breaker if the
// callee hangs, +Inf for any number; the next ones come back at once.
type turn struct {
	most   float64
	class  policies.Class // of what comes back
	leaves float64        // seconds after which a call makes room for another, +Inf for never
}

// turn looks at the queue of the callee and the caps inside the breaker.
func (s *sight) turn() turn {
	least := turn{most: never}
	turns := func(most float64, layer int, code policies.ErrorCode, leaves float64) {
		if most = math.Floor(most); most >= least.most {
			return
		}
		least = turn{most, s.class(s.outward(layer, code)), leaves}
	}
	n := &s.c.Nodes[s.l.to]
	inner := len(s.l.layers)
	servers := float64(max(n.Replicas, 1)) / s.instances
	leaves := never
	if n.Cancel {
		leaves = s.leaves(inner)
	}
	if n.Queue.Limit.Known && n.Workers != model.Unlimited {
		turns(float64(n.Queue.Limit.Value)*servers, inner, unavailable, leaves)
	}
	if n.Shed.InFlight > 0 {
		code := n.Shed.Code
		if code == 0 {
			code = unavailable
		}
		turns(float64(n.Shed.InFlight)*servers, inner, code, leaves)
	}
	for k := s.layer + 1; k < inner; k++ {
		if m := s.l.layers[k].Limit; m != nil {
			turns(float64(m.InFlight), k, policies.ErrLimit, s.leaves(k+1))
		}
	}
	return least
}

// leaves is how long a call that hangs stays in the i-th layer and those inside.
func (s *sight) leaves(i int) float64 {
	t, _ := s.pass(s.l, i, never, true)
	return math.Min(t, s.l.deadline(i))
}

// outward is the error of which the breaker hears if one comes from inside a
// layer at once.
func (s *sight) outward(layer int, code policies.ErrorCode) policies.ErrorCode {
	for k := layer - 1; k > s.layer; k-- {
		if y := &s.l.layers[k]; y.sidecar && !s.l.layers[k-1].sidecar {
			code = answerCode(code)
		}
	}
	return code
}

// hanging is when the calls come to a callee that hangs: those that are taken in,
// and those that come back at once.
func (s *sight) hanging(saved bool) feed {
	calls, t := s.feed(never, true, saved), s.turns
	all := calls.lasting()
	first := calls.kth(t.most + 1)
	if math.IsInf(first, 1) || all == 0 {
		return calls
	}
	refused := s.feed(0, true, saved)
	for i := range refused {
		r := &refused[i]
		r.first += first
		r.finish = finish{bad: t.class == policies.Failure, lost: t.class == policies.Ignored}
		if t.leaves < never {
			r.cut = r.and(cut{math.Max(t.leaves-first, 0), math.Min(t.most/t.leaves/all, 1)})
		}
	}
	s.rough = s.rough || t.leaves < never || len(calls) > 1
	for i := range calls {
		c := &calls[i]
		mine := math.Max(t.most*c.lasting()/all/c.size, tiny)
		switch {
		case math.IsInf(t.leaves, 1):
			if c.total == 0 || mine < c.total {
				c.total = mine
			}
		case c.burst == 0 && t.leaves*c.rps > mine:
			c.burst, c.period = math.Max(mine, 1), math.Ceil(t.leaves*c.rps-tiny)/c.rps
		}
	}
	return append(calls, refused...)
}
