package traffic

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
)

// A series is a number at some instants, the sum of curves or one curve.
type series struct {
	at    map[time.Duration]float64
	seen  map[time.Duration]int // curves with a value, or none of those with a point
	step  time.Duration
	coded bool // counted by status, so that no curve at an instant means none

	// Of the curves that are added up, the first and last instants, each list
	// in order when all are there.
	first, last []time.Duration
	sum         bool
}

// named is a series, made if it is not there.
func (d *reader) named(name string) *series {
	s := d.series[name]
	if s == nil {
		s = &series{at: make(map[time.Duration]float64), seen: make(map[time.Duration]int), sum: isSum(name)}
		d.series[name] = s
	}
	return s
}

// add adds a curve.
func (s *series) add(c curve) {
	if c.step > 0 && (s.step == 0 || c.step < s.step) {
		s.step = c.step
	}
	first, last := time.Duration(math.MaxInt64), time.Duration(-1)
	for _, p := range c.points {
		first, last = min(first, p.at), max(last, p.at)
		n := 0
		if !math.IsNaN(p.value) {
			s.at[p.at] += p.value
			n = 1
		}
		s.seen[p.at] += n
	}
	if c.lost {
		first, last = 0, math.MaxInt64 // it may be of any instant
	}
	if s.sum && first <= last {
		s.first, s.last = append(s.first, first), append(s.last, last)
	}
}

// order must precede value.
func (s *series) order() {
	slices.Sort(s.first)
	slices.Sort(s.last)
}

// value is that of an instant. It is known if every curve that has begun and
// has not ended has a value: one that is missing is neither 0 nor as its
// neighbours.
func (s *series) value(at time.Duration) (v float64, known bool) {
	begun, _ := slices.BinarySearch(s.first, at+1)
	ended, _ := slices.BinarySearch(s.last, at)
	n := s.seen[at]
	return s.at[at], n >= begun-ended && (n > 0 || s.coded)
}

// fromSeries makes segments of the points of range queries. Each is about the
// step before it.
func (d *reader) fromSeries() error {
	rate, errors, ratio, latency := d.series[seriesRate], d.series[seriesErrors], d.series[seriesRatio], d.series[seriesLatency]
	main := ratio
	switch {
	case ratio != nil && errors != nil:
		return fmt.Errorf("%s: errors and error-ratio, want one of them", d.path)
	case ratio != nil:
	case rate == nil:
		return fmt.Errorf("%s: neither rate nor error-ratio, want a range query of one of them", d.path)
	default:
		main = rate
		if errors == nil {
			d.report.note("no failures were recorded: error_ratio 0 stands for unknown, so the trace is good for arrivals only")
		}
	}
	step := main.step
	if step == 0 {
		return fmt.Errorf("%s: one point, want at least two", d.path)
	}
	for _, name := range seriesNames {
		if s := d.series[name]; s != nil && s.step > 0 && s.step != step {
			return fmt.Errorf("%s: steps of %v and %v, want queries with one step", d.path, step, s.step)
		}
	}
	for _, s := range d.series {
		s.order()
	}
	unknown, none, above := 0, 0, 0
	for _, at := range slices.Sorted(maps.Keys(main.seen)) {
		s := model.Segment{Start: at - step, End: at}
		if s.Start < 0 {
			continue
		}
		known := true
		value := func(of *series) float64 {
			if of == nil {
				return 0
			}
			v, there := of.value(at)
			known = known && there
			return v
		}
		r, e, share := value(rate), value(errors), value(ratio)
		switch {
		case !known:
			unknown++
			continue
		case ratio != nil:
			s.ErrorRatio = share
		case errors != nil && r == 0:
			none++
			continue
		case errors != nil:
			if s.ErrorRatio = e / r; s.ErrorRatio > 1 {
				above++
				s.ErrorRatio = 1
			}
		}
		if rate != nil {
			s.RateRPS = model.Known(r)
		}
		if latency != nil {
			if l, there := latency.value(at); there {
				s.LatencyMean = model.Known(time.Duration(math.Round(l * 1e9)))
			}
		}
		d.segments = append(d.segments, s)
	}
	d.report.note("points are %v apart; each is about the time before it", step)
	if unknown > 0 {
		d.report.note("%d of %d instants have no value in one of the series: no data", unknown, len(main.seen))
	}
	if none > 0 {
		d.report.note("%d points have a rate of 0: no data about failures", none)
	}
	if above > 0 {
		d.report.note("%d points have more errors than calls: all calls fail", above)
	}
	if len(d.segments) == 0 {
		return fmt.Errorf("%s: no instant at which all series have a point, want queries with the same start and step", d.path)
	}
	return nil
}
