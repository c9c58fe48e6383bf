package traffic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// lines reads one JSON object per line.
func (d *reader) lines(b *bufio.Reader, in *budget, take func(line int, text []byte) error) error {
	if err := d.begin(ofCalls); err != nil {
		return err
	}
	var long []byte
	for line := 1; ; line++ {
		in.row()
		long = long[:0]
		text, err := b.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			long = append(long, text...)
			text, err = b.ReadSlice('\n')
		}
		if err != nil && err != io.EOF {
			return d.errorf(line, "%v", err)
		}
		if len(long) > 0 {
			long = append(long, text...)
			text = long
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			d.out.Rows++
			if e := take(line, text); e != nil {
				if e = d.forgive(line, e); e != nil {
					return e
				}
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// object decodes a line.
func (d *reader) object(line int, text []byte, v any) error {
	err := json.Unmarshal(text, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &badRow{"line", "no JSON", d.errorf(line, "byte %d: %v, want one JSON object in each line", syntax.Offset, syntax)}
	case errors.As(err, &kind):
		return &badRow{"key " + kind.Field, "of another type", d.errorf(line, "key %s: a JSON %s, want a %s", kind.Field, kind.Value, jsonType(kind.Type.Kind().String()))}
	case err != nil:
		return &badRow{"line", "no JSON", d.errorf(line, "%v", err)}
	}
	return nil
}

func jsonType(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"), strings.HasPrefix(kind, "float"):
		return "number"
	case kind == "struct", kind == "map":
		return "object"
	}
	return kind
}

func (d *reader) k6Line(line int, text []byte) error {
	var p struct {
		Type   string `json:"type"`
		Metric string `json:"metric"`
	}
	if err := d.object(line, text, &p); err != nil {
		return err
	}
	switch {
	case p.Type != "Metric" && p.Type != "Point":
		return d.bad(line, "key type", p.Type, "want Metric or Point")
	case p.Type == "Metric" || p.Metric != "http_req_duration":
		d.out.skip(line, "other metrics than http_req_duration")
		return nil
	}
	var q struct {
		Data struct {
			Time  string       `json:"time"`
			Value *json.Number `json:"value"`
			Tags  k6Tags       `json:"tags"`
		} `json:"data"`
	}
	if err := d.object(line, text, &q); err != nil {
		return err
	}
	if q.Data.Value == nil {
		return d.bad(line, "key data.value", "", "want a latency in ms")
	}
	d.stampIs(stampEnd)
	at, rule := d.time(q.Data.Time, false)
	if rule != "" {
		return d.bad(line, "key data.time", q.Data.Time, rule)
	}
	latency, rule := parseLatency(q.Data.Value.String(), "ms", false)
	if rule != "" {
		return d.bad(line, "key data.value", q.Data.Value.String(), rule)
	}
	err, rule := d.k6(line, at, latency, q.Data.Tags)
	if rule != "" {
		return d.bad(line, "key data.tags.status", q.Data.Tags.Status, rule)
	}
	return err
}

func (d *reader) vegetaLine(line int, text []byte) error {
	var p struct {
		Attack    string `json:"attack"`
		Code      *int   `json:"code"`
		Timestamp string `json:"timestamp"`
		Latency   *int64 `json:"latency"`
		Error     string `json:"error"`
	}
	if err := d.object(line, text, &p); err != nil {
		return err
	}
	if d.o.Only != "" && p.Attack != d.o.Only {
		d.out.skip(line, "not "+d.o.Only)
		return nil
	}
	d.stampIs(stampStart)
	at, rule := d.time(p.Timestamp, false)
	switch {
	case rule != "":
		return d.bad(line, "key timestamp", p.Timestamp, rule)
	case p.Code == nil:
		return d.bad(line, "key code", "", "want a status, or 0 for no answer")
	case p.Latency == nil || *p.Latency < 0 || time.Duration(*p.Latency) > maxLatency:
		return d.bad(line, "key latency", "", "want nanoseconds from 0 to 30 days")
	}
	c := Call{Latency: time.Duration(*p.Latency)}
	if rule := d.status(&c, strconv.Itoa(*p.Code), p.Error); rule != "" {
		return d.bad(line, "key code", strconv.Itoa(*p.Code), rule)
	}
	return d.call(line, at, c)
}
