package conformance

import "github.com/stormglass/stormglass/policies/presets"

func replayClientGoLimiter(p *replay) {
	var c struct {
		Burst int
		Rate  float64 `json:"rate_per_s"`
	}
	p.config(&c)
	b, err := presets.NewClientGoBucket(presets.ClientGoBucketConfig{Rate: c.Rate, Burst: c.Burst}, p.clock)
	p.must(err)
	for p.next() {
		p.expect("x_delay_ns", b.When())
	}
}
