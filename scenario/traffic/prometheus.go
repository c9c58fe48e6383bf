package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The series that a range query can be of.
const (
	seriesRate    = "rate"
	seriesErrors  = "errors"
	seriesRatio   = "error-ratio"
	seriesLatency = "latency"
)

var seriesNames = []string{seriesRate, seriesErrors, seriesRatio, seriesLatency}

const (
	maxPrometheus = 64 << 20 // bytes of a file
	maxPoints     = 2 << 20
)

// A curve is one result of a query.
type curve struct {
	metric map[string]string
	points []point
	lost   bool          // a point whose time cannot be read is skipped
	step   time.Duration // the shortest between two points, with or without data
	line   int
	path   string // in the JSON
}

type point struct {
	at    time.Duration
	value float64 // NaN: no data
	line  int
	index int
}

// prometheus reads the answer to a range query.
func (d *reader) prometheus(b *bufio.Reader, in *budget) error {
	if err := d.begin(ofRates); err != nil {
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
	step := time.Duration(math.MaxInt64) // of the query, if a curve has no holes
	for _, c := range list {
		if c.step > 0 {
			step = min(step, c.step)
		}
	}
	for i := range list {
		if list[i].step > 0 {
			list[i].step = step
		}
	}
	byStatus := len(list) > 1 || d.o.Series == seriesRate
	for _, c := range list {
		byStatus = byStatus && statusOf(c.metric) != ""
	}
	if byStatus && slices.ContainsFunc(list, func(c curve) bool { return !isServerError(statusOf(c.metric)) }) && (d.o.Series == "" || d.o.Series == seriesRate) {
		d.report.note("%s: rates by status; those of 5xx are failures, and before the first point of a status and after its last there are none of it", d.path)
		d.named(seriesErrors).coded = true
		for _, c := range list {
			if err := d.vet(seriesRate, &c); err != nil {
				return err
			}
			d.named(seriesRate).add(c)
			if isServerError(statusOf(c.metric)) {
				d.named(seriesErrors).add(c)
			}
		}
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
		if !isSum(name) && len(list) > 1 {
			return d.errorf(c.line, "%s: %d series of %s, want one: aggregate them in the query", c.path, len(list), name)
		}
		if err := d.vet(name, &c); err != nil {
			return err
		}
		d.named(name).add(c)
	}
	return nil
}

// isSum reports whether the curves of a series are added up.
func isSum(name string) bool { return name == seriesRate || name == seriesErrors }

// limits are the greatest values that make sense.
var limits = map[string]float64{seriesRatio: 100, seriesRate: 1e9, seriesErrors: 1e9, seriesLatency: maxLatency.Seconds()}

// vet takes out of a curve what a series cannot have: a value that makes no
// sense becomes none, and of two points of one instant the first one stays.
func (d *reader) vet(name string, c *curve) error {
	seen := make(map[time.Duration]float64)
	kept := c.points[:0]
	largest := 0.0
	for _, p := range c.points {
		v, again := seen[p.at]
		if again && (v == p.value || math.IsNaN(v) && math.IsNaN(p.value)) {
			d.out.skip(p.line, "equal to another point")
			continue
		}
		var rule string
		_, before := d.named(name).at[p.at]
		switch {
		case again:
			rule = fmt.Sprintf("beside %g at the same instant, want one value", v)
		case math.IsNaN(p.value):
		case !(p.value >= 0 && p.value <= limits[name]):
			rule = fmt.Sprintf("want a number from 0 to %g for %s", limits[name], name)
		case before && !isSum(name):
			rule = "a second value of " + name + " at this instant, want one"
		}
		if rule != "" {
			where := fmt.Sprintf("%s.values[%d]", c.path, p.index)
			b := &badRow{"a point", strings.TrimPrefix(rule, fmt.Sprintf("beside %g ", v)), d.bad(p.line, where, strconv.FormatFloat(p.value, 'g', -1, 64), rule)}
			if err := d.forgive(p.line, b); err != nil {
				return err
			}
			p.value = math.NaN()
		}
		if again {
			continue
		}
		seen[p.at] = p.value
		if !math.IsNaN(p.value) {
			d.out.Used++
		}
		if p.value > largest {
			largest = p.value
		}
		kept = append(kept, p)
	}
	c.points = kept
	if name == seriesRatio && largest > 1 && largest <= 2 {
		return fmt.Errorf("%s: error ratios up to %g, which are no ratios and hardly percentages: want ratios of at most 1, or percentages of which one is above 2", d.path, largest)
	}
	if name == seriesRatio && largest > 1 {
		d.report.note("%s: the ratio is a percentage, since a value is above 1", d.path)
		for i := range kept {
			kept[i].value *= 0.01
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
		return seriesRatio
	case has("err", "fail", "5xx"):
		return "" // per second or of all: the name does not tell
	case has("latency", "duration", "response_time", "response-time"):
		return seriesLatency
	case has("rate", "rps", "qps", "request", "throughput"):
		return seriesRate
	}
	return ""
}
