package conformance

import "github.com/stormglass/stormglass/policies/presets"

var finagle = library{
	versions: []string{"finagle 4feb34cb949918c572a6152327212e062527bd62, util 17c8187d948846756fabcdbb2ff6838b3665968b"},
	kinds:    map[string]replayer{"budget": replayFinagle},
}

func replayFinagle(p *replay) {
	var c struct {
		TTL     int64   `json:"ttl_ns"`
		Min     int     `json:"min_retries_per_sec"`
		Percent float64 `json:"percent_can_retry"`
	}
	p.config(&c)
	b, err := presets.NewFinagle(presets.FinagleConfig{TTL: ns(c.TTL), MinRetriesPerSec: c.Min, PercentCanRetry: c.Percent}, p.clock)
	p.must(err)
	p.account(b)
}

// account replays a budget in which something is paid in and drawn.
func (p *replay) account(b interface {
	Deposit()
	Withdraw() bool
	Balance() int64
}) {
	for p.next() {
		switch op := p.text("op"); op {
		case "deposit":
			b.Deposit()
			p.absent("x_ok")
		case "withdraw":
			p.expect("x_ok", b.Withdraw())
		case "balance":
			p.absent("x_ok")
		default:
			p.fail("op %q is unknown", op)
		}
		p.expect("x_balance", b.Balance())
	}
}

// absent fails if there is an answer to what was not asked.
func (p *replay) absent(columns ...string) {
	for _, column := range columns {
		if text := p.text(column); text != "" {
			p.fail("column %s: %q, want nothing in this row", column, text)
		}
		p.seen[column] = true
	}
}
