package experiments

import (
	"slices"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// presetLayer is a published retry policy as given, as a layer of a stack. Its
// guard asks a breaker only if one stands inside the layer.
func presetLayer(p policies.RetryPreset, breaker bool) *model.RetryLayer {
	l := &model.RetryLayer{RetryConfig: p.Retry, Budget: &p.Budget, Guard: p.Guard}
	if p.Guard != nil && !breaker {
		l.Guard = &policies.GuardConfig{Order: slices.DeleteFunc(slices.Clone(p.Guard.Order),
			func(s policies.GuardStep) bool { return s == policies.GuardBreaker })}
	}
	return l
}

// presetNames lists the presets of retry policies.
func presetNames() []string {
	var names []string
	for _, p := range policies.RetryPresets() {
		names = append(names, p.Name)
	}
	return names
}
