package traffic

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// Columns of a list of incidents.
const (
	incidentStart  = "start|start_s|from|begin|start_time"
	incidentEnd    = "end|end_s|to|until|end_time"
	incidentLength = "duration|duration_s|length|length_s|for"
	incidentRate   = "failure_rate|failure_ratio|error_rate|error_ratio|failures|errors"
)

// before is how much health is taken for granted before the first incident of
// a list with dates.
const before = time.Minute

// An incident is a row whose share may still be a percentage.
type incident struct {
	model.Segment
	line    int
	percent bool // says so itself
}

// incidentRows reads a list of incidents; endIncidents makes segments of it.
func (d *reader) incidentRows(s *sheet) (func() error, error) {
	if err := d.begin(ofSegments); err != nil {
		return nil, err
	}
	start, end, length := s.choose("beginnings", incidentStart), s.choose("ends", incidentEnd), s.choose("lengths", incidentLength)
	share, latency, rate := s.choose("shares of failures", incidentRate), s.choose("latencies", "latency_ms|latency_s|latency"), s.choose("rates", "rate_rps|rps|rate")
	if start < 0 || share < 0 || end < 0 && length < 0 {
		return nil, d.errorf(s.line, "columns start, end or duration, and failure_rate, want all of them in the header")
	}
	if end >= 0 && length >= 0 {
		return nil, d.errorf(s.line, "columns %s and %s, want one of them", s.header[end], s.header[length])
	}
	return func() error {
		i := incident{line: s.line}
		var rule string
		if i.Start, rule = d.clock(s.cell(start), s.decimalComma()); rule != "" {
			return s.bad(start, rule)
		}
		if end >= 0 {
			if i.End, rule = d.clock(s.cell(end), s.decimalComma()); rule != "" {
				return s.bad(end, rule)
			}
		} else {
			l, rule := parseLatency(s.cell(length), "s", s.decimalComma())
			if rule != "" {
				return s.bad(length, strings.Replace(rule, "latency", "length", 1))
			}
			end, i.End = length, i.Start+l
			defer func() { end = -1 }()
		}
		if i.End <= i.Start {
			return s.bad(end, "ends before it begins or as it does, want a stretch [start, end)")
		}
		number := func(column int, most float64) (float64, string) {
			text := strings.TrimSpace(strings.TrimSuffix(s.cell(column), "%"))
			if s.decimalComma() {
				text = strings.Replace(text, ",", ".", 1)
			}
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || !(f >= 0 && f <= most) {
				return 0, "want a number from 0 to " + strconv.FormatFloat(most, 'g', -1, 64)
			}
			return f, ""
		}
		if i.ErrorRatio, rule = number(share, 100); rule != "" {
			return s.bad(share, rule)
		}
		i.percent = strings.HasSuffix(s.cell(share), "%")
		if s.cell(rate) != "" {
			f, rule := number(rate, 1e9)
			if rule != "" {
				return s.bad(rate, rule)
			}
			i.RateRPS = model.Known(f)
		}
		if cell := s.cell(latency); cell != "" {
			l, rule := parseLatency(cell, d.unitOfColumn(s.header[latency]), s.decimalComma())
			if rule != "" {
				return s.bad(latency, rule)
			}
			i.LatencyMean = model.Known(l)
		}
		if len(d.incidents) == model.MaxTraceRows/2 {
			return d.errorf(s.line, "more than %d incidents, want a part of the list", model.MaxTraceRows/2)
		}
		d.incidents = append(d.incidents, i)
		d.out.Used++
		return nil
	}, nil
}

// clock reads a time stamp, or a time of the day as one since midnight.
func (d *reader) clock(text string, decimalComma bool) (time.Duration, string) {
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			d.report.note("%s: times of the day are counted from midnight", d.path)
			h, m, s := t.Clock()
			since := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
			return d.time(strconv.FormatFloat(since.Seconds(), 'f', -1, 64), false)
		}
	}
	return d.time(text, decimalComma)
}

// endIncidents puts health between the incidents.
func (d *reader) endIncidents() error {
	list := d.incidents
	d.incidents = nil
	percent := slices.ContainsFunc(list, func(i incident) bool { return !i.percent && i.ErrorRatio > 1 })
	if percent {
		d.report.note("%s: failure rates are percentages, since one is above 1", d.path)
	}
	slices.SortStableFunc(list, func(a, b incident) int { return cmp.Compare(a.Start, b.Start) })
	var end time.Duration
	if len(list) > 0 && !d.relative {
		end = max(0, list[0].Start-before)
	}
	for k, i := range list {
		if k > 0 && i.Start < end {
			a, b := list[k-1].line, i.line
			return d.errorf(max(a, b), "overlaps line %d, want incidents that follow each other", min(a, b))
		}
		if i.Start > end {
			d.segments = append(d.segments, model.Segment{Start: end, End: i.Start})
		}
		if percent || i.percent {
			i.ErrorRatio = math.Min(1, i.ErrorRatio/100)
		}
		d.segments = append(d.segments, i.Segment)
		end = i.End
	}
	d.report.note("%s: incidents are [start, end), and between them no call fails", d.path)
	return nil
}
