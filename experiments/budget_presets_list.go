package experiments

import (
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// The bounds that every budget is compared with.
const (
	budgetUnlimited = "unlimited" // grants every retry
	budgetNone      = "none"      // grants none
)

// namedBudgets lists the budgets that are compared: the two bounds, and all
// presets.
func namedBudgets() []presets.BudgetPreset {
	return append([]presets.BudgetPreset{
		{Name: budgetUnlimited, Doc: "no budget: the attempts bound the retries", Config: policies.BudgetConfig{Kind: policies.BudgetUnlimited}},
		{Name: budgetNone, Doc: "no retry", Config: policies.BudgetConfig{Kind: policies.BudgetEmpty}},
	}, presets.Budgets()...)
}

// budgetNames returns their names.
func budgetNames() []string {
	var names []string
	for _, b := range namedBudgets() {
		names = append(names, b.Name)
	}
	return names
}

// budget returns the budget of a cell; the factor has checked its name.
func (c Cell) budget() (found presets.BudgetPreset) {
	for _, b := range namedBudgets() {
		if b.Name == c.Text("budget") {
			found = b
		}
	}
	return found
}
