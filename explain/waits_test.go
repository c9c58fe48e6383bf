package explain_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// A retry that does not repeat a timeout waits for one attempt, whatever the
// number is that it may make of other errors.
func TestTimeoutThatIsNotRepeated(t *testing.T) {
	r := retry(4)
	r.Retry.Errors.NoRetryOn = []string{"timeout"}
	e := of(t, link(10, 3*time.Second, r, timeout(2*time.Second)))
	near(t, "as modelled", e.Waits[0].Modelled, 2)
	near(t, "hanging", e.Waits[0].Hanging, 2)
	if got, want := e.Waits[0].Reason, "timeout 2s of a-b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	// Behind a sidecar and a node a timeout is a 504.
	r.Retry.Errors = policies.ErrorList{RetryOn: []string{"503"}}
	c := link(10, 0, r)
	c.Nodes[0].Steps[0].Calls[0].Sidecar = model.Stack{timeout(2 * time.Second)}
	near(t, "504 of the sidecar", of(t, c).Waits[0].Hanging, 2)
	r.Retry.Errors.RetryOn = []string{"504"}
	near(t, "504 is repeated", of(t, c).Waits[0].Hanging, 8)

	// An error of 500 ms may come three times before the timeout.
	r.Retry.Errors = policies.ErrorList{RetryOn: []string{"503"}}
	c = link(10, 500*ms, r, timeout(2*time.Second))
	c.Nodes[1].Faults = []model.Fault{{Kind: model.FaultError, Ratio: 0.5}, {Kind: model.FaultStall, Start: time.Second, End: 9 * time.Second}}
	near(t, "three errors just in time and a timeout", of(t, c).Waits[0].Modelled, 8)
}

// A retry's deadline forbids to begin, and ends nothing.
func TestDeadlineEndsNothing(t *testing.T) {
	r := retry(policies.Unlimited)
	r.Retry.Deadline = 500 * ms
	hang := func(d, backoff time.Duration) float64 {
		r.Retry.Backoff = policies.BackoffConfig{}
		if backoff > 0 {
			r.Retry.Backoff = policies.BackoffConfig{Kind: policies.FixedBackoff, Base: backoff}
		}
		return of(t, link(1, 0, r, timeout(d))).Waits[0].Hanging
	}
	near(t, "begins at 0, 150, 300 and 450 ms", hang(150*ms, 0), 0.6)
	near(t, "begins at 0, 100, …, 400 ms, not at 500", hang(100*ms, 0), 0.5)
	near(t, "begins at 0 and 250 ms, not at 500", hang(150*ms, 100*ms), 0.4)
}

// What bounds the calls at a node bounds the wait for a worker.
func TestWaitForAWorker(t *testing.T) {
	wait := func(set func(*model.Node)) float64 {
		c := link(1, 100*ms)
		c.Nodes[1].Workers = 2
		set(&c.Nodes[1])
		return of(t, c).Waits[0].Modelled
	}
	near(t, "no bound", wait(func(n *model.Node) {}), never)
	near(t, "5 at a time: 3 wait", wait(func(n *model.Node) { n.Shed.InFlight = 5 }), 0.3)
	near(t, "the lesser of queue and shed", wait(func(n *model.Node) { n.Shed.InFlight, n.Queue.Limit = 5, model.Known(1) }), 0.2)
	near(t, "no queue", wait(func(n *model.Node) { n.Shed.InFlight, n.Queue.Order = 2, model.LIFO }), 0.1)
	near(t, "slower with load", wait(func(n *model.Node) {
		n.Workers, n.ServicePerInFlight, n.Shed.InFlight = model.Unlimited, 10*ms, 5
	}), 0.14)
	near(t, "a known factor", wait(func(n *model.Node) {
		n.Shed.InFlight = 2
		n.Faults = []model.Fault{{Kind: model.FaultSlow, Factor: 3}}
	}), 0.3)
	near(t, "a law that is never used", wait(func(n *model.Node) {
		n.Shed.InFlight, n.Service = 2, model.Law{Kind: model.Constant, Mean: time.Hour}
		n.Script, n.ScriptRepeat = []model.Scripted{{Service: 20 * ms}}, true
	}), 0.02)
}

// Clients who wait for each other wait for a turn of each.
func TestWaitInAClosedLoop(t *testing.T) {
	c := link(1, 100*ms)
	c.Nodes[1].Workers = 2
	c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: 5}
	near(t, "5 clients of 2 workers", of(t, c).Waits[0].Modelled, 0.3)
	c.Nodes[0].Steps[0].Calls[0].Stack = model.Stack{timeout(time.Minute)}
	near(t, "what is left goes on", of(t, c).Waits[0].Modelled, 60)
}

// leaf gives a node something of what bounds or lengthens a wait.
func leaf(t *rapid.T, n *model.Node) {
	n.Service = model.Law{Mean: time.Duration(rapid.IntRange(1, 120).Draw(t, "service")) * ms}
	n.Workers = rapid.SampledFrom([]int{model.Unlimited, 1, 2, 3}).Draw(t, "workers")
	n.Shed.InFlight = rapid.SampledFrom([]int{0, 1, 3, 6}).Draw(t, "shed")
	n.Shed.Code = rapid.SampledFrom([]policies.ErrorCode{0, 429}).Draw(t, "shed code")
	if n.Shed.InFlight == 0 {
		n.Shed.Code = 0
	}
	if n.Workers != model.Unlimited && rapid.Bool().Draw(t, "queue") {
		n.Queue.Limit = model.Known(rapid.IntRange(0, 4).Draw(t, "limit"))
	}
	n.ServicePerInFlight = time.Duration(rapid.IntRange(0, 1).Draw(t, "per call")) * 5 * ms
	n.Replicas = rapid.IntRange(1, 2).Draw(t, "replicas")
	n.Cancel = rapid.Bool().Draw(t, "cancel")
	if rapid.Bool().Draw(t, "script") {
		n.Script = []model.Scripted{{Times: 2, Service: 30 * ms}, {Service: 60 * ms, Code: 500}}
		n.ScriptRepeat = rapid.Bool().Draw(t, "repeat")
	}
	for range rapid.IntRange(0, 2).Draw(t, "faults") {
		n.Faults = append(n.Faults, rapid.SampledFrom([]model.Fault{
			{Kind: model.FaultSlow, Factor: 3, Start: time.Second}, {Kind: model.FaultError, Ratio: 0.5}, {Kind: model.FaultError, Ratio: 0.5, Fast: true, Code: 429},
			{Kind: model.FaultCrash, Start: time.Second, End: 2 * time.Second}, {Kind: model.FaultStall, Start: time.Second, End: 2 * time.Second},
			{Kind: model.FaultLimit, RateRPS: 15},
		}).Draw(t, "fault"))
	}
}

// No request of a run takes longer than it is said to at most.
func TestWaitsHoldInRuns(t *testing.T) {
	finite := 0
	rapid.Check(t, func(t *rapid.T) {
		r := retry(rapid.IntRange(1, 5).Draw(t, "attempts"))
		r.Retry.Errors = rapid.SampledFrom([]policies.ErrorList{{}, {NoRetryOn: []string{"timeout"}}, {RetryOn: []string{"503"}}, {RetryOn: []string{"504", "429"}}}).Draw(t, "errors")
		r.Retry.Backoff = rapid.SampledFrom([]policies.BackoffConfig{{}, {Kind: policies.FullJitter, Base: 40 * ms}, {Kind: policies.FixedBackoff, Base: 20 * ms}}).Draw(t, "back-off")
		r.Retry.Deadline = rapid.SampledFrom([]time.Duration{0, 150 * ms, 400 * ms}).Draw(t, "deadline")
		outer := retry(rapid.IntRange(1, 3).Draw(t, "outer attempts"))
		outer.Retry.Errors = rapid.SampledFrom([]policies.ErrorList{{}, {RetryOn: []string{"504"}}}).Draw(t, "outer errors")
		inner := model.Stack{r}
		if rapid.Bool().Draw(t, "timeout") {
			inner = append(inner, timeout(time.Duration(rapid.IntRange(20, 250).Draw(t, "ms"))*ms))
		}
		c := link(30, 0, inner...)
		if rapid.Bool().Draw(t, "sidecar") {
			call := &c.Nodes[0].Steps[0].Calls[0]
			call.Stack, call.Sidecar = call.Stack[:1], call.Stack[1:]
		}
		c.Horizon, c.Clients[0].Steps[0].Calls[0].Stack = 4*time.Second, model.Stack{outer}
		leaf(t, &c.Nodes[1])
		if rapid.Bool().Draw(t, "closed") {
			c.Clients[0].Arrivals, c.Clients[0].Loop = model.Arrivals{}, model.ClosedLoop{Clients: rapid.IntRange(1, 8).Draw(t, "clients"), Think: model.Law{Mean: 20 * ms}}
		}
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		e := explain.Explain(c)
		s := run(t, c)
		if most := e.Waits[0].Modelled; most < never {
			finite++
			if got := s.LatencyQuantile("web", 1).Seconds(); got > most+1e-9 {
				t.Fatalf("a request took %v s, more than %v", got, most)
			}
		}
	})
	if finite == 0 {
		t.Error("nothing has a bound")
	}
}
