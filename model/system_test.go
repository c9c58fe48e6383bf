package model_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// busy makes some hundred thousand events.
func busySystem() model.Config {
	b := backend("B", 10*ms, model.Fault{Kind: model.FaultError, Ratio: 0.2})
	return model.Config{
		Nodes: []model.Node{relay("A", model.Call{To: "B", Stack: model.Stack{retries(3, nil), timeout(sec)}}), b},
		Clients: []model.Client{{
			Name: "client", Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: 1000}, Steps: one(model.Call{To: "A"}),
		}},
		Horizon: 100 * sec, Interval: 7 * sec,
	}
}

// A run that was stopped goes on where it was.
func TestSystemStops(t *testing.T) {
	cfg := busySystem()
	whole := mustRun(t, cfg, 0)
	s := mustSystem(t, cfg, 0)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, at := range []time.Duration{50 * sec, 20 * sec, theEnd} {
		if err := s.RunUntil(stopped, sim.Time(at)); !errors.Is(err, context.Canceled) && at != 20*sec {
			t.Errorf("until %v: %v, want that the context has ended", at, err)
		}
	}
	before := s.Now()
	if before >= sim.Time(cfg.Horizon) {
		t.Fatalf("at %v, want that it has stopped before", before)
	}
	if mustReach(t, s, 10*sec); s.Now() < before {
		t.Errorf("went back from %v to %v", before, s.Now())
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Ledger(), whole.Ledger()) || !reflect.DeepEqual(s.Series(), whole.Series()) {
		t.Error("a run that was stopped ends otherwise than one that was not")
	}
	if s.Now() != sim.Time(cfg.Horizon) {
		t.Errorf("ends at %v, want the horizon", s.Now())
	}
	if err := s.RunUntil(context.Background(), sim.Time(theEnd)); err != nil || s.Now() != sim.Time(cfg.Horizon) {
		t.Errorf("after the end: %v, at %v", err, s.Now())
	}
}

// The last interval is as long as what is left.
func TestSystemIntervals(t *testing.T) {
	cfg := busySystem()
	s := mustSystem(t, cfg, 0)
	mustReach(t, s, 21*sec-1)
	if n := len(s.Series()); n != 2 {
		t.Errorf("%d intervals before 21 s, want 2", n)
	}
	mustReach(t, s, 21*sec)
	if n := len(s.Series()); n != 3 {
		t.Errorf("%d intervals at 21 s, want 3", n)
	}
	mustReach(t, s, theEnd)
	series := s.Series()
	if last := series[len(series)-1]; len(series) != 15 || last.Start != sim.Time(98*sec) || last.End != sim.Time(100*sec) {
		t.Errorf("%d intervals, the last from %v to %v, want 15, from 98 s to 100 s", len(series), last.Start, last.End)
	}
	if s := mustRun(t, model.Config{Nodes: cfg.Nodes, Clients: cfg.Clients, Horizon: sec}, 0).Series(); len(s) != 0 {
		t.Errorf("%d intervals, want none", len(s))
	}
}

// A retry that never waits and never ends is found out.
func TestSystemStandsStill(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("waits for 34 million events")
	}
	r := retries(policies.Unlimited, nil)
	r.Retry.Deadline = sec
	s := mustSystem(t, pair(backend("B", 0, down), model.Stack{r}, model.Client{Arrivals: evenly(1)}, 10*sec), 0)
	err := s.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "model: time stands still at 0s") {
		t.Fatalf("%v, want that time stands still", err)
	}
	if again := s.Run(context.Background()); !errors.Is(again, err) {
		t.Errorf("and again: %v, want the same error", again)
	}
}

// Quantiles are good to 1 %, of requests that started after the warm-up.
func TestSystemQuantiles(t *testing.T) {
	cfg := model.Config{
		Nodes: []model.Node{{
			Name: "B", Workers: model.Unlimited, Service: model.Law{Kind: model.Exponential, Mean: sec}, Waits: true,
			Trace: []model.Segment{{Node: "B", End: 10 * sec, Condition: model.Condition{LatencyMean: model.Known(time.Hour)}}},
		}},
		Clients: []model.Client{
			{Name: "client", Arrivals: evenly(1000), Steps: one(model.Call{To: "B"})},
			{Name: "none", Arrivals: evenly(1), Start: 5 * sec, Requests: 1, Steps: one(model.Call{To: "B"})},
		},
		Warmup: 10 * sec, Horizon: 200 * sec,
	}
	s := mustRun(t, cfg, 0)
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
		want := -math.Log(1 - q) // of 190,000
		if got := s.LatencyQuantile("client", q).Seconds(); math.Abs(got/want-1) > 0.03 {
			t.Errorf("latency quantile %v: %v s, want %v s", q, got, want)
		}
		if got := s.WaitQuantile("B", q); got != 0 {
			t.Errorf("wait quantile %v: %v, want none", q, got)
		}
	}
	if got := s.LatencyQuantile("none", 0.5); got != 0 {
		t.Errorf("without requests: %v, want 0", got)
	}
	c := s.Ledger().Client("client")
	if mean := c.Latency.Seconds() / float64(c.Measured); math.Abs(mean-1) > 0.03 || c.Measured > 190_000 {
		t.Errorf("%+v, want about 190,000 of 1 s", *c)
	}
}

// Small durations and long ones come out as what they are, to 1 %.
func TestSystemQuantilesOfAnySize(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 7, 999, 54_321, ms, 123_456_789, sec, time.Hour, 100 * 24 * time.Hour} {
		cfg := model.Config{
			Nodes:   []model.Node{backend("B", d)},
			Clients: []model.Client{{Name: "client", Arrivals: evenly(1), Requests: 3, Steps: one(model.Call{To: "B"})}},
			Horizon: 200 * 24 * time.Hour,
		}
		for _, q := range []float64{0, 0.5, 1} {
			if got := mustRun(t, cfg, 0).LatencyQuantile("client", q); math.Abs(float64(got-d)) > 0.01*float64(d) {
				t.Errorf("quantile %v of three times %v: %v", q, d, got)
			}
		}
	}
}

// Names that are not there are the caller's bug.
func TestSystemUnknownNames(t *testing.T) {
	cfg := busySystem()
	cfg.Horizon = sec
	s := mustRun(t, cfg, 0)
	for want, f := range map[string]func(){
		"no node C":                  func() { s.Ledger().Node("C") },
		"no client A":                func() { s.Ledger().Client("A") },
		"no call from B to A":        func() { s.Ledger().Call("B", "A") },
		"model: no client B":         func() { s.LatencyQuantile("B", 0.5) },
		"model: no node A with wait": func() { s.WaitQuantile("A", 0.5) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q in it", got, want)
				}
			}()
			f()
		}()
	}
}

// A ledger that does not balance says where.
func TestLedgerCheck(t *testing.T) {
	cfg := busySystem()
	cfg.Horizon = sec
	s := mustRun(t, cfg, 0)
	for want, spoil := range map[string]func(l *model.Ledger){
		`client "client": `:          func(l *model.Ledger) { l.Clients[0].Failed++ },
		`node "B": `:                 func(l *model.Ledger) { l.Nodes[1].Abandoned++ },
		`node "A": busy`:             func(l *model.Ledger) { l.Nodes[0].Useful++ },
		`calls from "A" to "B": `:    func(l *model.Ledger) { l.Calls[0].Left++ },
		`calls from "client" to "A"`: func(l *model.Ledger) { l.Calls[1].Calls-- },
	} {
		l := s.Ledger()
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), "model: internal error: "+want) {
			t.Errorf("%v, want an internal error of %s", err, want)
		}
	}
}
