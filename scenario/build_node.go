package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/scenario/document"
)

func (b *builder) node(name string, n *Node) model.Node {
	m := model.Node{
		Name: name, Replicas: n.Replicas, Workers: model.Unlimited, Async: n.Async,
		Service: b.law(&n.Service), ServicePerInFlight: n.PerInFlight.D(),
		Cancel: n.Cancel, Writes: n.Writes, Dedup: n.Dedup, ScriptRepeat: n.Repeat,
		Steps: b.steps(n.Calls),
	}
	if n.Workers != nil && !n.Workers.Unlimited {
		m.Workers = n.Workers.N
	}
	if q := n.Queue; q != nil {
		m.Queue = model.Queue{Order: q.Order, DropExpired: q.DropExpired}
		if q.Limit != nil && !q.Limit.Unlimited {
			m.Queue.Limit = model.Known(q.Limit.N)
		}
	}
	if s := n.Shed; s != nil {
		m.Shed = model.Shed{InFlight: s.InFlight, RateRPS: float64(s.Rate), Burst: s.Burst, Code: policies.ErrorCode(s.Code)}
	}
	for i := range n.Faults {
		m.Faults = append(m.Faults, b.fault(&n.Faults[i]))
	}
	for i := range n.Script {
		s := &n.Script[i]
		out := model.Scripted{Times: s.Times, Code: policies.ErrorCode(s.Code), Service: n.Service.Mean.D()}
		switch {
		case s.Service != nil:
			out.Service = s.Service.D()
		case m.Service.Kind != "" && m.Service.Kind != model.Constant:
			b.add(s.Place, "no service, want one: that of the node is no constant")
		}
		m.Script = append(m.Script, out)
	}
	if n.Trace != nil {
		m.Trace = b.trace(name, n.Trace)
	}
	return m
}

func (b *builder) fault(f *Fault) model.Fault {
	m := model.Fault{
		Start: f.From.D(), End: f.To.D(), First: f.First, Client: f.Client, Code: policies.ErrorCode(f.Code),
		Fast: f.Fast, Effect: f.Effect, Burst: f.Burst, Silent: f.Silent,
	}
	var kinds []string
	set := func(given bool, kind string) {
		if given {
			m.Kind = kind
			kinds = append(kinds, kind)
		}
	}
	set(f.Error != nil, model.FaultError)
	set(f.Slow != nil, model.FaultSlow)
	set(f.Capacity != nil, model.FaultCapacity)
	set(f.Limit != nil, model.FaultLimit)
	set(f.Stall, model.FaultStall)
	set(f.Pause, model.FaultPause)
	set(f.Crash, model.FaultCrash)
	if len(kinds) != 1 {
		b.add(f.Place, "%d kinds of fault (%s), want exactly one of error, slow, capacity, limit, stall, pause, crash", len(kinds), strings.Join(kinds, ", "))
		return m
	}
	switch m.Kind {
	case model.FaultError:
		if m.Ratio = float64(*f.Error); m.Ratio == 0 {
			b.add(f.At("error"), "0, want a share above 0")
		}
	case model.FaultSlow:
		m.Factor = float64(*f.Slow)
	case model.FaultCapacity:
		m.Factor = float64(*f.Capacity)
	case model.FaultLimit:
		m.RateRPS = float64(*f.Limit)
	}
	if _, ok := b.clients[f.Client]; !ok && f.Client != "" {
		b.unknown(f.At("client"), "client", f.Client, b.file.Clients.Keys)
	}
	if f.For > 0 {
		if f.To > 0 {
			b.add(f.At("for"), "beside to, want only one of them")
		}
		m.End = m.Start + f.For.D()
	}
	b.early(f.Place, f.From)
	if f.Replica != nil {
		m.Replica = model.Known(*f.Replica)
	}
	return m
}

// early wants what begins to begin before the end.
func (b *builder) early(at document.Place, from Duration) {
	if h := b.file.Horizon; h > 0 && from >= h {
		b.add(at.At("from"), "%v, want less than the horizon %v", from.D(), h.D())
	}
}

func (b *builder) trace(name string, t *Trace) []model.Segment {
	if t.File == "" {
		var list []model.Segment
		for i := range t.Segments {
			s := &t.Segments[i]
			m := model.Segment{Node: name, Start: s.From.D(), End: s.To.D()}
			b.early(s.Place, s.From)
			m.ErrorRatio = float64(s.Error)
			if s.Capacity != nil {
				m.CapacityFactor = model.Known(float64(*s.Capacity))
			}
			if s.Latency != nil {
				m.LatencyMean = model.Known(s.Latency.D())
			}
			list = append(list, m)
		}
		return list
	}
	if len(t.Segments) > 0 {
		b.add(t.At("segments"), "beside a file, want only one of them")
	}
	node := t.Node
	if node == "" {
		node = name
	}
	return b.segments(t.At("file"), t.File, node)
}

// segments reads those of a node from a file.
func (b *builder) segments(at document.Place, file, node string) []model.Segment {
	path := file
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.folder, path)
	}
	t, ok := b.traces[path]
	if !ok {
		f, err := os.Open(path)
		if err != nil {
			b.add(at, "trace %s: %v, want a file of segments", file, reason(err))
			return nil
		}
		defer f.Close()
		if t, err = model.ReadTrace(file, f); err != nil {
			b.add(at, "%v", err)
			return nil
		}
		b.traces[path] = t
	}
	if node == "" && len(t.Nodes()) == 1 {
		node = t.Nodes()[0]
	}
	list := t.Segments(node)
	if len(list) == 0 {
		b.add(at, "trace %s has no node %q%s", file, node, b.hint(node, t.Nodes()))
	}
	return list
}

// reason is the cause of an error without the path.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
