package traffic

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the nanoseconds of a unit.
var units = map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}

// lastStamp is the end of the year 2200 in nanoseconds since 1970.
const lastStamp = 7_289_654_400_000_000_000

// A stamper reads the time stamps of one file, of which the first decides
// about the others.
type stamper struct {
	unit   string // of numbers; asked for or found
	asked  bool
	zone   *time.Location
	noZone bool
	kind   string // of the first: a unit, inWords or relative
	parted bool   // some stamp has digits below a second
	fine   bool   // below a millisecond
}

// Kinds of time stamps besides numbers since 1970, whose kind is their unit.
const (
	relative = "relative" // seconds since an unknown instant
	inWords  = "text"
)

// relative reports whether times are counted from an unknown instant.
func (s *stamper) relative() bool { return s.kind == relative }

// words says how the stamps were understood.
func (s *stamper) words() string {
	switch {
	case s.kind == "":
		return ""
	case s.kind == inWords && s.noZone:
		return "date and time, no zone: " + s.zone.String()
	case s.kind == inWords:
		return "date and time"
	case s.kind == relative:
		return s.unit + " since an unknown instant"
	}
	return s.unit + " since 1970"
}

const stampRule = "want a time such as 1760000000, 1760000000123 or 2026-03-02T10:15:07Z"

// layouts of times in words; Parse takes a fraction after the seconds as well.
var layouts = []struct {
	layout string
	zoned  bool
}{
	{"2006-01-02T15:04:05Z07:00", true}, {"2006-01-02T15:04:05Z0700", true},
	{"2006-01-02 15:04:05Z07:00", true}, {"2006-01-02 15:04:05 -0700", true},
	{"02/Jan/2006:15:04:05 -0700", true}, {"[02/Jan/2006:15:04:05 -0700]", true},
	{"2006-01-02T15:04:05", false}, {"2006-01-02 15:04:05", false}, {"2006/01/02 15:04:05", false},
	{"2006-01-02 15:04", false}, {"2006-01-02T15:04", false},
}

// parse returns nanoseconds since 1970 or, if relative, since the unknown
// instant; rule is what is wrong.
func (s *stamper) parse(text string, decimalComma bool) (ns int64, rule string) {
	kind := inWords
	number := text
	if decimalComma {
		number = strings.Replace(text, ",", ".", 1)
	}
	if f, err := strconv.ParseFloat(number, 64); err == nil {
		if strings.ContainsAny(number, "eE") && !math.IsInf(f, 0) {
			return 0, "a number that a spreadsheet has shortened: digits are lost, want the file as it was written"
		}
		ns, kind, rule = s.number(number)
	} else {
		ns, rule = s.text(text)
	}
	if rule != "" {
		return 0, rule
	}
	if s.kind == "" {
		s.kind = kind
	}
	if kind != s.kind {
		return 0, fmt.Sprintf("a time in %s after one in %s, want all alike", kindWords(kind), kindWords(s.kind))
	}
	s.parted = s.parted || ns%1e9 != 0
	s.fine = s.fine || ns%1e6 != 0
	return ns, ""
}

func kindWords(kind string) string {
	switch kind {
	case inWords:
		return "words"
	case relative:
		return "seconds of a run"
	}
	return kind + " since 1970"
}

// number reads a decimal number exactly.
func (s *stamper) number(text string) (ns int64, kind, rule string) {
	whole, fraction, _ := strings.Cut(text, ".")
	if !isDigits(whole) || fraction != "" && !isDigits(fraction) {
		return 0, "", stampRule
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, "", stampRule
	}
	unit := s.unit
	if !s.asked {
		unit = unitOf(n)
	}
	kind = unit
	scale := units[cmp.Or(unit, "s")]
	if unit == relative || s.asked && n < 1e8*(1e9/scale) {
		kind = relative
	}
	if unit == relative {
		unit, scale = "s", 1e9
	}
	if s.unit == "" {
		s.unit = unit
	}
	if n >= lastStamp/scale {
		return 0, "", "after the year 2200, " + stampRule
	}
	ns = n * scale
	for _, digit := range fraction {
		if scale /= 10; scale == 0 {
			break
		}
		ns += int64(digit-'0') * scale
	}
	return ns, kind, ""
}

// unitOf tells the unit of a time since 1970 by its size; what is less than
// three years of seconds is no such time.
func unitOf(n int64) string {
	switch {
	case n < 1e8:
		return relative
	case n < 1e11:
		return "s"
	case n < 1e14:
		return "ms"
	case n < 1e17:
		return "us"
	}
	return "ns"
}

func (s *stamper) text(text string) (int64, string) {
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, text, s.zone)
		if err != nil {
			continue
		}
		if t.Unix() < 0 || t.Unix() >= lastStamp/1e9 {
			return 0, fmt.Sprintf("in the year %d, want 1970 to 2200", t.Year())
		}
		s.noZone = s.noZone || !l.zoned
		return t.UnixNano(), ""
	}
	return 0, stampRule
}

// maxLatency is the longest time that a call is believed to take.
const maxLatency = 30 * 24 * time.Hour

// parseLatency reads a latency in a unit, or with a unit of its own.
func parseLatency(text, unit string, decimalComma bool) (d time.Duration, rule string) {
	const want = "want a latency from 0 to 30 days"
	if decimalComma {
		text = strings.Replace(text, ",", ".", 1)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, err = time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if err != nil || d < 0 || d > maxLatency {
			return 0, want + ", in " + cmp.Or(unit, "a unit")
		}
		return d, ""
	}
	if unit == "" {
		return 0, "has no unit, want one in the name of its column such as duration_ms, or the option latency-unit"
	}
	f = math.Round(f * float64(units[unit]))
	if !(f >= 0 && f <= float64(maxLatency)) {
		return 0, want + ", in " + unit
	}
	return time.Duration(f), ""
}
