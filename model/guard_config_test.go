package model

import (
	"math"
	"testing"

	"github.com/stormglass/stormglass/policies"
)

func TestConfigGuards(t *testing.T) {
	const call = `node "edge": step 1, call 1 to "db"`
	const stack, sidecar = call + `: stack layer `, call + `: sidecar layer `
	guard := func(order ...policies.GuardStep) *policies.GuardConfig { return &policies.GuardConfig{Order: order} }
	withGuard := func(g *policies.GuardConfig) Stack {
		r := someRetry(3)
		r.Guard = g
		return Stack{{Retry: r}}
	}
	checkCases(t, []configCase{
		{"a breaker inside", func(c *Config) {
			toDB(c).Stack = append(withGuard(guard()), Layer{Timeout: ms}, Layer{Breaker: someBreaker()})
		}, nil},
		{"no breaker asked", func(c *Config) { toDB(c).Stack = withGuard(guard(policies.GuardIdempotent, policies.GuardBudget)) }, nil},
		{"a breaker outside or elsewhere", func(c *Config) {
			toDB(c).Stack = append(Stack{{Breaker: someBreaker()}}, withGuard(guard())...)
			toDB(c).Sidecar = withGuard(guard(policies.GuardBreaker))
		}, []string{
			stack + `2: retry: guard asks a breaker, want one inside the retry in the same stack`,
			sidecar + `1: retry: guard asks a breaker, want one inside the retry in the same stack`,
		}},
		{"steps", func(c *Config) {
			toDB(c).Stack = append(withGuard(guard("idempotence")), Layer{Breaker: someBreaker()})
			toDB(c).Sidecar = withGuard(guard(policies.GuardBudget, policies.GuardBudget))
		}, []string{
			stack + `1: guard: step "idempotence", want one of budget, breaker, idempotent`,
			sidecar + `1: guard: step "budget" twice, want each step once`,
		}},
		{"unsafe ratio", func(c *Config) { toDB(c).UnsafeRatio, toEdge(c).UnsafeRatio = 1.5, math.NaN() }, []string{
			call + `: unsafe ratio 1.5, want from 0 to 1`,
			`client "web": step 1, call 1 to "edge": unsafe ratio NaN, want from 0 to 1`,
		}},
	})
}

func TestConfigCodes(t *testing.T) {
	const rule = `want from 100 to 599 or a code without answer, or 0 for 503`
	checkCases(t, []configCase{
		{"all is well", func(c *Config) {
			c.Nodes[1].Shed = Shed{InFlight: 5, Code: 429}
			addFault(c, Fault{Kind: FaultLimit, RateRPS: 1, Code: policies.ErrReset})
			addFault(c, Fault{Kind: FaultError, Client: "web"})
		}, nil},
		{"codes", func(c *Config) {
			c.Nodes[0].Shed = Shed{Code: 429}
			c.Nodes[1].Shed = Shed{InFlight: 5, Code: 42}
			addFault(c, Fault{Kind: FaultLimit, RateRPS: 1, Code: 99})
		}, []string{
			`node "edge": shed code 429, only a bound has one`,
			`node "db": shed code 42, ` + rule,
			`node "db": fault 1 (limit): code 99, ` + rule,
		}},
		{"clients of faults", func(c *Config) {
			addFault(c, Fault{Kind: FaultError, Client: "wbe"})
			addFault(c, Fault{Kind: FaultStall, Client: "web"})
		}, []string{
			`node "db": fault 1 (error): client "wbe", known: web`,
			`node "db": fault 2 (stall): client "web", only error has one`,
		}},
	})
}
