package experiments

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
)

// timeoutGrammar is how a rule for a timeout is written on the command line.
const timeoutGrammar = "mean-TIMES or pPERCENT[-plus-PERCENT], such as mean-3, p99 or p99-plus-20"

// A timeoutRule makes a timeout from a latency law: a multiple of the mean, or
// a percentile and a margin.
type timeoutRule struct {
	times    float64 // of the mean; 0 for a percentile
	quantile float64 // as a ratio
	margin   float64 // added to the percentile, as a share of it
	text     string  // canonical
}

// parseTimeoutRule reads a timeoutRule, see timeoutGrammar.
func parseTimeoutRule(text string) (timeoutRule, error) {
	fail := func(format string, a ...any) (timeoutRule, error) {
		return timeoutRule{}, fmt.Errorf("timeout %q: %s, want %s", text, fmt.Sprintf(format, a...), timeoutGrammar)
	}
	var r timeoutRule
	if times, ok := strings.CutPrefix(text, "mean-"); ok {
		v, err := parseNumber(times)
		if err != nil || !(v > 0 && v <= 1e6) {
			return fail("%q is no number above 0 and at most 1000000", times)
		}
		r.times, r.text = v, "mean-"+formatNumber(v)
		return r, nil
	}
	rest, ok := strings.CutPrefix(text, "p")
	if !ok {
		return fail("neither mean nor a percentile")
	}
	percentile, margin, more := strings.Cut(rest, "-plus-")
	var err error
	if r.quantile, err = parsePercent(percentile); err != nil || !(r.quantile > 0 && r.quantile < 1) {
		return fail("percentile %q is no number above 0 and below 100", percentile)
	}
	r.text = "p" + strconv.FormatFloat(100*r.quantile, 'g', 12, 64)
	if more {
		if r.margin, err = parsePercent(margin); err != nil || !(r.margin >= 0 && r.margin <= 1000) {
			return fail("margin %q is no number from 0 to 100000", margin)
		}
		r.text += "-plus-" + strconv.FormatFloat(100*r.margin, 'g', 12, 64)
	}
	return r, nil
}

// String says the rule in words: "mean × 3", "P99 + 20 %".
func (r timeoutRule) String() string {
	if r.times > 0 {
		return "mean × " + formatNumber(r.times)
	}
	text := "P" + strconv.FormatFloat(100*r.quantile, 'g', 12, 64)
	if r.margin > 0 {
		text += " + " + formatPercent(r.margin)
	}
	return text
}

// of is the timeout that the rule makes of a law.
func (r timeoutRule) of(l model.Law) time.Duration {
	if r.times > 0 {
		return seconds(r.times * latencyMean(l))
	}
	return seconds(l.Quantile(r.quantile).Seconds() * (1 + r.margin))
}

// timeoutFactor declares rules for a timeout.
func timeoutFactor(name string, levels ...string) Factor {
	return Factor{
		Name: name, Doc: "timeout of an attempt, from the latency law: " + timeoutGrammar, Levels: levels,
		label: func(level string) string {
			r, err := parseTimeoutRule(level)
			if err != nil {
				return level
			}
			return r.String()
		},
		check: func(text string) (string, error) {
			r, err := parseTimeoutRule(text)
			return r.text, err
		},
	}
}
