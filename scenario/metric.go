package scenario

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/names"
)

// A metric is something that claims are made about, measured in one
// replication.
type metric struct {
	name, doc string
	of        string  // client, node or link
	unit      string  // "", s, /s or %
	needs     string  // the policy, or the writes, without which there is nothing to measure
	most      float64 // largest value that can be; 0 for no bound
	never     bool    // may be an instant that does not come
	spans     bool    // can be asked of a part of the run
	series    bool    // looks at intervals
	value     func(v *view) float64
}

// A view is a part of a run, as a metric sees it.
type view struct {
	was, now *model.Ledger // at its two ends
	length   time.Duration
	entity   int
	quantile float64
	after    time.Duration
	until    time.Duration
	run      *observation

	wasTook, nowTook []*model.Latencies // by client, of metrics that look at them
	series           []model.Interval   // in it
}

func (v *view) client() (a, b *model.ClientLedger) {
	return &v.was.Clients[v.entity], &v.now.Clients[v.entity]
}

func (v *view) node() (a, b *model.NodeLedger) {
	return &v.was.Nodes[v.entity], &v.now.Nodes[v.entity]
}

func (v *view) link() (a, b *model.CallLedger) {
	return &v.was.Calls[v.entity], &v.now.Calls[v.entity]
}

// requests is how many original requests there were, of all clients.
func (v *view) requests() float64 {
	n := uint64(0)
	for i := range v.now.Clients {
		n += v.now.Clients[i].Requests - v.was.Clients[i].Requests
	}
	return float64(n)
}

// ratio is NaN if nothing happened.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// per is a sum of durations ÷ a number, in seconds. Equal durations have that
// duration as their mean, to the last bit.
func per(sum time.Duration, n uint64) float64 { return seconds(ratio(float64(sum), float64(n))) }

// seconds are nanoseconds in seconds. Values and what they are compared with
// are both made by it, so that equal durations are equal numbers.
func seconds(ns float64) float64 { return ns / 1e9 }

// ofClient, ofNode and ofLink make metrics that count.
func ofClient(name, doc string, f func(*model.ClientLedger) uint64) metric {
	return metric{name: name, doc: doc, of: "client", spans: true, value: func(v *view) float64 {
		a, b := v.client()
		return float64(f(b) - f(a))
	}}
}

func (m metric) need(policy string) metric {
	m.needs = policy
	return m
}

func ofNode(name, doc string, f func(*model.NodeLedger) uint64) metric {
	return metric{name: name, doc: doc, of: "node", spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return float64(f(b) - f(a))
	}}
}

func ofLink(name, doc string, f func(*model.CallLedger) uint64) metric {
	return metric{name: name, doc: doc, of: "link", spans: true, value: func(v *view) float64 {
		a, b := v.link()
		return float64(f(b) - f(a))
	}}
}

// latencies is the metric that looks at the latencies of single requests.
const latencies = "latency_p"

// metrics are all there are.
var metrics = []metric{
	ofClient("requests", "original requests made", func(l *model.ClientLedger) uint64 { return l.Requests }),
	ofClient("succeeded", "requests answered well", func(l *model.ClientLedger) uint64 { return l.Succeeded }),
	ofClient("failed", "requests that failed", func(l *model.ClientLedger) uint64 { return l.Failed }),
	{name: "success_ratio", doc: "requests answered well ÷ requests that ended", of: "client", most: 1, spans: true, value: func(v *view) float64 {
		a, b := v.client()
		good := float64(b.Succeeded - a.Succeeded)
		return ratio(good, good+float64(b.Failed-a.Failed))
	}},
	{name: "success_by_start", doc: "requests made and answered well up to the end of the run ÷ requests made (per T)", of: "client", most: 1, spans: true, series: true, value: func(v *view) float64 {
		made, good := uint64(0), uint64(0)
		for i := range v.series {
			c := &v.series[i].Clients[v.entity]
			made, good = made+c.Requests, good+c.StartedSucceeded
		}
		return ratio(float64(good), float64(made))
	}},
	{name: "goodput", doc: "requests answered well per second", of: "client", unit: "/s", spans: true, value: func(v *view) float64 {
		a, b := v.client()
		return ratio(float64(b.Succeeded-a.Succeeded), v.length.Seconds())
	}},
	{name: "latency_mean", doc: "mean time that requests took that end in the part of the run, of those that started after the warm-up", of: "client", unit: "s", spans: true, value: func(v *view) float64 {
		a, b := v.client()
		return per(b.Latency-a.Latency, b.Measured-a.Measured)
	}},
	{name: latencies, doc: "latency_p50, latency_p99, latency_p99.9: quantiles of it, the shortest latency that the share does not exceed", of: "client", unit: "s", spans: true, value: func(v *view) float64 {
		a, b := v.client()
		if b.Measured == a.Measured {
			return math.NaN()
		}
		if v.nowTook == nil { // the whole run
			return seconds(float64(v.run.system.LatencyQuantile(b.Name, v.quantile)))
		}
		var before *model.Latencies
		if v.wasTook != nil {
			before = v.wasTook[v.entity]
		}
		d, _ := v.nowTook[v.entity].QuantileSince(before, v.quantile)
		return seconds(float64(d))
	}},
	{name: "recovery_time", doc: "from the instant of after to the first interval from which on at least 99 % of the requests that end in each interval succeed (per T), intervals without any left out; never if they do not in the last one", of: "client", unit: "s", never: true, spans: true, series: true, value: recoveryTime},

	ofNode("calls", "attempts that reached the node", func(l *model.NodeLedger) uint64 { return l.Attempts }),
	ofNode("served", "attempts answered well", func(l *model.NodeLedger) uint64 { return l.Succeeded }),
	ofNode("rejected", "attempts turned away: shed, queue full, expired, crashed", func(l *model.NodeLedger) uint64 { return l.Rejected }),
	ofNode("abandoned", "attempts whose caller had gone before they ended", func(l *model.NodeLedger) uint64 { return l.Abandoned }),
	ofNode("writes", "effects", func(l *model.NodeLedger) uint64 { return l.Writes }).need(withWrites),
	ofNode("duplicate_writes", "effects beyond what requests were meant to have", func(l *model.NodeLedger) uint64 { return l.DuplicateWrites }).need(withWrites),
	{name: "amplification", doc: "attempts that reached the node ÷ original requests of all clients", of: "node", spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return ratio(float64(b.Attempts-a.Attempts), v.requests())
	}},
	{name: "load", doc: "attempts per second", of: "node", unit: "/s", spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return ratio(float64(b.Attempts-a.Attempts), v.length.Seconds())
	}},
	{name: "wait_mean", doc: "mean time that services waited for a worker", of: "node", unit: "s", spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return per(b.Wait-a.Wait, b.Begun-a.Begun)
	}},
	{name: "waited_ratio", doc: "services that waited for a worker ÷ services that began", of: "node", most: 1, spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return ratio(float64(b.Waited-a.Waited), float64(b.Begun-a.Begun))
	}},
	{name: "rejected_ratio", doc: "attempts turned away ÷ attempts that reached the node", of: "node", most: 1, spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return ratio(float64(b.Rejected-a.Rejected), float64(b.Attempts-a.Attempts))
	}},
	{name: "present_mean", doc: "calls at the node, waiting or served, averaged over time", of: "node", spans: true, value: func(v *view) float64 {
		a, b := v.node()
		return ratio((b.PresentTime - a.PresentTime).Seconds(), v.length.Seconds())
	}},
	{name: "present_max", doc: "most calls at the node at a time", of: "node", value: func(v *view) float64 {
		_, b := v.node()
		return float64(b.MaxPresent)
	}},
	{name: "calls_max", doc: "most attempts in one interval (per T)", of: "node", spans: true, series: true, value: func(v *view) float64 {
		most := uint64(0)
		for i := range v.series {
			most = max(most, v.series[i].Nodes[v.entity].Attempts)
		}
		return float64(most)
	}},
	{name: "busy_intervals", doc: "number of intervals (per T) with any attempt", of: "node", spans: true, series: true, value: func(v *view) float64 {
		n := 0
		for i := range v.series {
			if v.series[i].Nodes[v.entity].Attempts > 0 {
				n++
			}
		}
		return float64(n)
	}},

	ofLink("attempts", "attempts sent over the link", func(l *model.CallLedger) uint64 { return l.Attempts }),
	ofLink("retries", "retries granted", func(l *model.CallLedger) uint64 { return l.Retries }).need(withRetry),
	ofLink("denied", "retries that a budget refused", func(l *model.CallLedger) uint64 { return l.Denied }).need(withBudget),
	ofLink("refused", "attempts that a breaker refused", func(l *model.CallLedger) uint64 { return l.Refused }).need(withBreaker),
	ofLink("limited", "attempts that a cap refused", func(l *model.CallLedger) uint64 { return l.Limited }).need(withLimit),
	ofLink("timed_out", "timeouts that ended something", func(l *model.CallLedger) uint64 { return l.TimedOut }).need(withTimeout),
	ofLink("link_succeeded", "calls over the link that ended well, retries included", func(l *model.CallLedger) uint64 { return l.Succeeded }),
	{name: "link_success_ratio", doc: "calls over the link that ended well ÷ calls that ended", of: "link", most: 1, spans: true, value: func(v *view) float64 {
		a, b := v.link()
		good := float64(b.Succeeded - a.Succeeded)
		return ratio(good, good+float64(b.Failed-a.Failed))
	}},
	{name: "attempts_per_call", doc: "attempts sent over the link ÷ calls", of: "link", spans: true, value: func(v *view) float64 {
		a, b := v.link()
		return ratio(float64(b.Attempts-a.Attempts), float64(b.Calls-a.Calls))
	}},
	ofLink("openings", "openings of the link's breakers, those from half-open included", func(l *model.CallLedger) uint64 { return l.Openings }).need(withStates),
	{name: "closings", doc: "closings of the link's breakers", of: "link", needs: withStates, value: func(v *view) float64 { return float64(v.run.closings[v.entity]) }},
	{name: "first_opening", doc: "instant of the first opening; never if there is none", of: "link", unit: "s", needs: withStates, never: true, value: func(v *view) float64 {
		if o := v.run.openings[v.entity]; o != nil {
			return seconds(float64(o.at))
		}
		return math.Inf(1)
	}},
	{name: "open_time", doc: "time that the link's breakers were open, added up over them", of: "link", unit: "s", needs: withStates, spans: true, value: func(v *view) float64 {
		a, b := v.link()
		return seconds(float64(b.OpenTime - a.OpenTime))
	}},
}

// recovered is the share of good answers in an interval from which on a system
// counts as recovered.
const recovered = 0.99

func recoveryTime(v *view) float64 {
	end := math.Inf(1)
	for i := len(v.series) - 1; i >= 0; i-- {
		s := &v.series[i]
		c := &s.Clients[v.entity]
		ended := c.Succeeded + c.Failed
		if ended == 0 {
			continue // it says nothing
		}
		if float64(c.Succeeded) < recovered*float64(ended) {
			break
		}
		end = seconds(float64(time.Duration(s.Start) - v.after))
	}
	return max(end, 0)
}

// findMetric finds a metric by name; latency_p99 is latency_p at 0.99.
func findMetric(name string) (*metric, float64, error) {
	base, q := name, 0.0
	if number, ok := strings.CutPrefix(name, "latency_p"); ok {
		p, err := strconv.ParseFloat(number+"e-2", 64)
		if err != nil || p < 0 || p > 1 {
			return nil, 0, fmt.Errorf("metric %q, want a percentile such as latency_p99", name)
		}
		base, q = "latency_p", p
	}
	known := make([]string, len(metrics))
	for i := range metrics {
		if metrics[i].name == base {
			return &metrics[i], q, nil
		}
		known[i] = metrics[i].name
	}
	sort.Strings(known)
	return nil, 0, fmt.Errorf("there is no metric %q; %s", name, names.Known(name, known))
}
