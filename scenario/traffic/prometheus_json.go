package traffic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// A walker reads an answer token by token, so that it knows the line.
type walker struct {
	d      *reader
	data   []byte
	json   *json.Decoder
	offset int64
	line0  int
	points int
}

func (w *walker) line() int {
	at := min(w.json.InputOffset(), int64(len(w.data)))
	w.line0 += bytes.Count(w.data[w.offset:at], []byte("\n"))
	w.offset = at
	return w.line0 + 1
}

func (w *walker) fail(path string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the file ends in the middle")
	}
	return w.d.errorf(w.line(), "%s: %v, want the answer to a range query of Prometheus", path, err)
}

// open wants the beginning of an object or array.
func (w *walker) open(path string, want json.Delim) error {
	t, err := w.json.Token()
	if err == nil && t != want {
		err = fmt.Errorf("%s in place of %v", clip(fmt.Sprint(t)), want)
	}
	if err != nil {
		return w.fail(path, err)
	}
	return nil
}

// object calls take for each key, and skips the value of one that take does
// not know.
func (w *walker) object(path string, take func(key string) (known bool, err error)) error {
	if err := w.open(path, '{'); err != nil {
		return err
	}
	for w.json.More() {
		key, err := w.json.Token()
		if err != nil {
			return w.fail(path, err)
		}
		name, _ := key.(string)
		known, err := take(name)
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		if !known {
			if err := w.json.Decode(&skipped); err != nil {
				return w.fail(path+clip(name), err)
			}
		}
	}
	return w.close(path)
}

func (w *walker) close(path string) error {
	if _, err := w.json.Token(); err != nil {
		return w.fail(path, err)
	}
	return nil
}

func (w *walker) value(path string, v any) error {
	if err := w.json.Decode(v); err != nil {
		return w.fail(path, err)
	}
	return nil
}

func (w *walker) answer() (list []curve, err error) {
	var status, problem, kind string
	found := false
	err = w.object("file", func(key string) (bool, error) {
		switch key {
		case "status":
			return true, w.value(key, &status)
		case "error":
			return true, w.value(key, &problem)
		case "data":
			found = true
			return true, w.object(key, func(key string) (bool, error) {
				switch key {
				case "resultType":
					return true, w.value("data."+key, &kind)
				case "result":
					list, err = w.curves()
					return true, err
				}
				return false, nil
			})
		}
		return false, nil
	})
	switch {
	case status == "error":
		return nil, w.d.errorf(w.line(), "status: the query has failed: %s", clip(problem))
	case kind != "" && kind != "matrix":
		return nil, w.d.errorf(w.line(), "data.resultType: %q, want matrix, the answer to a range query", clip(kind))
	case err != nil:
		return nil, err
	case !found:
		return nil, w.d.errorf(1, "data: missing, want the answer to a range query of Prometheus")
	}
	if t, err := w.json.Token(); err != io.EOF {
		return nil, w.fail("file", fmt.Errorf("%v after the end", clip(fmt.Sprint(t))))
	}
	return list, nil
}

func (w *walker) curves() (list []curve, err error) {
	if err := w.open("data.result", '['); err != nil {
		return nil, err
	}
	for w.json.More() {
		c := curve{path: fmt.Sprintf("data.result[%d]", len(list)), line: w.line()}
		err := w.object(c.path, func(key string) (bool, error) {
			switch key {
			case "metric":
				return true, w.value(c.path+".metric", &c.metric)
			case "values":
				return true, w.values(&c)
			}
			return false, nil
		})
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, w.close("data.result")
}

func (w *walker) values(c *curve) error {
	path := c.path + ".values"
	if err := w.open(path, '['); err != nil {
		return err
	}
	last := time.Duration(-1)
	for i := 0; w.json.More(); i++ {
		var raw []any
		where := fmt.Sprintf("%s[%d]", path, i)
		if err := w.value(where, &raw); err != nil {
			return err
		}
		line := w.line()
		w.d.out.Rows++
		if w.points++; w.points > maxPoints {
			return w.d.errorf(line, "%s: more than %d points, want a longer step", where, maxPoints)
		}
		p := point{line: line, index: i}
		if err := w.d.forgive(line, w.point(where, raw, &p)); err != nil {
			return err
		}
		if p.at < 0 {
			c.lost = true
			continue
		}
		if step := p.at - last; last >= 0 && step > 0 && (c.step == 0 || step < c.step) {
			c.step = step
		}
		last = p.at
		c.points = append(c.points, p)
	}
	return w.close(path)
}

// point reads [time, "value"]. What cannot be read is a value of NaN, or a time
// before 0.
func (w *walker) point(where string, raw []any, p *point) error {
	p.at, p.value = -1, math.NaN()
	if len(raw) != 2 {
		return w.d.bad(p.line, where, fmt.Sprint(raw...), `want [time, "value"]`)
	}
	at, rule := w.d.time(fmt.Sprint(raw[0]), false)
	if rule != "" {
		return w.d.bad(p.line, where, fmt.Sprint(raw[0]), rule)
	}
	p.at = at
	text := fmt.Sprint(raw[1])
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return w.d.bad(p.line, where, text, "want a number")
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.d.out.skip(p.line, "NaN or infinite: no data")
		return nil
	}
	p.value = v
	return nil
}
