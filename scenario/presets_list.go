package scenario

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
)

// A PresetDoc describes the parameters of a preset.
type PresetDoc struct {
	Of     string // breaker, budget or backoff
	Name   string
	Params []document.Param // with the defaults
}

// Presets lists the breakers, budgets and back-offs that a scenario can name.
func Presets() []PresetDoc {
	var all []PresetDoc
	for _, p := range presets.Breakers() {
		all = append(all, PresetDoc{"breaker", p.Name, paramReader.Params(p.Defaults())})
	}
	for _, p := range presets.Budgets() {
		all = append(all, PresetDoc{"budget", p.Name, paramReader.Params(configOfBudget(p.Config))})
	}
	for _, p := range presets.Backoffs() {
		all = append(all, PresetDoc{"backoff", p.Name, paramReader.Params(p.Config)})
	}
	return all
}

// configOfBudget is what has the parameters of a budget: the preset, if it is
// made by one.
func configOfBudget(c policies.BudgetConfig) any {
	if c.Preset != nil {
		return c.Preset
	}
	return c
}
