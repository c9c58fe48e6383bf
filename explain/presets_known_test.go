package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// Every breaker and budget that has a name is worked out.
func TestPresetsAreKnown(t *testing.T) {
	common := presets.Common{Window: 10 * time.Second, Calls: 20, MinCalls: 20, FailureRate: 0.5, OpenFor: 5 * time.Second, Probes: 3}
	for _, p := range presets.Breakers() {
		makers := []policies.BreakerMaker{p.Defaults()}
		if p.Set != nil {
			makers = append(makers, p.Set(common))
		}
		for _, m := range makers {
			if got := tripOf(&model.BreakerLayer{Preset: m}); got.unknown || strings.Contains(got.kind, ".") || got.throttle != p.Throttle {
				t.Errorf("%s: %+v", p.Name, got)
			}
		}
	}
	for _, p := range presets.Budgets() {
		if got := allow(&p.Config, 1); strings.Contains(got.kind, ".") || got.none != (p.Config.Kind == policies.BudgetUnlimited) {
			t.Errorf("%s: %+v", p.Name, got)
		}
	}
}
