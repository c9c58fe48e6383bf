package explain_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// everything is a valid system that has a bit of each thing.
func everything() *model.Config {
	r := retry(3, presets.EnvoyRetryBudget())
	r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: 10 * ms}
	c := chain(3, model.Stack{timeout(time.Second), r, breaker(within(10*time.Second, 20, 0.5)), timeout(200 * ms)},
		model.Stack{{Limit: &model.LimitLayer{InFlight: 10}}, retry(2, policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: 0.1, Cap: 10}})})
	n := &c.Nodes[1]
	n.Workers, n.Replicas, n.Service = 2, 3, model.Law{Kind: model.Exponential, Mean: ms}
	n.Queue.Limit, n.Shed = model.Known(10), model.Shed{InFlight: 5, RateRPS: 100}
	n.Faults = []model.Fault{{Kind: model.FaultError, Ratio: 0.5}, {Kind: model.FaultSlow, Factor: 3}}
	n.Script = []model.Scripted{{Times: 2, Service: ms}}
	c.Clients = append(c.Clients, model.Client{Name: "loop", Loop: model.ClosedLoop{Clients: 3}, Instances: 2,
		Steps: []model.Step{{Calls: []model.Call{{To: "c", UnsafeRatio: 0.5, Times: 2}, {To: "b"}}, Need: 1}}})
	return &c
}

// Whatever is changed in a system, and whatever library its policies are of,
// there is an explanation of it, with numbers.
func TestAnySystemIsExplained(t *testing.T) {
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		c := everything()
		for i := range c.Nodes {
			for _, s := range c.Nodes[i].Steps {
				choosePolicies(t, s.Calls[0].Stack)
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			mutate(t, reflect.ValueOf(c).Elem())
		}
		e := explain.Explain(*c)
		if c.Validate() == nil {
			valid++
			if len(e.Waits) == 0 || len(e.Attempts) == 0 {
				t.Fatalf("nothing of %+v", c)
			}
		} else if len(e.Findings) == 0 {
			t.Fatalf("no problem of what is not valid: %v", c.Validate())
		} else {
			return
		}
		var b strings.Builder
		if err := e.WriteText(&b); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "-Inf") || strings.Contains(b.String(), "%!") {
			t.Fatalf("%v\n%s", err, b.String())
		}
		for _, a := range e.Attempts {
			if !(a.Meant > 0) || !(a.Worst >= a.Meant) || !(a.Bounded >= a.Meant*(1-1e-9)) || !(a.Bounded <= a.Worst) {
				t.Fatalf("%+v", a)
			}
		}
		for _, w := range e.Breakers {
			if !(w.Fresh >= 0 && w.Healthy >= 0 && w.Latest >= 0 && w.FreshHanging >= 0 && w.SlowEarliest >= 0 && w.Hanging >= w.First*(1-1e-9)) {
				t.Fatalf("%+v", w)
			}
		}
		for _, w := range e.Waits {
			if !(w.Modelled >= 0 && w.Hanging >= 0) {
				t.Fatalf("%+v", w)
			}
		}
	})
	if valid == 0 {
		t.Error("no system was valid")
	}
}

// choosePolicies gives the layers of a stack the policies of libraries.
func choosePolicies(t *rapid.T, stack model.Stack) {
	for i := range stack {
		switch {
		case stack[i].Breaker != nil:
			p := rapid.SampledFrom(presets.Breakers()).Draw(t, "breaker")
			stack[i].Breaker = &model.BreakerLayer{Preset: p.Defaults()}
		case stack[i].Retry != nil:
			r := *stack[i].Retry
			b := rapid.SampledFrom(presets.Budgets()).Draw(t, "budget").Config
			r.Budget = &b
			stack[i].Retry = &r
		}
	}
}

// mutate changes one value somewhere below v.
func mutate(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		mutate(t, v.Field(rapid.IntRange(0, v.NumField()-1).Draw(t, v.Type().Name())))
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len()+1)
		reflect.Copy(fresh, v)
		if v.Len() == 0 || rapid.IntRange(0, 9).Draw(t, "append") == 0 {
			fresh = reflect.Append(fresh, reflect.Zero(v.Type().Elem()))
		}
		v.Set(fresh)
		mutate(t, v.Index(rapid.IntRange(0, v.Len()-1).Draw(t, "at")))
	case reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			fresh.Elem().Set(v.Elem())
		}
		v.Set(fresh)
		mutate(t, v.Elem())
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.SampledFrom([]int64{-1, 0, 1, 2, 7, 1000, 1e6, 1e9, math.MaxInt64}), rapid.Int64Range(1, 1e12)).Draw(t, "int"))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), -1, 0, 1e-9, 0.5, 1, 1.5, 1e3, 1e9}).Draw(t, "float"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "b", "c", "web", "x", model.LIFO, model.Constant, model.Exponential, model.Poisson, model.Ramp,
			model.FaultStall, model.FaultCrash, "budget", "share", "tokens", "full", "count", "time", "503"}).Draw(t, "string"))
	}
}
