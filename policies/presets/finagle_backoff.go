package presets

import (
	"time"

	"github.com/stormglass/stormglass/policies"
)

// The waits of Finagle, finagle-core com/twitter/finagle/Backoff.scala
// @4feb34cb; read, not recorded.
//
// The first wait is always Start itself, without jitter, and the rules with
// jitter stay at the maximum, without jitter, once it is reached. Decorrelated
// jitter draws from [previous, 3*previous), so it never gets shorter. Full
// jitter multiplies the previous wait, not Start: it draws from
// [0, previous*2^(n-1)) before retry n. The library fails on a previous wait
// of 0, which counts as Start here.

// A FinagleBackoffKind names a rule, as the library's constructor.
type FinagleBackoffKind string

// The rules.
const (
	FinagleConst        FinagleBackoffKind = "const"
	FinagleExponential  FinagleBackoffKind = "exponential"
	FinagleLinear       FinagleBackoffKind = "linear"
	FinagleEqual        FinagleBackoffKind = "equalJittered"
	FinagleDecorrelated FinagleBackoffKind = "decorrelatedJittered"
	FinagleFull         FinagleBackoffKind = "exponentialJittered"
)

// FinagleBackoffConfig describes a Backoff.
type FinagleBackoffConfig struct {
	Kind       FinagleBackoffKind // the rule
	Start      time.Duration      // the first wait, 0 or more; with jitter above 0
	Multiplier int                // growth of exponential, 0 or more
	Offset     time.Duration      // growth of linear, 0 or more
	Maximum    time.Duration      // the longest wait; 0 means none; with jitter at least Start
}

// FinagleBackoffDefaults is that of failure accrual: equal jitter, 5 s up to
// 300 s. Retries have no default back-off.
func FinagleBackoffDefaults() FinagleBackoffConfig {
	return FinagleBackoffConfig{Kind: FinagleEqual, Start: 5 * time.Second, Maximum: 300 * time.Second}
}

// Validate reports the first field that makes no sense.
func (c FinagleBackoffConfig) Validate() error {
	f := fields{library: "finagle back-off"}
	f.oneOf("Kind", string(c.Kind), string(FinagleConst), string(FinagleExponential), string(FinagleLinear),
		string(FinagleEqual), string(FinagleDecorrelated), string(FinagleFull))
	switch c.Kind {
	case FinagleEqual, FinagleDecorrelated, FinagleFull:
		f.duration("Start", c.Start, 1)
		if c.Maximum != 0 {
			f.duration("Maximum", c.Maximum, c.Start)
		}
	default:
		f.duration("Start", c.Start, 0)
		f.duration("Maximum", c.Maximum, 0)
	}
	f.count("Multiplier", c.Multiplier, 0)
	f.duration("Offset", c.Offset, 0)
	return f.err
}

// NewDelays returns the back-off, or the error of Validate.
func (c FinagleBackoffConfig) NewDelays() (policies.Delays, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	start, limit := int64(c.Start), orNone(c.Maximum)
	switch c.Kind {
	case FinagleExponential:
		return &stepped[int64]{steps: c.exponential(start, limit), draw: unjittered}, nil
	case FinagleLinear:
		return &finagleLinear{start, int64(c.Offset), limit}, nil
	case FinagleEqual:
		return &finagleEqual{start, limit, halves(start, limit)}, nil
	case FinagleDecorrelated, FinagleFull:
		return &finagleChain{start, limit, c.Kind == FinagleFull}, nil
	}
	return &stepped[int64]{steps: waits[int64]{start}, draw: unjittered}, nil
}

func (c FinagleBackoffConfig) exponential(start, limit int64) waits[int64] {
	m := int64(c.Multiplier)
	if m == 1 {
		return waits[int64]{start}
	}
	return grow(min(start, limit), func(wait int64) int64 {
		switch {
		case m == 0 && wait != limit:
			return 0
		case m == 0:
			return wait
		case wait >= limit/m:
			return limit
		}
		return wait * m
	})
}

// A finagleLinear grows by an offset; without one it is Start even above the
// maximum.
type finagleLinear struct{ start, offset, limit int64 }

// Delay implements policies.Delays.
func (l *finagleLinear) Delay(attempts int, _ time.Duration, _ float64) time.Duration {
	if l.offset == 0 {
		return time.Duration(l.start)
	}
	grown := productOf(int64(max(attempts, 1)-1), l.offset)
	return time.Duration(min(sumOf(l.start, grown), l.limit))
}

// halves lists start doubled, up to the one that reaches the maximum, in the
// library's rounding.
func halves(start, limit int64) (w waits[int64]) {
	for shift := 0; ; shift++ {
		factor := int64(1) << shift
		if shift > 62 || start >= limit/factor {
			return append(w, limit)
		}
		w = append(w, start*factor)
	}
}

// A finagleEqual waits half of the growth and a draw below that half.
type finagleEqual struct {
	start, limit int64
	half         waits[int64] // before retry 2, 3, ...
}

// Delay implements policies.Delays.
func (e *finagleEqual) Delay(attempts int, _ time.Duration, u float64) time.Duration {
	if attempts <= 1 {
		return time.Duration(e.start)
	}
	half := e.half.at(attempts - 1)
	return time.Duration(min(sumOf(half, drawBelow(unit(u), half)), e.limit))
}

// A finagleChain draws from what the previous wait was.
type finagleChain struct {
	start, limit int64
	full         bool
}

// Delay implements policies.Delays.
func (f *finagleChain) Delay(attempts int, previous time.Duration, u float64) time.Duration {
	from := int64(previous)
	if from <= 0 {
		from = f.start
	}
	switch {
	case attempts <= 1:
		return time.Duration(f.start)
	case f.full:
		factor := int64(1) << min(attempts-1, 62)
		if from >= f.limit/factor {
			return time.Duration(f.limit)
		}
		return time.Duration(drawBelow(unit(u), from*factor))
	}
	high := productOf(from, 3)
	if from >= f.limit/3 {
		high = max(f.limit, from)
	}
	return time.Duration(min(from+drawBelow(unit(u), high-from), f.limit))
}
