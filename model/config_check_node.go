package model

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

const (
	minRate = 1e-9 // the lowest of a bucket: one call in 31 years
	maxFill = 2e9  // seconds in which a bucket must be full
)

func (k *check) checkNode(n *Node) {
	thing := nodeThing(n.Name)
	if n.Replicas < 0 {
		k.add(thing, "replicas %d, want at least 1, or 0 for 1", n.Replicas)
	}
	if n.Workers < 1 {
		k.add(thing, "workers %d, want at least 1 or Unlimited", n.Workers)
	}
	if text := n.Service.problem(); text != "" {
		k.add(thing, "service %s", text)
	}
	if n.ServicePerInFlight < 0 {
		k.add(thing, "service per call in flight %v, want at least 0s", n.ServicePerInFlight)
	}
	if l := n.Queue.Limit; l.Known && l.Value < 0 {
		k.add(thing, "queue limit %d, want at least 0", l.Value)
	}
	switch n.Queue.Order {
	case "", FIFO, LIFO:
	default:
		k.addUnknown(thing, "queue order", n.Queue.Order, FIFO, LIFO)
	}
	if n.Shed.InFlight < 0 {
		k.add(thing, "shed in flight %d, want at least 1, or 0 for no bound", n.Shed.InFlight)
	}
	k.bucket(thing, "shed ", n.Shed.RateRPS, n.Shed.Burst, true)
	switch {
	case !validCode(n.Shed.Code):
		k.add(thing, "shed code %d, %s", uint16(n.Shed.Code), wantCode)
	case n.Shed.Code != 0 && n.Shed.InFlight == 0 && n.Shed.RateRPS == 0:
		k.add(thing, "shed code %d, only a bound has one", uint16(n.Shed.Code))
	}
	k.steps(thing, n.Steps)
	for i := range n.Faults {
		k.fault(fmt.Sprintf("%s: fault %d", thing, i+1), n, &n.Faults[i])
	}
	k.script(thing, n)
	k.segments(thing, n.Trace)
}

// bucket checks a rate and its burst.
func (k *check) bucket(thing, field string, rate float64, burst int, none bool) {
	or := ""
	if none {
		or = ", or 0 for none"
	}
	switch {
	case rate == 0 && none:
		if burst != 0 {
			k.add(thing, "%sburst %d, only a rate has one", field, burst)
		}
	case !(rate >= minRate && rate <= maxRate):
		k.add(thing, "%srate %v, want from %g to %g per second%s", field, rate, minRate, float64(maxRate), or)
	case burst < 0:
		k.add(thing, "%sburst %d, want at least 1, or 0 for 1", field, burst)
	case float64(burst)/rate > maxFill:
		k.add(thing, "%sburst %d, want one that fills within %g s at %v per second", field, burst, maxFill, rate)
	}
}

// segments checks the node's condition over time.
func (k *check) segments(thing string, trace []Segment) {
	for i := range trace {
		s := &trace[i]
		if p := s.problem(); p != nil {
			k.add(thing, "trace segment %d: %s", i+1, p)
			continue
		}
		if i == 0 {
			continue
		}
		switch before := &trace[i-1]; {
		case s.Start < before.Start:
			k.add(thing, "trace segment %d: start %v, want them in order: the one before starts at %v", i+1, s.Start, before.Start)
		case s.Start < before.End:
			k.add(thing, "trace segment %d: start %v, want at least the end %v of the one before", i+1, s.Start, before.End)
		}
	}
}

var faultKinds = []string{FaultError, FaultSlow, FaultCapacity, FaultLimit, FaultStall, FaultPause, FaultCrash}

func (k *check) fault(thing string, n *Node, f *Fault) {
	known := false
	for _, kind := range faultKinds {
		known = known || f.Kind == kind
	}
	if !known {
		k.addUnknown(thing, "kind", f.Kind, faultKinds...)
		return
	}
	thing += " (" + f.Kind + ")"
	k.span(thing, f.Start, f.End)
	if r := f.Replica; r.Known && (r.Value < 0 || r.Value >= max(n.Replicas, 1)) {
		k.add(thing, "replica %d, want from 0 to %d", r.Value, max(n.Replicas, 1)-1)
	}
	k.unusedFields(thing, f)
	switch f.Kind {
	case FaultError:
		k.errorFault(thing, f)
	case FaultSlow:
		if !(f.Factor > 0 && f.Factor <= math.MaxFloat64) {
			k.add(thing, "factor %v, want above 0 and finite", f.Factor)
		}
	case FaultCapacity:
		if !(f.Factor >= 0 && f.Factor <= 1) {
			k.add(thing, "factor %v, want from 0 to 1", f.Factor)
		}
	case FaultLimit:
		k.bucket(thing, "", f.RateRPS, f.Burst, false)
		k.faultCode(thing, f)
	}
}

func (k *check) errorFault(thing string, f *Fault) {
	if !(f.Ratio >= 0 && f.Ratio <= 1) {
		k.add(thing, "ratio %v, want above 0 and at most 1, or 0 for 1", f.Ratio)
	}
	if f.First < 0 {
		k.add(thing, "first %d, want at least 1, or 0 for all", f.First)
	}
	k.faultCode(thing, f)
	if f.Client != "" && !slices.ContainsFunc(k.config.Clients, func(c Client) bool { return c.Name == f.Client }) {
		var known []string
		for _, c := range k.config.Clients {
			known = append(known, c.Name)
		}
		k.addUnknown(thing, "client", f.Client, known...)
	}
}

const wantCode = "want from 100 to 599 or a code without answer, or 0 for 503"

func (k *check) faultCode(thing string, f *Fault) {
	if !validCode(f.Code) {
		k.add(thing, "code %d, %s", uint16(f.Code), wantCode)
	}
}

// unusedFields reports what is set for another kind.
func (k *check) unusedFields(thing string, f *Fault) {
	for _, field := range []struct {
		name  string
		value any
		set   bool
		kinds []string
	}{
		{"ratio", f.Ratio, f.Ratio != 0, []string{FaultError}},
		{"first", f.First, f.First != 0, []string{FaultError}},
		{"client", strconv.Quote(f.Client), f.Client != "", []string{FaultError}},
		{"code", uint16(f.Code), f.Code != 0, []string{FaultError, FaultLimit}},
		{"fast", f.Fast, f.Fast, []string{FaultError}},
		{"effect", f.Effect, f.Effect, []string{FaultError}},
		{"factor", f.Factor, f.Factor != 0, []string{FaultSlow, FaultCapacity}},
		{"rate", f.RateRPS, f.RateRPS != 0, []string{FaultLimit}},
		{"burst", f.Burst, f.Burst != 0, []string{FaultLimit}},
		{"silent", f.Silent, f.Silent, []string{FaultCrash}},
	} {
		used := false
		want := ""
		for i, kind := range field.kinds {
			used = used || kind == f.Kind
			if i > 0 {
				want += " or "
			}
			want += kind
		}
		if field.set && !used {
			k.add(thing, "%s %v, only %s has one", field.name, field.value, want)
		}
	}
}
