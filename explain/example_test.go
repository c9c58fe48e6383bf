package explain_test

import (
	"fmt"
	"os"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

func ExampleExplain() {
	budget := policies.BudgetConfig{Kind: policies.BudgetPreset, Preset: presets.FinagleDefaults()}
	e := explain.Explain(model.Config{
		Horizon: time.Minute,
		Nodes:   []model.Node{{Name: "db", Workers: 1, Service: model.Law{Mean: 100 * time.Millisecond}}},
		Clients: []model.Client{{
			Name: "web", Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: 5},
			Steps: []model.Step{{Calls: []model.Call{{To: "db", Stack: model.Stack{
				{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 3}, Budget: &budget}},
				{Timeout: time.Second},
			}}}}},
		}},
	})
	for _, f := range e.Findings {
		fmt.Fprintf(os.Stdout, "%v: %s\n  %s\n", f.Severity, f.Text, f.Numbers)
	}
	// Output:
	// problem: the node can stay down after the trigger is gone: the load with all retries is above its capacity
	//   5/s × 3 attempts = 15/s > 10/s; up to 2 attempts would fit
	// warning: the finagle budget never refuses a retry at 5/s: it begins to above 5.556/s
	//   2 λ > 10 + 0.2 λ, that is λ > 5.556/s
	// warning: retries without a back-off: those of calls that failed together come together
}
