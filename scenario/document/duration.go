package document

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// isoForm has a group for each part; which of them may have a fraction is not
// its business.
var isoForm = func() *regexp.Regexp {
	part := func(unit string) string { return `(?:(\d+(?:[.,]\d{0,9})?)` + unit + `)?` }
	return regexp.MustCompile("^[Pp]" + part("[Ww]") + part("[Dd]") + "(?:[Tt]" + part("[Hh]") + part("[Mm]") + part("[Ss]") + ")?$")
}()

// isoSeconds are those of the parts.
var isoSeconds = []int64{7 * 86400, 86400, 3600, 60, 1}

// ParseISO reads a duration of ISO 8601 from 0s to the longest that there is,
// 292 years: weeks, days, hours, minutes and seconds in this order, such as P2W,
// P1DT2H or PT0.5S, in letters of either case. The last part may have a fraction
// of up to 9 digits after a point or a comma. Years and months have no fixed
// length and are refused.
func ParseISO(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no duration of ISO 8601, want one such as P1DT2H or PT0.5S", text)
	parts := isoForm.FindStringSubmatch(text)
	if parts == nil || strings.ContainsAny(text[len(text)-1:], "PpTt") {
		return 0, bad
	}
	var sum int64
	broken := false // a part had a fraction
	for i, part := range parts[1:] {
		if part == "" {
			continue
		}
		if broken {
			return 0, bad
		}
		var whole, fraction string
		if at := strings.IndexAny(part, ".,"); at < 0 {
			whole = part
		} else {
			whole, fraction, broken = part[:at], part[at+1:], true
		}
		n, err := strconv.ParseInt(whole, 10, 64)
		nanoseconds, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64) // of a second
		more := nanoseconds * isoSeconds[i]
		if err != nil || more > math.MaxInt64-sum || n > (math.MaxInt64-sum-more)/(isoSeconds[i]*1e9) {
			return 0, fmt.Errorf("%q is too long, want at most 292 years", text)
		}
		sum += n*isoSeconds[i]*1e9 + more
	}
	return time.Duration(sum), nil
}
