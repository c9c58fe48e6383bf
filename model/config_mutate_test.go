package model

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/policies"
)

// Whatever is changed in a valid system, Validate returns, in the same words
// each time, and each problem has a thing, a value and a rule. What it accepts
// can be made, and run.
func TestConfigMutated(t *testing.T) {
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		c := everything()
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			mutate(t, reflect.ValueOf(c).Elem(), "config")
		}
		err := c.Validate()
		notes := c.Notes()
		if err != nil {
			if again := c.Validate(); again == nil || again.Error() != err.Error() {
				t.Fatalf("first %v, then %v", err, again)
			}
			if len(notes) > 0 {
				t.Fatalf("notes %q beside %v", notes, err)
			}
			for _, line := range strings.Split(err.Error(), "\n") {
				if rest, ok := strings.CutPrefix(line, "model: "); !ok || !strings.Contains(rest, ": ") || !strings.Contains(rest, ", ") {
					t.Fatalf("%q, want a thing, a value and a rule", line)
				}
			}
			return
		}
		accepted++
		if !small(c) {
			return
		}
		c.Horizon = min(c.Horizon, 20*ms)
		c.Warmup = 0
		if c.Validate() != nil { // what starts later
			return
		}
		s, err := New(*c, 1, 0)
		if err != nil {
			t.Fatalf("New: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := s.Run(ctx); err != nil && ctx.Err() == nil && !strings.Contains(err.Error(), "time stands still") {
			t.Fatalf("Run: %v", err)
		}
	})
	if accepted == 0 {
		t.Error("no change was accepted")
	}
}

// small reports whether a system can be made in no time.
func small(c *Config) bool {
	servers, programs, calls := 0, 0, 0
	count := func(steps []Step) {
		for _, s := range steps {
			for _, to := range s.Calls {
				calls += max(1, to.Times)
			}
		}
	}
	rate := 0.0
	for _, n := range c.Nodes {
		servers += n.Replicas
		count(n.Steps)
	}
	for _, cl := range c.Clients {
		programs += cl.Instances + cl.Loop.Clients
		rate += cl.Arrivals.RateRPS + cl.Arrivals.ToRPS + cl.Arrivals.OffRPS
		count(cl.Steps)
	}
	return servers < 1000 && programs < 1000 && calls < 1000 && rate < 1e5 &&
		(c.Interval == 0 || c.Horizon/c.Interval < 1000)
}

// everything is a valid system that has a bit of each thing.
func everything() *Config {
	c := shop()
	n := &c.Nodes[1]
	n.Replicas, n.Service = 2, Law{Kind: Quantiles, Points: []Point{{0.5, ms}, {0.9, 2 * ms}}}
	n.Queue.Limit, n.Shed = Known(10), Shed{InFlight: 5, RateRPS: 100, Burst: 2}
	n.Script = []Scripted{{Times: 2, Service: ms, Code: 500}}
	n.Trace = []Segment{{Node: "db", End: ms}, {Node: "db", Start: ms, End: 2 * ms}}
	for _, f := range []Fault{
		{Kind: FaultError, Ratio: 0.5, First: 2, Code: 429}, {Kind: FaultSlow, Factor: 3}, {Kind: FaultCapacity, Factor: 0.5},
		{Kind: FaultLimit, RateRPS: 50}, {Kind: FaultStall, Start: ms, End: 2 * ms}, {Kind: FaultPause, Start: ms, End: 3 * ms, Replica: Known(1)},
		{Kind: FaultCrash, Start: 4 * ms, End: 5 * ms, Silent: true},
	} {
		addFault(c, f)
	}
	d := toDB(c)
	d.Times, d.Request, d.Response = 2, Law{Kind: Gamma, Mean: ms, CV: 2}, Law{Kind: Empirical, Samples: []time.Duration{1, 2}}
	retry := someRetry(2)
	retry.Share = "budget"
	d.Sidecar = Stack{{Breaker: someBreaker()}, {Limit: &LimitLayer{InFlight: 3, Share: "limit"}}, {Retry: retry}}
	c.Clients = append(c.Clients, Client{Name: "loop", Loop: ClosedLoop{Clients: 3, Think: Law{Mean: ms}}, Spread: ms, FailurePause: ms,
		Steps: []Step{{Calls: []Call{{To: "db"}, {To: "edge"}}, Need: 1}}})
	c.Interval = ms
	return c
}

// mutate changes one field somewhere below v.
func mutate(t *rapid.T, v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Struct:
		i := rapid.IntRange(0, v.NumField()-1).Draw(t, name)
		mutate(t, v.Field(i), name+"."+v.Type().Field(i).Name)
	case reflect.Slice:
		mutateSlice(t, v, name)
	case reflect.Pointer:
		switch {
		case v.IsNil():
			v.Set(reflect.New(v.Type().Elem()))
		case rapid.IntRange(0, 4).Draw(t, name+" nil") == 0:
			v.SetZero()
		default: // what it points to may be shared with a copy
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			v.Set(fresh)
			mutate(t, v.Elem(), name)
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, 7, 1000, 1e6, 1e6 + 1, 1e9, math.MaxInt64}), rapid.Int64()).Draw(t, name))
	case reflect.Uint16:
		v.SetUint(rapid.SampledFrom([]uint64{0, 1, 6, 7, 99, 100, 503, 599, 600, 65535}).Draw(t, name))
	case reflect.Float64:
		v.SetFloat(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 5e-324, 1e-9, 0.5, 1, 1.5, 1e3, 1e9, math.MaxFloat64}).Draw(t, name))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "db", "edge", "web", "x", " ", "\xff", FIFO, LIFO, Random, Constant, Exponential, Gamma, Empirical, Poisson, Ramp,
			FaultError, FaultStall, FaultCrash, "budget", "limit", "share", "tokens", "full", "count", "any", "503"}).Draw(t, name))
	}
}

func mutateSlice(t *rapid.T, v reflect.Value, name string) {
	n := v.Len()
	fresh := reflect.MakeSlice(v.Type(), n, n+1) // no array is shared with a copy
	reflect.Copy(fresh, v)
	v.Set(fresh)
	change := 0
	if n > 0 {
		change = rapid.IntRange(0, 6).Draw(t, name+" change")
	}
	at := func() int { return rapid.IntRange(0, n-1).Draw(t, name+" at") }
	switch change {
	case 0:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		mutate(t, v.Index(n), name)
	case 1:
		v.Set(reflect.Append(v, v.Index(at())))
	case 2:
		i := at()
		v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, n)))
	default:
		mutate(t, v.Index(at()), name)
	}
}

// What the mutations start from, and what they rely on.
func TestConfigMutationStart(t *testing.T) {
	if err := everything().Validate(); err != nil {
		t.Fatal(err)
	}
	if k := reflect.TypeOf(policies.ErrorCode(0)).Kind(); k != reflect.Uint16 {
		t.Fatalf("codes are of kind %v, want uint16", k)
	}
}
