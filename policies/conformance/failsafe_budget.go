package conformance

import "github.com/stormglass/stormglass/policies/presets"

func replayFailsafeBudget(p *replay) {
	var c struct {
		Rate float64 `json:"max_rate"`
		Min  int     `json:"min_concurrency"`
	}
	p.config(&c)
	b, err := presets.NewFailsafeBudget(presets.FailsafeBudgetConfig{MaxRate: c.Rate, MinConcurrency: c.Min})
	p.must(err)
	retries := make(map[string]int) // that run, by the call
	for p.next() {
		id := p.text("id")
		op := p.text("op")
		switch op {
		case "exec_start":
			b.Request()
		case "exec_end":
			b.Done(false, true)
		case "retry_acquire":
			ok := b.TrySend()
			p.expect("x_permitted", ok)
			if ok {
				retries[id]++
			}
		case "retry_end":
			if retries[id] == 0 {
				p.mismatch("end of a retry of call %s, which was refused here", id)
				break
			}
			retries[id]--
			b.TryRetry(true)
		default:
			p.fail("op %q is unknown", op)
		}
		if op != "retry_acquire" {
			p.absent("x_permitted")
		}
		p.expect("x_rate", b.Rate())
	}
}
