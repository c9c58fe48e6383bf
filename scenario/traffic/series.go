package traffic

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
)

// fromSeries makes segments of the points of range queries. Each is about the
// step before it.
func (d *reader) fromSeries() error {
	rate, errors, ratio, latency := d.series["rate"], d.series["errors"], d.series["error-ratio"], d.series["latency"]
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
	instants := slices.Sorted(maps.Keys(main.at))
	unknown, none, above := 0, 0, 0
	for _, at := range instants {
		s := model.Segment{Start: at - step, End: at}
		if s.Start < 0 {
			continue
		}
		r, rated := 0.0, false
		if rate != nil {
			r, rated = rate.at[at]
		}
		switch {
		case ratio != nil:
			s.ErrorRatio = ratio.at[at]
			if rate != nil && !rated {
				unknown++
				continue
			}
		case errors != nil:
			e, there := errors.at[at]
			switch {
			case !there && !errors.coded:
				unknown++
				continue
			case r == 0:
				none++
				continue
			}
			if s.ErrorRatio = e / r; s.ErrorRatio > 1 {
				above++
				s.ErrorRatio = 1
			}
		}
		if rated {
			s.RateRPS = model.Known(r)
		}
		if latency != nil {
			if l, there := latency.at[at]; there {
				s.LatencyMean = model.Known(time.Duration(math.Round(l * 1e9)))
			}
		}
		d.segments = append(d.segments, s)
	}
	d.report.note("points are %v apart; each is about the time before it", step)
	if unknown > 0 {
		d.report.note("%d points have no counterpart in the other series: no data", unknown)
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
