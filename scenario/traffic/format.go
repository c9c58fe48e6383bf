package traffic

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/names"
)

// A Format is a kind of record.
type Format string

// The formats.
const (
	Trace      Format = "trace"      // the project's own segments
	Incidents  Format = "incidents"  // start, end, failure_rate
	AccessLog  Format = "access-log" // ts, status, duration_ms
	K6CSV      Format = "k6-csv"
	K6JSON     Format = "k6-json"
	VegetaCSV  Format = "vegeta-csv"
	VegetaJSON Format = "vegeta-json"
	JMeterCSV  Format = "jmeter-csv"
	JMeterXML  Format = "jmeter-xml"
	Hey        Format = "hey"
	Locust     Format = "locust" // *_stats_history.csv
	Prometheus Format = "prometheus"
)

// Formats lists them.
func Formats() []Format {
	return []Format{Trace, Incidents, AccessLog, K6CSV, K6JSON, VegetaCSV, VegetaJSON, JMeterCSV, JMeterXML, Hey, Locust, Prometheus}
}

// ofCalls reports whether a record of the format is one of single calls.
func (f Format) ofCalls() bool {
	return f != Trace && f != Incidents && f != Locust && f != Prometheus
}

// isCSV reports whether a record of the format is one of separated values, of
// which the last may be cut and still be one.
func (f Format) isCSV() bool {
	return f != K6JSON && f != VegetaJSON && f != JMeterXML && f != Prometheus
}

func formatNames() []string {
	var list []string
	for _, f := range Formats() {
		list = append(list, string(f))
	}
	return list
}

// The columns that make a format, in lower case; a list of alternatives is
// separated by |.
var signatures = []struct {
	format  Format
	columns []string
}{
	{K6CSV, []string{"metric_name", "timestamp", "metric_value"}},
	{JMeterCSV, []string{"timestamp", "elapsed", "success|responsecode"}},
	{Hey, []string{"response-time", "offset"}},
	{Locust, []string{"timestamp", "total request count", "total failure count"}},
	{Trace, []string{"start_s", "end_s", "node", "error_ratio"}},
	{Incidents, []string{incidentStart, incidentEnd + "|" + incidentLength, incidentRate}},
	{AccessLog, []string{accessTime, accessStatus}},
}

// detect tells the format from the beginning of a file, without byte order
// mark, and for tables the separator.
func detect(head []byte) (Format, rune) {
	text := bytes.TrimLeft(head, " \t\r\n")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	switch {
	case len(text) == 0:
		return "", ','
	case text[0] == '<':
		return JMeterXML, ','
	case text[0] == '{':
		switch {
		case bytes.Contains(line, []byte(`"latency"`)) && bytes.Contains(line, []byte(`"code"`)):
			return VegetaJSON, ','
		case bytes.Contains(line, []byte(`"type"`)) && bytes.Contains(line, []byte(`"metric"`)) && !bytes.Contains(line, []byte(`"resultType"`)):
			return K6JSON, ','
		}
		return Prometheus, ','
	}
	comma := separator(line)
	cells := headerOf(line, comma)
	if len(cells) >= 9 && isDigits(cells[0]) && len(cells[0]) >= 16 && isDigits(cells[1]) && isDigits(cells[2]) {
		return VegetaCSV, comma
	}
	for _, s := range signatures {
		if !slices.ContainsFunc(s.columns, func(c string) bool { return columnOf(cells, c) < 0 }) {
			return s.format, comma
		}
	}
	return "", comma
}

// near names the column of a header that may be a mistyped one, and the format
// it would make; "" if none is. Of several formats it is the one that has most
// of its columns.
func near(line []byte) string {
	header := headerOf(line, separator(line))
	hint, most := "", -1
	for _, s := range signatures {
		found, words := 0, ""
		for _, c := range s.columns {
			if columnOf(header, c) >= 0 {
				found++
				continue
			}
			wrong, right := nearest(header, strings.Split(c, "|"))
			if right == "" {
				words = ""
				break
			}
			if words == "" {
				words = fmt.Sprintf("column %s: did you mean %q, of the format %s", clip(wrong), right, s.format)
			}
		}
		if words != "" && found > most {
			hint, most = words, found
		}
	}
	return hint
}

// nearest finds the pair that is nearest of cells and names of columns; both are
// empty if none is near.
func nearest(header, columns []string) (cell, column string) {
	for _, cell := range header {
		if column := names.Nearest(cell, columns); column != "" {
			return cell, column
		}
	}
	return "", ""
}

// separator is the one of , ; tab and | that a line has most of, outside
// quotes.
func separator(line []byte) rune {
	var count [128]int
	quoted := false
	for _, c := range line {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted && c < 128 {
			count[c]++
		}
	}
	best := ','
	for _, c := range ";\t|" {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

func headerOf(line []byte, comma rune) []string {
	c := csv.NewReader(bytes.NewReader(line))
	c.Comma = comma
	c.LazyQuotes = true
	cells, _ := c.Read()
	for i := range cells {
		cells[i] = headerName(cells[i])
	}
	return cells
}

func headerName(cell string) string { return strings.ToLower(strings.TrimSpace(cell)) }

// columnOf finds the first of some names, separated by |, in the order in
// which they are listed; -1 if there is none.
func columnOf(header []string, names string) int {
	for name := range strings.SplitSeq(names, "|") {
		if i := slices.Index(header, name); i >= 0 {
			return i
		}
	}
	return -1
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
