package experiments

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// How long a delayed call is delayed.
const (
	delayConstant    = "constant"
	delayUniform     = "uniform"
	delayExponential = "exponential"
)

// What the stalled chain has: A waits 1 s for an attempt, and the gateway as
// long as it takes.
const (
	drillStallTimeout  = time.Second
	drillStallRequests = 50
	drillPauseAt       = 5 * time.Second
)

// A drillService is B with some of its calls delayed.
type drillService struct {
	delayed        float64 // share of the calls
	mean           float64 // mean time in service, s
	workers, queue int
	law            model.Law
}

// newDrillService is the B of a cell. It fails if no share of delayed calls
// gives as many late ones.
func newDrillService(c Cell) (drillService, error) {
	var b drillService
	service, delay, spare := c.Float("service_s"), c.Float("delay_s"), c.Float("timeout_s")-c.Float("service_s")
	if spare <= 0 {
		return b, fmt.Errorf("experiments: drill: timeout_s %s, want above service_s %s", c.Text("timeout_s"), c.Text("service_s"))
	}
	kind := c.Text("delay")
	late, meanDelay := delayLate(kind, delay, spare), delay
	if kind == delayUniform {
		meanDelay = delay / 2
	}
	if want := c.Float("late_ratio"); want > 0 {
		b.delayed = want / late
		if !(b.delayed <= 1) {
			return b, fmt.Errorf("experiments: drill: late_ratio %s, want at most %s: no more calls are late if all are delayed (%s, %s s)",
				c.Text("late_ratio"), formatNumber(late), kind, c.Text("delay_s"))
		}
	}
	b.mean = service + b.delayed*meanDelay
	workers, queue := math.Round(c.Float("capacity_rps")*b.mean), math.Round(c.Float("capacity_rps")*c.Float("queue_s"))
	if workers < 1 || workers > 1e6 || queue > 1e7 {
		return b, fmt.Errorf("experiments: drill: capacity_rps %s: %s workers and a queue of %s, want 1 to 1000000 and at most 10000000",
			c.Text("capacity_rps"), formatNumber(workers), formatNumber(queue))
	}
	b.workers, b.queue = int(workers), int(queue)
	b.law = delayedLaw(kind, service, delay, b.delayed)
	return b, nil
}

// delayLate is the share of the delays that are longer than the time spare.
func delayLate(kind string, delay, spare float64) float64 {
	switch kind {
	case delayUniform:
		return max(0, 1-spare/delay)
	case delayExponential:
		return math.Exp(-spare / delay)
	}
	return indicate(delay > spare)
}

// delayPoints is the number of quantiles by which a delay that varies is
// given.
const delayPoints = 256

// delayedLaw is a time of service that is longer by a delay for a share of the
// calls.
func delayedLaw(kind string, service, delay, share float64) model.Law {
	if share == 0 {
		return model.Law{Mean: seconds(service)}
	}
	const step = 1e-9 // the share over which a jump is spread
	l := model.Law{Kind: model.Quantiles}
	add := func(p, d float64) { l.Points = append(l.Points, model.Point{P: p, D: seconds(d)}) }
	if share < 1-step {
		add(0, service)
		add(1-share, service)
	}
	if kind == delayConstant {
		add(min(1-share+step, 1-step), service+delay)
		add(1, service+delay)
		return l
	}
	for i := range delayPoints {
		u := (float64(i) + 0.5) / delayPoints
		d := delay * u
		if kind == delayExponential {
			d = -delay * math.Log1p(-u)
		}
		add(1-share*(1-u), service+d)
	}
	return l
}

// plain is A's stack without guards: retries at once.
func (b drillService) plain(c Cell) model.Stack {
	return append(appRetries(int(c.Float("retries"))), model.Layer{Timeout: seconds(c.Float("timeout_s"))})
}

// guarded is A's stack with budget, back-off and jitter.
func (b drillService) guarded(c Cell) model.Stack {
	s := c.retry("guard").stack()
	for _, l := range s {
		l.Retry.Backoff = drillBackoff(c)
	}
	return append(s, model.Layer{Timeout: seconds(c.Float("timeout_s"))})
}

// system is A, as a client, and B.
func (b drillService) system(c Cell, stack model.Stack) model.Config {
	var faults []model.Fault
	if d := c.Float("pause_s"); d > 0 {
		faults = []model.Fault{{Kind: model.FaultPause, Start: drillPauseAt, End: drillPauseAt + seconds(d)}}
	}
	return model.Config{
		Horizon: seconds(c.Float("warmup_s")) + seconds(c.Float("measure_s")),
		Nodes: []model.Node{{
			Name: "inventory", Workers: b.workers, Service: b.law, Queue: model.Queue{Limit: model.Known(b.queue)}, Faults: faults,
		}},
		Clients: []model.Client{{
			Name:     "order",
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			Steps:    calls(model.Call{To: "inventory", Stack: stack}),
		}},
	}
}

// A drillRow is one row of the drill.
type drillRow struct {
	rps, success, busy float64
	measures           []float64 // of the whole run
}

// run measures a row after the warm-up.
func (b drillService) run(ctx context.Context, j Job, c Cell, stack model.Stack) (drillRow, error) {
	s, err := model.New(b.system(c, stack), j.Seed, j.Replication)
	if err != nil {
		return drillRow{}, err
	}
	if err := s.RunUntil(ctx, sim.Time(seconds(c.Float("warmup_s")))); err != nil {
		return drillRow{}, err
	}
	before := s.Ledger()
	c0, n0 := before.Clients[0], before.Nodes[0]
	if err := s.Run(ctx); err != nil {
		return drillRow{}, err
	}
	after := s.Ledger()
	c1, n1 := after.Clients[0], after.Nodes[0]
	length := c.Float("measure_s")
	good := c1.Succeeded - c0.Succeeded
	return drillRow{
		rps:      float64(n1.Attempts-n0.Attempts) / length,
		success:  quotient(good, good+c1.Failed-c0.Failed),
		busy:     (n1.Busy - n0.Busy).Seconds() / length / float64(b.workers),
		measures: measureRetries(after),
	}, nil
}

// drillOwn is the number of the metrics of drill before the measures.
const drillOwn = 12

func measureDrill(ctx context.Context, j Job) ([][]float64, error) {
	if j.Cells[0].Text("scene") == drillStalled {
		l, err := stalledLedger(ctx, j, j.Cells[0])
		if err != nil {
			return nil, err
		}
		row := []float64{quotient(l.Node("B").Attempts, l.Client("client").Requests)}
		for len(row) < drillOwn {
			row = append(row, math.NaN())
		}
		return [][]float64{withMeasures(l, row...)}, nil
	}
	b, err := newDrillService(j.Cells[0])
	if err != nil {
		return nil, err
	}
	plain, err := b.run(ctx, j, j.Cells[0], b.plain(j.Cells[0]))
	if err != nil {
		return nil, err
	}
	var rows [][]float64
	for _, c := range j.Cells {
		guarded, err := b.run(ctx, j, c, b.guarded(c))
		if err != nil {
			return nil, err
		}
		rows = append(rows, append([]float64{
			math.NaN(), plain.rps, plain.success, guarded.rps, guarded.success, plain.busy, guarded.busy,
			b.delayed, float64(b.workers), float64(b.queue), plain.measures[0], plain.measures[1],
		}, guarded.measures...))
	}
	return rows, nil
}

// stalledLedger runs the chain whose end answers nobody in time.
func stalledLedger(ctx context.Context, j Job, c Cell) (*model.Ledger, error) {
	retries := func(name string) model.Stack { return appRetries(int(c.Float(name))) }
	stalled := seconds(c.Float("stalled_s"))
	most := time.Duration((c.Float("gateway_retries")+1)*(c.Float("retries")+1)) * drillStallTimeout
	s, err := runSystem(ctx, j, model.Config{
		Horizon: time.Duration(drillStallRequests)*10*time.Millisecond + most + stalled + time.Second,
		Nodes: []model.Node{
			{Name: "gateway", Workers: model.Unlimited, Steps: calls(model.Call{To: "A", Stack: retries("gateway_retries")})},
			{Name: "A", Workers: model.Unlimited, Steps: calls(model.Call{
				To: "B", Stack: append(retries("retries"), model.Layer{Timeout: drillStallTimeout}),
			})},
			{Name: "B", Workers: model.Unlimited, Service: model.Law{Mean: stalled}},
		},
		Clients: []model.Client{{
			Name: "client", Arrivals: model.Arrivals{Kind: model.Fixed, RateRPS: 100}, Requests: drillStallRequests,
			Steps: calls(model.Call{To: "gateway"}),
		}},
	})
	if err != nil {
		return nil, err
	}
	return s.Ledger(), nil
}
