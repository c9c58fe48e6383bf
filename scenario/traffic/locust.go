package traffic

import (
	"cmp"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
)

type locustTotals struct {
	at                 time.Duration
	requests, failures int64
	line               int
}

// locustRows takes the differences of the totals from row to row.
func (d *reader) locustRows(s *sheet) (func() error, error) {
	if err := d.begin(ofSegments); err != nil {
		return nil, err
	}
	at, requests, failures, name := s.column("timestamp"), s.column("total request count"), s.column("total failure count"), s.column("name")
	want := cmp.Or(d.o.Only, "Aggregated")
	var last locustTotals
	return func() error {
		if s.cell(name) != want {
			d.out.skip(s.line, "not "+want)
			return nil
		}
		now := last
		var rule string
		if now.at, rule = d.time(s.cell(at), s.decimalComma()); rule != "" {
			return s.bad(at, rule)
		}
		for _, total := range []struct {
			column int
			n      *int64
		}{{requests, &now.requests}, {failures, &now.failures}} {
			n, err := strconv.ParseInt(s.cell(total.column), 10, 64)
			if err != nil || n < 0 {
				return s.bad(total.column, "want a whole number of 0 or more")
			}
			*total.n = n
		}
		now.line = s.line
		before := last
		calls, failed := now.requests-before.requests, now.failures-before.failures
		switch {
		case before.line == 0:
			d.out.skip(s.line, "the first row, from which differences are taken")
		case now == (locustTotals{before.at, before.requests, before.failures, now.line}):
			d.out.skip(s.line, "equal to the row before")
			return nil
		case now.at <= before.at:
			return &badRow{"column timestamp", "not after the row before", d.errorf(s.line, "column timestamp: %q, not after that of line %d, want rows in the order of time", clip(s.cell(at)), before.line)}
		case calls < 0 || failed < 0:
			d.out.skip(s.line, "totals fall: counting began anew")
		case failed > calls:
			return s.bad(failures, "grows by more than the requests")
		case calls == 0:
			d.out.skip(s.line, "no requests since the row before: no data")
		default:
			seconds := (now.at - before.at).Seconds()
			segment := model.Segment{Start: before.at, End: now.at, RateRPS: model.Known(float64(calls) / seconds)}
			segment.ErrorRatio = float64(failed) / float64(calls)
			if err := d.segment(s.line, segment); err != nil {
				return err
			}
		}
		last = now
		return nil
	}, nil
}

// segment takes an interval.
func (d *reader) segment(line int, s model.Segment) error {
	if len(d.segments) == model.MaxTraceRows {
		return d.errorf(line, "more than %d intervals, want a part of the record", model.MaxTraceRows)
	}
	d.segments = append(d.segments, s)
	d.out.Used++
	return nil
}
