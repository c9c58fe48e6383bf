package experiments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

func timeoutOrder() *Experiment {
	return &Experiment{
		Name: "timeout-order",
		Doc: `In which order must the timeouts of client, server and the whole request stand?
One request. The client waits for an attempt up to its timeout, makes a number
of attempts at once, and gives up after a total. The server takes an attempt
after a wait of queue_s, works on it for work_s, stops after its own timeout and
then answers 504, or not at all (silent). With cancel on it also stops when the
client has left. A guarded client makes no retry for which a whole attempt does
not fit into what is left of the total. Source: retry governance, seventh
section: client 5 s, server 6 s; client 5 s × 3 within 10 s; client longer than
server and queue; and its three nested timeouts 3 s, 2.5 s, 1.8 s.`,
		Factors: []Factor{
			orderFactor("5/6/20x2", "5/4/20x2", "5/6/10x3", "5/4/10x3", "10/5/20x2", "10/5/20x2-silent", "2.5/1.8/3x2", "2.5/1.8/3x2-guard"),
			choice("cancel", "whether the server stops when the client has left", []string{"off", "on"}, 2),
			positive("work_s", "time that the work takes, s", 1e6, 60),
			number("queue_s", "wait before the work begins, s", 0, 1e6, 0),
		},
		Metrics: append(slices.Clone(orderMetrics), measuresAnd("the call by which the server has its work done is in it")...),
		Reps:    1,
		Check:   checkTimeoutOrder,
		Measure: measureTimeoutOrder,
		Logs:    func(c Cell) bool { return c.Text("cancel") == "on" }, // off runs it twice
		Exact:   exactTimeoutOrder,
		Report:  reportTimeoutOrder,
		Detail:  orderSpans,
	}
}

// orderMetrics are what the report shows, beside the closed forms.
var orderMetrics = []Metric{
	{Name: "attempts_count", Doc: "attempts of the request that were sent"},
	{Name: "whole_retries_count", Doc: "retries that were not cut short by the total"},
	{Name: "copies_count", Doc: "most copies of the same work in service at a time"},
	{Name: "served_s", Doc: "work done, s"},
	{Name: "unwanted_s", Doc: "of it after the client had left the attempt, s"},
	{Name: "held_s", Doc: "time that the client held a connection, s"},
	{Name: "held_for_nothing_s", Doc: "of it after the server had stopped, s"},
	{Name: "succeeded_count", Doc: "requests that succeed"},
	{Name: "client_retry_ratio", Doc: "retries of the client ÷ its attempts: retry_ratio without the call by which the server has its work done, once for each attempt"},
}

// maxOrderSeconds bounds the length of a run of timeout-order.
const maxOrderSeconds = 1e8

func checkTimeoutOrder(c Cell) error {
	if h := orderHorizon(c); h > maxOrderSeconds {
		return fmt.Errorf("experiments: timeout-order: a run may take %s s (timeouts %s, queue_s %s), want at most %s",
			formatNumber(h), c.Text("timeouts"), c.Text("queue_s"), formatNumber(maxOrderSeconds))
	}
	return nil
}

// orderHorizon is the time by which all work has ended, s.
func orderHorizon(c Cell) float64 {
	o := c.order()
	end := float64(o.attempts) * o.client.Seconds()
	if o.total > 0 {
		end = min(end, o.total.Seconds())
	}
	return end + c.Float("queue_s") + min(o.server.Seconds(), c.Float("work_s")) + 1
}

// orderConfig is the system of a cell: the server waits, as in a queue, and then
// has the work done, which ends with the server's timeout.
func orderConfig(c Cell, cancel bool) model.Config {
	o := c.order()
	work, horizon := seconds(c.Float("work_s")), seconds(orderHorizon(c))
	retry := model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: o.attempts}}
	if o.guard {
		retry.Deadline = max(1, o.total-o.attempt(c)+1) // a retry that just fits is made
	}
	call := model.Call{To: "server", Stack: model.Stack{{Retry: &retry}, {Timeout: o.client}}}
	if o.total > 0 {
		call.Stack = append(model.Stack{{Timeout: o.total}}, call.Stack...)
	}
	if o.silent && work >= o.server {
		call.Response = model.Law{Mean: 2 * horizon} // the answer never comes
	}
	return model.Config{
		Horizon: horizon,
		Nodes: []model.Node{
			{Name: "server", Workers: model.Unlimited, Cancel: cancel, Service: model.Law{Mean: seconds(c.Float("queue_s"))},
				Steps: calls(model.Call{To: "work", Stack: model.Stack{{Timeout: o.server}}})},
			{Name: "work", Workers: model.Unlimited, Cancel: true, Service: model.Law{Mean: work}},
		},
		Clients: []model.Client{{
			Name: "client", Loop: model.ClosedLoop{Clients: 1}, Requests: 1, Steps: calls(call),
		}},
	}
}

// measureTimeoutOrder runs a cell twice, with a server that notices when the
// client has left and with one that does not: the client sees no difference,
// so the work and the time of the first are those that it waited for.
func measureTimeoutOrder(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	o := c.order()
	s, err := runSystem(ctx, j, orderConfig(c, c.Text("cancel") == "on"))
	if err != nil {
		return nil, err
	}
	wanted := s
	if c.Text("cancel") == "off" {
		j.Log = nil // only the run of the cell is logged
		if wanted, err = runSystem(ctx, j, orderConfig(c, true)); err != nil {
			return nil, err
		}
	}
	l, w := s.Ledger(), wanted.Ledger()
	client, link := l.Client("client"), l.Call("client", "server")
	latency := client.Latency
	whole := float64(link.Retries)
	if cutShort := time.Duration(link.Attempts)*o.attempt(c) > latency; cutShort && link.Retries > 0 {
		whole--
	}
	return [][]float64{withMeasures(l,
		float64(link.Attempts), whole, float64(l.Node("work").MaxServing),
		l.Node("work").Busy.Seconds(), (l.Node("work").Busy - w.Node("work").Busy).Seconds(),
		latency.Seconds(), (latency - w.Node("server").Sojourn).Seconds(),
		float64(client.Succeeded), quotient(link.Retries, link.Attempts),
	)}, nil
}
