package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

func run(t *testing.T, c model.Config, seed, rep uint64) *model.System {
	s, err := model.New(c, seed, rep)
	if err != nil { t.Fatal(err) }
	if err := s.Run(context.Background()); err != nil { t.Fatal(err) }
	return s
}
func TestTryGC(t *testing.T) {
	mk := func(attempts int, pause time.Duration) model.Config {
		return model.Config{
			Nodes: []model.Node{{Name: "s", Workers: 1, Service: model.Law{Mean: 100 * time.Millisecond},
				Faults: []model.Fault{{Kind: model.FaultPause, Start: 30 * time.Second, End: 30*time.Second + pause}}}},
			Clients: []model.Client{{Name: "c", Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: 7},
				Steps: []model.Step{{Calls: []model.Call{{To: "s", Stack: model.Stack{
					{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: attempts, Backoff: policies.BackoffConfig{Kind: policies.FixedBackoff, Base: 50 * time.Millisecond}}}},
					{Timeout: 500 * time.Millisecond}}}}}}}},
			Horizon: 120 * time.Second, Interval: time.Second,
		}
	}
	for _, v := range []struct{a int; p time.Duration}{{4, time.Second},{1,time.Second},{4,400*time.Millisecond}} {
		s := run(t, mk(v.a, v.p), 1, 0)
		var line []any
		for i, iv := range s.Series() {
			if i >= 28 && i < 45 { c := iv.Clients[0]; line = append(line, []uint64{c.Requests, c.Succeeded, c.StartedSucceeded, iv.Nodes[0].Attempts}) }
		}
		t.Log(v.a, v.p, line)
	}
}
func TestTryTwo(t *testing.T) {
	mk := func(attempts int, b *policies.BudgetConfig, silent bool, kind string) model.Config {
		return model.Config{
			Nodes: []model.Node{{Name: "s", Replicas: 2, Workers: 5, Service: model.Law{Kind: model.Exponential, Mean: 100 * time.Millisecond},
				Queue: model.Queue{Limit: model.Known(10000)},
				Faults: []model.Fault{{Kind: kind, Start: 5 * time.Second, End: 10 * time.Second, Replica: model.Known(0), Silent: silent}}}},
			Clients: []model.Client{{Name: "c", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 70},
				Steps: []model.Step{{Calls: []model.Call{{To: "s", Stack: model.Stack{
					{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: attempts}, Budget: b}},
					{Timeout: time.Second}}}}}}}},
			Horizon: 60 * time.Second, Interval: time.Second,
		}
	}
	bud := func(r float64) *policies.BudgetConfig { return &policies.BudgetConfig{Kind: policies.BudgetTokens, Tokens: policies.TokenConfig{Ratio: r, Cap: 10, Initial: 10, Credit: policies.CreditSuccess}} }
	for _, kind := range []string{model.FaultCrash, model.FaultStall} {
	for _, silent := range []bool{false, true} {
		if silent && kind != model.FaultCrash { continue }
		for _, v := range []struct{n string; a int; b *policies.BudgetConfig}{{"unl",4,nil},{"none",1,nil},{"b.02",4,bud(.02)},{"b.1",4,bud(.1)}} {
			sum, req, late := 0.0, 0.0, 0.0
			for rep := range 30 {
				s := run(t, mk(v.a, v.b, silent, kind), 1, uint64(rep))
				sum += float64(s.Ledger().Clients[0].Succeeded); req += float64(s.Ledger().Clients[0].Requests)
				for i, iv := range s.Series() { if i >= 15 { late += float64(iv.Clients[0].Succeeded) } }
			}
			t.Log(kind, silent, v.n, sum/30, req/30, late/30)
		}
	}}
}
func TestTryBackoff(t *testing.T) {
	sec := time.Second
	for _, law := range []string{model.Constant, model.Exponential} {
	for _, horizon := range []time.Duration{60*sec, 85*sec, 120*sec} {
	for _, net := range []string{"req", "both", "half"} {
	for _, jit := range []bool{false, true} {
		r := policies.RetryConfig{Attempts: 3}
		if jit { r.Backoff = policies.BackoffConfig{Kind: policies.FullJitter, Base: 10*sec} }
		n := model.Law{Kind: model.Exponential, Mean: 100*time.Millisecond}
		var resp model.Law
		if net == "both" { resp = n }
		if net == "half" { n.Mean /= 2; resp = n }
		st := []model.Step{{Calls: []model.Call{{To: "s", Request: n, Response: resp, Stack: model.Stack{{Retry: &model.RetryLayer{RetryConfig: r}}, {Timeout: 3*sec}}}}}}
		c := model.Config{Nodes: []model.Node{{Name: "s", Workers: model.Unlimited, Service: model.Law{Kind: law, Mean: sec}, ServicePerInFlight: 10*time.Millisecond}},
			Clients: []model.Client{{Name: "c", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 40}, Steps: st},
				{Name: "d", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 40}, Start: 20*sec, End: 25*sec, Steps: st}},
			Horizon: horizon, Interval: sec}
		stuck, before := 0, 0
		for rep := range 40 {
			s := run(t, c, 1, uint64(rep))
			sr := s.Series()
			good, reqs := uint64(0), uint64(0)
			for _, iv := range sr[len(sr)-10:] { good += iv.Clients[0].Succeeded; reqs += iv.Clients[0].Requests }
			if good*2 < reqs { stuck++ }
			good, reqs = 0, 0
			for _, iv := range sr[10:20] { good += iv.Clients[0].Succeeded; reqs += iv.Clients[0].Requests }
			if good*2 < reqs { before++ }
		}
		t.Log(law, horizon, net, jit, stuck, "before", before)
	}}}}
}
func TestTryDeadline(t *testing.T) {
	sec := time.Second
	for _, v := range []struct{rate time.Duration; dl time.Duration; a int}{{50*time.Millisecond, 750*time.Millisecond, 3},{20*time.Millisecond, sec, 2}} {
		st := []model.Step{{Calls: []model.Call{{To: "s", Stack: model.Stack{{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: v.a, Backoff: policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: 50*time.Millisecond, Jitter: .2}}}}, {Timeout: v.dl}}}}}}
		for _, kind := range []string{model.Fixed, model.Poisson} {
		for _, law := range []string{model.Constant, model.Exponential} {
		c := model.Config{Nodes: []model.Node{{Name: "s", Workers: 1, Service: model.Law{Kind: law, Mean: v.rate}, Queue: model.Queue{Limit: model.Known(256)}}},
			Clients: []model.Client{{Name: "c", Arrivals: model.Arrivals{Kind: kind, RateRPS: 8}, Steps: st},
				{Name: "d", Arrivals: model.Arrivals{Kind: kind, RateRPS: 32}, Start: 30*sec, End: 40*sec, Steps: st}},
			Horizon: 120*sec, Interval: sec}
		for rep := range 3 {
		s := run(t, c, 1, uint64(rep))
		part := func(a, b int) (g, r, at float64) { for _, iv := range s.Series()[a:b] { g += float64(iv.Clients[0].Succeeded); r += float64(iv.Clients[0].Requests); at += float64(iv.Nodes[0].Attempts) }; return g/r, r, at/r }
		g1, _, _ := part(0, 30); g2, _, a2 := part(60, 120)
		t.Log(v.rate, kind, law, "before", g1, "after", g2, "amp", a2)
		}}}
	}
}
