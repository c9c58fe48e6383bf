package traffic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/stormglass/stormglass/model"
)

// finish makes traffic of what was read.
func (d *reader) finish() (*Traffic, error) {
	if err := d.asked.unused(d.report.Files); err != nil {
		return nil, err
	}
	t, err := d.traffic()
	if err != nil {
		return nil, shown(err)
	}
	if _, err := model.NewTrace(t.Segments); err != nil {
		return nil, shown(fmt.Errorf("%s: %w", d.path, err))
	}
	return t, nil
}

func (d *reader) traffic() (*Traffic, error) {
	t := &Traffic{Node: cmp.Or(d.o.Node, "service")}
	var err error
	switch d.kind {
	case ofCalls:
		err = d.fromCalls(t)
	case ofRates:
		if err = d.fromSeries(); err == nil {
			d.fromSegments(t)
		}
	case ofSegments:
		d.fromSegments(t)
	}
	if err != nil {
		return nil, err
	}
	t.blind = d.series[seriesRate] != nil && d.series[seriesErrors] == nil && d.series[seriesRatio] == nil
	t.Report = d.report
	return t, nil
}

// epoch sets the instant from which times are counted, and returns it in the
// times of the reader.
func (d *reader) epoch(t *Traffic, first, unit time.Duration) time.Duration {
	if d.relative {
		return 0
	}
	first -= first % max(unit, time.Second)
	t.Epoch = time.Unix(0, int64(first)).In(d.o.Zone)
	return first
}

func (d *reader) fromCalls(t *Traffic) error {
	slices.SortStableFunc(d.calls, func(a, b Call) int { return cmp.Compare(a.End, b.End) })
	d.equals()
	first, last := time.Duration(math.MaxInt64), d.calls[len(d.calls)-1].End
	for _, c := range d.calls {
		first = min(first, c.Start())
	}
	if first < 0 {
		return fmt.Errorf("%s: a call starts %v before time 0, want the time stamps to be those of the start", d.path, -first)
	}
	width := d.o.Width
	if width == 0 {
		width = chooseWidth(last-first, len(d.calls))
		d.report.note("calls are counted in intervals of %v by their starts", width)
	}
	if n := (last - first) / width; n > model.MaxTraceRows {
		return fmt.Errorf("%s: %d intervals of %v, want at most %d: the option width takes a greater one", d.path, n, width, model.MaxTraceRows)
	}
	epoch := d.epoch(t, first, width)
	latencies := false
	for i := range d.calls {
		d.calls[i].End -= epoch
		latencies = latencies || d.calls[i].Latency > 0
		if d.calls[i].Failed {
			d.report.Failed++
		}
	}
	d.report.Calls = float64(len(d.calls))
	if !d.parted {
		d.report.note("time stamps are whole seconds, so instants are good to a second; calls of one second keep the order of the file")
	}
	if d.left > 0 {
		d.report.note("%d calls have status 499, since the caller left: they are failures", d.left)
	}
	t.Calls = d.calls
	t.Segments = count(t.Node, t.Calls, width, latencies)
	d.report.First, d.report.Last = t.At(first-epoch), t.At(last-epoch)
	return nil
}

// equals looks for calls that are there twice.
func (d *reader) equals() {
	seen := make(map[Call]bool) // of one instant
	kept := d.calls[:0]
	n := 0
	for i, c := range d.calls {
		if i > 0 && c.End != d.calls[i-1].End {
			clear(seen)
		}
		if seen[c] {
			if n++; d.fine {
				continue
			}
		}
		seen[c] = true
		kept = append(kept, c)
	}
	d.calls = kept
	switch {
	case n == 0:
	case d.fine:
		d.report.note("%d calls are equal to another one below a millisecond, and left out", n)
	default:
		d.report.note("%d calls are equal to another one; time stamps are too coarse to tell whether they are the same, so they count", n)
	}
}

// widths to choose from.
var widths = []time.Duration{
	time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, time.Hour,
}

// chooseWidth is the shortest that has 20 calls in an interval on average, and
// not more than a day of seconds.
func chooseWidth(span time.Duration, calls int) time.Duration {
	for _, w := range widths {
		n := float64(span)/float64(w) + 1
		if n <= 86_400 && float64(calls)/n >= 20 {
			return w
		}
	}
	w := widths[0]
	for float64(span)/float64(w) > 1000 {
		w *= 2
	}
	return w
}

// count makes segments of calls, by their starts.
func count(node string, calls []Call, width time.Duration, latencies bool) []model.Segment {
	var list []model.Segment
	var of []time.Duration
	order := byStart(calls)
	for from := 0; from < len(order); {
		k := calls[order[from]].Start() / width
		s := model.Segment{Node: node, Start: k * width, End: (k + 1) * width}
		to, failed := from, 0
		var sum float64
		of = of[:0]
		for ; to < len(order) && calls[order[to]].Start() < s.End; to++ {
			c := calls[order[to]]
			if c.Failed {
				failed++
			}
			sum += float64(c.Latency)
			of = append(of, c.Latency)
		}
		n := float64(to - from)
		s.RateRPS = model.Known(n / width.Seconds())
		s.ErrorRatio = float64(failed) / n
		if latencies {
			slices.Sort(of)
			s.LatencyMean = model.Known(time.Duration(math.Round(sum / n)))
			s.LatencyP50, s.LatencyP90, s.LatencyP99 = model.Known(quantile(of, 50)), model.Known(quantile(of, 90)), model.Known(quantile(of, 99))
		}
		list = append(list, s)
		from = to
	}
	return list
}

// byStart is the order of calls by their starts, at equal starts by their
// ends.
func byStart(calls []Call) []int32 {
	order := make([]int32, len(calls))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(calls[a].Start(), calls[b].Start()), cmp.Compare(a, b))
	})
	return order
}

// fromSegments completes what states intervals itself.
func (d *reader) fromSegments(t *Traffic) {
	slices.SortStableFunc(d.segments, func(a, b model.Segment) int { return cmp.Compare(a.Start, b.Start) })
	epoch := d.epoch(t, d.segments[0].Start, 0)
	given, unrated := 0, 0
	for i := range d.segments {
		s := &d.segments[i]
		s.Node, s.Start, s.End = t.Node, s.Start-epoch, s.End-epoch
		if !s.RateRPS.Known && d.o.RateRPS > 0 {
			s.RateRPS = model.Known(d.o.RateRPS)
			given++
		}
		if !s.RateRPS.Known {
			unrated++
		}
		calls := s.RateRPS.Value * (s.End - s.Start).Seconds()
		d.report.Calls += calls
		d.report.Failed += calls * s.ErrorRatio
	}
	if d.o.RateRPS > 0 {
		d.report.note("the rate of %g/s that was given is that of %d of %d intervals, which state none", d.o.RateRPS, given, len(d.segments))
	}
	if unrated > 0 {
		d.report.note("%d of %d intervals state no rate of calls", unrated, len(d.segments))
	}
	t.Segments = d.segments
	d.report.First, d.report.Last = t.At(d.segments[0].Start), t.At(t.End())
}
