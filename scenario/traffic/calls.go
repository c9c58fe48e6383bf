package traffic

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// Columns of an access log as CSV, the preferred name first.
const (
	accessTime    = "ts|time|timestamp|datetime|date|time_local|time_iso8601|msec"
	accessCode    = "status|code|status_code|response_code"
	accessSuccess = "success|ok"
	accessStatus  = accessCode + "|" + accessSuccess + "|failed|error"
	accessLatency = "duration_ms|latency_ms|elapsed_ms|response_time_ms|duration_us|latency_us|duration_ns|latency_ns|" +
		"duration_s|latency_s|duration_seconds|latency_seconds|request_time|duration|latency|elapsed|response_time"
)

// callColumns name the columns of one call in a row.
type callColumns struct {
	time, stamp   string
	latency, unit string // no unit: the name of the column tells
	status        string
	success       string // decides, if it is there
	text          string // of an error
	name          string
}

// unitOfColumn is the unit that a column's name ends in.
func (d *reader) unitOfColumn(name string) string {
	for _, u := range []struct{ suffix, unit string }{{"_ms", "ms"}, {"_us", "us"}, {"_ns", "ns"}, {"_s", "s"}, {"_seconds", "s"}, {"request_time", "s"}} {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return d.o.LatencyUnit
}

// callRows reads a call in each row.
func (d *reader) callRows(s *sheet, c callColumns) (func() error, error) {
	at, err := s.need(c.time)
	if err != nil {
		return nil, err
	}
	d.stampIs(c.stamp)
	s.tell("time stamps", at, c.time)
	latency, success, text, name := s.choose("latencies", c.latency), s.column(c.success), s.column(c.text), s.column(c.name)
	status := s.column(c.status)
	failed := -1
	if status >= 0 {
		switch s.header[status] {
		case "success", "ok":
			status, success = -1, status
		case "failed":
			status, failed = -1, status
		case "error":
			status, text = -1, status
		}
	}
	s.tell("statuses", status, accessCode)
	if success >= 0 {
		s.tell("successes", success, accessSuccess+"|failed")
	} else {
		s.tell("failures", status, "failed")
	}
	if success >= 0 {
		d.report.note("%s: failed is what the column %s says", d.path, s.header[success])
	} else if status < 0 && failed < 0 && text < 0 {
		return nil, d.errorf(s.line, "column %s: missing, want to know which calls failed", strings.ReplaceAll(c.status, "|", " or "))
	}
	if d.o.Only != "" {
		s.tell("names", name, c.name)
	}
	if d.o.Only != "" && name < 0 {
		return nil, d.errorf(s.line, "column %s: missing, want to know which calls are %q", strings.ReplaceAll(c.name, "|", " or "), d.o.Only)
	}
	unit := c.unit
	if latency < 0 {
		d.report.note("%s: no latencies, so a call ends when it starts", d.path)
	} else if unit == "" {
		unit = d.unitOfColumn(s.header[latency])
	}
	return func() error {
		if d.o.Only != "" && s.cell(name) != d.o.Only {
			d.out.skip(s.line, "not "+d.o.Only)
			return nil
		}
		var call Call
		t, rule := d.time(s.cell(at), s.decimalComma())
		if rule != "" {
			return s.bad(at, rule)
		}
		if cell := s.cell(latency); cell != "" && cell != "-" {
			if call.Latency, rule = parseLatency(cell, unit, s.decimalComma()); rule != "" {
				return s.bad(latency, rule)
			}
		}
		if status >= 0 {
			if rule := d.status(&call, s.cell(status), s.cell(text)); rule != "" && success < 0 {
				return s.bad(status, rule)
			}
		} else if text >= 0 {
			call.Failed, call.Code = !isNone(s.cell(text)), codeOfText(s.cell(text))
		}
		for _, flag := range []struct {
			column int
			good   bool
		}{{success, true}, {failed, false}} {
			if flag.column < 0 {
				continue
			}
			v, err := strconv.ParseBool(strings.ToLower(s.cell(flag.column)))
			if err != nil {
				return s.bad(flag.column, "want true or false")
			}
			call.Failed = v != flag.good
		}
		return d.call(s.line, t, call)
	}, nil
}

func isNone(text string) bool {
	switch strings.ToLower(text) {
	case "", "-", "0", "false", "null", "none", "no", "ok":
		return true
	}
	return false
}

// status says whether a call failed; text is that of an error if there is one.
func (d *reader) status(c *Call, status, text string) (rule string) {
	n, err := strconv.Atoi(status)
	switch {
	case status == "" || status == "-" || status == "0":
		c.Failed, c.Code = true, codeOfText(text)
		return ""
	case err != nil && strings.HasPrefix(status, "Non HTTP"): // JMeter: an exception
		c.Failed, c.Code = true, codeOfText(status+" "+text)
		return ""
	case err != nil || n < 100 || n > 599:
		return "want a status from 100 to 599, or 0 for no answer"
	}
	c.Code = policies.ErrorCode(n)
	c.Failed = n >= d.o.FailFrom || n == 499
	if n == 499 {
		d.left++
	}
	return ""
}

// codeOfText tells by its words what the error of a call without an answer
// was. An address before it, which clients in Go put in quotes, is none of
// them.
func codeOfText(text string) policies.ErrorCode {
	text = strings.ToLower(text[strings.LastIndex(text, `": `)+1:])
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	timeout := has("timeout", "timed out", "time-out", "deadline exceeded")
	switch {
	case timeout && has("dial", "connecttimeout", "connect timed out", "connection timed out", "connect timeout"):
		return policies.ErrConnectTimeout
	case timeout:
		return policies.ErrTimeout
	case has("reset", "broken pipe", "failed to respond") || strings.HasSuffix(text, "eof"):
		return policies.ErrReset
	case has("refused", "connectexception", "hostconnectexception"):
		return policies.ErrConnect
	}
	return policies.ErrOther
}

// k6Rows reads one metric in each row: calls are those of the duration.
func (d *reader) k6Rows(s *sheet) (func() error, error) {
	metric, err := s.need("metric_name")
	if err != nil {
		return nil, err
	}
	value, err := s.need("metric_value")
	if err != nil {
		return nil, err
	}
	at, err := s.need("timestamp")
	if err != nil {
		return nil, err
	}
	d.stampIs(stampEnd)
	status, text, expected, name := s.column("status"), s.column("error"), s.column("expected_response"), s.column("name")
	if status < 0 && expected < 0 {
		return nil, d.errorf(s.line, "column status or expected_response: missing, want to know which calls failed")
	}
	return func() error {
		if m := s.cell(metric); m != "http_req_duration" {
			d.out.skip(s.line, "other metrics than http_req_duration")
			return nil
		}
		t, rule := d.time(s.cell(at), s.decimalComma())
		if rule != "" {
			return s.bad(at, rule)
		}
		latency, rule := parseLatency(s.cell(value), "ms", s.decimalComma())
		if rule != "" {
			return s.bad(value, rule)
		}
		column := status
		if status < 0 {
			column = expected
		}
		where, rule := d.k6(s.line, t, latency, k6Tags{s.cell(status), s.cell(text), s.cell(expected), s.cell(name)})
		if rule != "" {
			return s.bad(column, rule)
		}
		return where
	}, nil
}

// k6Tags are what k6 says of a call.
type k6Tags struct {
	Status   string `json:"status"`
	Error    string `json:"error"`
	Expected string `json:"expected_response"`
	Name     string `json:"name"`
}

// k6 takes a call.
func (d *reader) k6(line int, at, latency time.Duration, tags k6Tags) (err error, rule string) {
	if d.o.Only != "" && tags.Name != d.o.Only {
		d.out.skip(line, "not "+d.o.Only)
		return nil, ""
	}
	c := Call{Latency: latency}
	if tags.Status != "" || tags.Expected == "" {
		if rule := d.status(&c, tags.Status, tags.Error); rule != "" {
			return nil, rule
		}
	} else {
		c.Failed = tags.Expected == "false"
	}
	return d.call(line, at, c), ""
}
