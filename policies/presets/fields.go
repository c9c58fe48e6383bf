package presets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// fields checks the fields of a configuration and keeps the first error, which
// names the library, the field, its value and what would be right.
type fields struct {
	library string
	err     error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("presets: "+f.library+": "+format, args...)
	}
}

// maxCount and maxSpan bound what is configured, so that a slip of the pen
// cannot exhaust the memory or the range of an int64.
const (
	maxCount = 1 << 24
	maxSpan  = 365 * 24 * time.Hour
)

func (f *fields) count(name string, n, least int) {
	if n < least || n > maxCount {
		f.fail("%s %d, want %d to %d", name, n, least, maxCount)
	}
}

func (f *fields) duration(name string, d, least time.Duration) {
	if d < least || d > maxSpan {
		f.fail("%s %v, want %v to %v", name, d, least, maxSpan)
	}
}

// milliseconds is duration for a field that the library keeps in whole ms.
func (f *fields) milliseconds(name string, d, least time.Duration) {
	f.duration(name, d, least)
	if d%time.Millisecond != 0 {
		f.fail("%s %v, want whole milliseconds", name, d)
	}
}

func (f *fields) within(name string, x, low, high float64) {
	if !(x >= low && x <= high) {
		f.fail("%s %v, want %v to %v", name, x, low, high)
	}
}

func (f *fields) atLeast(name string, x, low float64) {
	if !(x >= low) || math.IsInf(x, 0) {
		f.fail("%s %v, want %v or more", name, x, low)
	}
}

// above is atLeast without the border.
func (f *fields) above(name string, x, low float64) {
	if !(x > low) || math.IsInf(x, 0) {
		f.fail("%s %v, want above %v", name, x, low)
	}
}

func (f *fields) oneOf(name, value string, known ...string) {
	if !slices.Contains(known, value) {
		f.fail("%s %q, want one of %s", name, value, strings.Join(known, ", "))
	}
}
