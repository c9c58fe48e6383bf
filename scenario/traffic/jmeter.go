package traffic

import (
	"bufio"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// maxDepth is how deep elements may be nested.
const maxDepth = 100

// jmeterXML reads the samples directly below the root; those within samples
// are parts of them.
func (d *reader) jmeterXML(b *bufio.Reader, in *budget) error {
	if err := d.begin(ofCalls); err != nil {
		return err
	}
	d.stampIs(stampStart)
	x := xml.NewDecoder(b)
	depth := 0
	for {
		in.row()
		token, err := x.RawToken()
		line, _ := x.InputPos()
		if err == io.EOF && depth == 0 {
			return nil
		}
		if err == io.EOF {
			return d.errorf(line, "the file ends within an element, want </testResults>")
		}
		if err != nil {
			return d.errorf(line, "%v", err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return d.errorf(line, "elements nested more than %d deep, want samples below testResults", maxDepth)
			}
			if depth == 1 && t.Name.Local != "testResults" {
				return d.errorf(line, "element %s, want testResults of JMeter", clip(t.Name.Local))
			}
			if name := t.Name.Local; name != "httpSample" && name != "sample" {
				continue
			}
			d.out.Rows++
			if depth > 2 {
				d.out.skip(line, "parts of a sample")
				continue
			}
			if err := d.forgive(line, d.sample(line, t.Attr)); err != nil {
				return err
			}
		}
		if depth < 0 {
			return d.errorf(line, "an element ends that did not begin")
		}
	}
}

func (d *reader) sample(line int, attributes []xml.Attr) error {
	at := make(map[string]string)
	for _, a := range attributes {
		at[a.Name.Local] = strings.TrimSpace(a.Value)
	}
	if d.o.Only != "" && at["lb"] != d.o.Only {
		d.out.skip(line, "not "+d.o.Only)
		return nil
	}
	t, rule := d.time(at["ts"], false)
	if rule != "" {
		return d.bad(line, "attribute ts", at["ts"], rule)
	}
	var c Call
	if c.Latency, rule = parseLatency(at["t"], "ms", false); rule != "" {
		return d.bad(line, "attribute t", at["t"], rule)
	}
	rule = d.status(&c, at["rc"], at["rm"])
	if s, given := at["s"]; given {
		good, err := strconv.ParseBool(strings.ToLower(s))
		if err != nil {
			return d.bad(line, "attribute s", s, "want true or false")
		}
		c.Failed = !good
		d.report.note("%s: failed is what the attribute s says", d.path)
	} else if rule != "" {
		return d.bad(line, "attribute rc", at["rc"], rule)
	}
	return d.call(line, t, c)
}
