package conformance

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

var aegis = library{
	versions: []string{"v0.2.0"},
	kinds:    map[string]replayer{"throttler": replayAegis},
}

func replayAegis(p *replay) {
	var c struct {
		Success      float64
		K            float64
		Request      int
		Window       int64 `json:"window_ns"`
		Buckets      int
		MarkRejected bool `json:"mark_rejected"`
	}
	p.config(&c)
	if c.K != 0 && c.K != 1/c.Success {
		p.fail("config: k %v, want 1/success, which is %v", c.K, 1/c.Success)
	}
	var next draw
	b, err := presets.NewAegis(presets.AegisConfig{
		Success: c.Success, Request: c.Request, Window: ns(c.Window), Buckets: c.Buckets, MarkRejected: c.MarkRejected,
	}, policies.Host{Clock: p.clock, Classify: classify, Uniform: &next})
	p.must(err)
	under := make(calls)
	refused := "" // the call of the row before, if it was refused
	for p.next() {
		before := refused
		refused = ""
		// A refused call is marked by Allow, but the recording has a row of its
		// own for that. So what stands in the row of the question is from
		// before it.
		accepts, total := b.Counts()
		switch op := p.text("op"); op {
		case "acquire":
			if probability, drawn := b.DropProbability(); drawn {
				p.expect("x_drop_p", probability)
			} else {
				p.expect("x_drop_p", "")
			}
			next = draw{u: p.float("u")}
			if !p.acquire(b, under) {
				refused = p.text("id")
			}
			p.expect("x_draw_used", next.used)
		case "mark_rejected":
			if !c.MarkRejected || p.text("id") != before {
				p.mismatch("call %s marked as rejected, which was not", p.text("id"))
			}
		case "result":
			p.end(b, under)
			accepts, total = b.Counts()
		case "probe":
		default:
			p.fail("op %q is unknown", op)
		}
		p.expect("x_accepts", accepts)
		p.expect("x_total", total)
	}
}
