package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The series that a range query can be of.
var seriesNames = []string{"rate", "errors", "error-ratio", "latency"}

func isSeries(name string) bool { return slices.Contains(seriesNames, name) }

// A series is a number at some instants.
type series struct {
	at    map[time.Duration]float64
	step  time.Duration
	coded bool // counted by status, so that no entry means none
}

const (
	maxPrometheus = 64 << 20 // bytes of a file
	maxPoints     = 2 << 20
)

// A curve is one result of a query.
type curve struct {
	metric map[string]string
	points []point
	step   time.Duration // the shortest between two points, with or without data
	line   int
	path   string // in the JSON
}

type point struct {
	at    time.Duration
	value float64
	line  int
	index int
}

// prometheus reads the answer to a range query.
func (d *reader) prometheus(b *bufio.Reader, in *budget) error {
	if err := d.begin("rates"); err != nil {
		return err
	}
	in.perRow = 0
	data, err := io.ReadAll(io.LimitReader(b, maxPrometheus+1))
	if err != nil {
		return d.errorf(1, "%v", err)
	}
	if len(data) > maxPrometheus {
		return d.errorf(1, "longer than %d MiB, want a shorter query or a longer step", maxPrometheus>>20)
	}
	w := &walker{d: d, data: data, json: json.NewDecoder(bytes.NewReader(data))}
	w.json.UseNumber()
	curves, err := w.answer()
	if err != nil {
		return err
	}
	if len(curves) == 0 {
		return d.errorf(1, "data.result: no series, want at least one")
	}
	return d.curves(curves)
}

// curves adds the curves of a file to the series.
func (d *reader) curves(list []curve) error {
	byStatus := len(list) > 1 || d.o.Series == "rate"
	for _, c := range list {
		byStatus = byStatus && statusOf(c.metric) != ""
	}
	if byStatus && slices.ContainsFunc(list, func(c curve) bool { return !isServerError(statusOf(c.metric)) }) && (d.o.Series == "" || d.o.Series == "rate") {
		d.report.note("%s: rates by status; those of 5xx are failures, and where 5xx has no point there are none", d.path)
		for _, c := range list {
			if err := d.add("rate", c, true, true); err != nil {
				return err
			}
			if isServerError(statusOf(c.metric)) {
				if err := d.add("errors", c, true, false); err != nil {
					return err
				}
			}
		}
		if d.series["errors"] == nil {
			d.series["errors"] = &series{at: map[time.Duration]float64{}}
		}
		d.series["errors"].coded = true
		return nil
	}
	for _, c := range list {
		name := d.o.Series
		if name == "" {
			name = guess(c.metric["__name__"] + " " + filepath.Base(d.path))
		}
		if name == "" {
			return d.errorf(c.line, "%s: cannot tell what this series is, want %s; say so as error-ratio=FILE or in the name of the file", c.path, strings.Join(seriesNames, ", "))
		}
		sum := name == "rate" || name == "errors"
		if !sum && len(list) > 1 {
			return d.errorf(c.line, "%s: %d series of %s, want one: aggregate them in the query", c.path, len(list), name)
		}
		if err := d.add(name, c, sum, true); err != nil {
			return err
		}
	}
	return nil
}

// add adds a curve to a series; count says that its points are to be reported.
func (d *reader) add(name string, c curve, sum, count bool) error {
	s := d.series[name]
	if s == nil {
		s = &series{at: make(map[time.Duration]float64)}
		d.series[name] = s
	}
	if c.step > 0 && (s.step == 0 || c.step < s.step) {
		s.step = c.step
	}
	scale := 1.0
	if name == "error-ratio" && slices.ContainsFunc(c.points, func(p point) bool { return p.value > 1 }) {
		scale = 0.01
		d.report.note("%s: the ratio is a percentage, since a value is above 1", d.path)
	}
	seen := make(map[time.Duration]float64)
	for _, p := range c.points {
		where := fmt.Sprintf("%s.values[%d]", c.path, p.index)
		if v, again := seen[p.at]; again {
			if v != p.value {
				return d.bad(p.line, where, strconv.FormatFloat(p.value, 'g', -1, 64), fmt.Sprintf("beside %g at the same instant, want one value", v))
			}
			if count {
				d.out.skip(p.line, "equal to another point")
			}
			continue
		}
		seen[p.at] = p.value
		limit := map[string]float64{"error-ratio": 100, "rate": 1e9, "errors": 1e9, "latency": maxLatency.Seconds()}[name]
		if !(p.value >= 0 && p.value <= limit) {
			return d.bad(p.line, where, strconv.FormatFloat(p.value, 'g', -1, 64), fmt.Sprintf("want a number from 0 to %g for %s", limit, name))
		}
		if _, there := s.at[p.at]; there && !sum {
			return d.bad(p.line, where, strconv.FormatFloat(p.value, 'g', -1, 64), "a second value of "+name+" at this instant, want one")
		}
		s.at[p.at] += p.value * scale
		if count {
			d.out.Used++
		}
	}
	return nil
}

func statusOf(metric map[string]string) string {
	for _, label := range []string{"code", "status", "status_code", "response_code", "http_status", "status_class"} {
		if v := metric[label]; v != "" {
			return v
		}
	}
	return ""
}

func isServerError(status string) bool { return strings.HasPrefix(status, "5") }

// guess tells a series by the words of its name.
func guess(words string) string {
	words = strings.ToLower(words)
	has := func(list ...string) bool {
		return slices.ContainsFunc(list, func(w string) bool { return strings.Contains(words, w) })
	}
	switch {
	case has("ratio", "share", "percent") && has("err", "fail", "5xx"):
		return "error-ratio"
	case has("err", "fail", "5xx"):
		return "" // per second or of all: the name does not tell
	case has("latency", "duration", "response_time", "response-time"):
		return "latency"
	case has("rate", "rps", "qps", "request", "throughput"):
		return "rate"
	}
	return ""
}
