package conformance

import "github.com/stormglass/stormglass/policies/presets"

var tower = library{
	versions: []string{"8358ee712c4050650737e361fba242aa8c798ce2 (tower-0.5.3-5)"},
	kinds:    map[string]replayer{"budget": replayTower},
}

func replayTower(p *replay) {
	var c struct {
		TTL     int64   `json:"ttl_ns"`
		Min     int     `json:"min_retries_per_sec"`
		Percent float32 `json:"percent_can_retry"`
	}
	p.config(&c)
	b, err := presets.NewTower(presets.TowerConfig{TTL: ns(c.TTL), MinRetriesPerSec: c.Min, PercentCanRetry: c.Percent}, p.clock)
	p.must(err)
	p.account(b)
}
