package experiments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// policyGrammar is how a breaker's rule is written on the command line.
const policyGrammar = "KIND-SIZE-MINIMUM-PERCENT[-slow-DURATION-PERCENT[-inflight]], " +
	"such as count-20-20-50, time-10s-20-20, buckets-10s/10-20-50 or count-20-10-50-slow-1s-50"

// A policySpec is a trip rule as written: count-20-10-50 is a window of the
// last 20 outcomes, at least 10 of them, that trips at 50 % failures or more.
type policySpec struct {
	rule     policies.RuleConfig
	inFlight bool // slow calls count while they are still in flight
}

// parsePolicy reads a policySpec, see policyGrammar.
func parsePolicy(text string) (policySpec, error) {
	s, err := parsePolicyFields(text)
	if err != nil {
		return policySpec{}, fmt.Errorf("%q: %w; want %s", text, err, policyGrammar)
	}
	if err := s.rule.Validate(); err != nil {
		return policySpec{}, fmt.Errorf("%q: %w", text, err)
	}
	return s, nil
}

func parsePolicyFields(text string) (s policySpec, err error) {
	fields := strings.Split(text, "-")
	if len(fields) != 4 && (len(fields) < 7 || fields[4] != "slow" || len(fields) > 8) {
		return s, fmt.Errorf("%d fields", len(fields))
	}
	r := &s.rule
	if err := parseWindow(fields[0], fields[1], &r.Window); err != nil {
		return s, err
	}
	if r.MinCalls, err = strconv.Atoi(fields[2]); err != nil {
		return s, fmt.Errorf("minimum %q is no whole number", fields[2])
	}
	if r.FailureRate, err = parsePercent(fields[3]); err != nil {
		return s, err
	}
	if len(fields) == 4 {
		return s, nil
	}
	if r.SlowAfter, err = time.ParseDuration(fields[5]); err != nil {
		return s, fmt.Errorf("slow after %q is no duration", fields[5])
	}
	if r.SlowRate, err = parsePercent(fields[6]); err != nil {
		return s, err
	}
	if len(fields) == 8 {
		if fields[7] != "inflight" {
			return s, fmt.Errorf("%q is not inflight", fields[7])
		}
		s.inFlight = true
	}
	return s, nil
}

func parseWindow(kind, size string, w *policies.WindowConfig) (err error) {
	w.Kind = policies.WindowKind(kind)
	switch w.Kind {
	case policies.CountWindow:
		if w.Calls, err = strconv.Atoi(size); err != nil {
			return fmt.Errorf("size %q is no number of calls", size)
		}
		return nil
	case policies.BucketWindow:
		length, buckets, ok := strings.Cut(size, "/")
		w.Buckets = 10
		if ok {
			if w.Buckets, err = strconv.Atoi(buckets); err != nil {
				return fmt.Errorf("buckets %q is no whole number", buckets)
			}
		}
		size = length
	case policies.TimeWindow:
	default:
		return fmt.Errorf("window kind %q is none of count, time, buckets", kind)
	}
	if w.Length, err = time.ParseDuration(size); err != nil {
		return fmt.Errorf("size %q is no duration", size)
	}
	return nil
}

// parsePercent reads 12.5 as the ratio 0.125; the decimal point is moved in
// the text, so that 7 gives the same float64 as 0.07.
func parsePercent(text string) (float64, error) {
	if _, err := parseNumber(text); err != nil || strings.ContainsAny(text, "eE") {
		return 0, fmt.Errorf("percentage %q is no decimal number", text)
	}
	return strconv.ParseFloat(text+"e-2", 64)
}

func formatPercent(ratio float64) string {
	return strconv.FormatFloat(ratio*100, 'g', 6, 64) + " %"
}

// String says the rule in words: "count 20, min 20, ≥ 50 %".
func (s policySpec) String() string {
	r := s.rule
	var b strings.Builder
	switch r.Window.Kind {
	case policies.CountWindow:
		fmt.Fprintf(&b, "count %d", r.Window.Calls)
	case policies.TimeWindow:
		fmt.Fprintf(&b, "time %s", formatDuration(r.Window.Length))
	default:
		fmt.Fprintf(&b, "%d × %s buckets", r.Window.Buckets, formatDuration(r.Window.Length/time.Duration(r.Window.Buckets)))
	}
	fmt.Fprintf(&b, ", min %d", r.EffectiveMinCalls())
	if r.FailureRate > 0 {
		fmt.Fprintf(&b, ", ≥ %s", formatPercent(r.FailureRate))
	}
	if r.SlowRate > 0 {
		fmt.Fprintf(&b, ", slow > %s ≥ %s", formatDuration(r.SlowAfter), formatPercent(r.SlowRate))
	}
	if s.inFlight {
		b.WriteString(", in flight")
	}
	return b.String()
}

// formatDuration writes 10s as "10 s" and 200ms as "200 ms".
func formatDuration(d time.Duration) string {
	text := d.String()
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	}
	unit := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if strings.ContainsAny(text[unit+1:], "0123456789") {
		return text // several units: 1m0.5s
	}
	return text[:unit] + " " + text[unit:]
}

// policyFactor declares the trip rules under test.
func policyFactor(levels ...string) Factor {
	return Factor{
		Name:   "policy",
		Doc:    "breaker rule: " + policyGrammar,
		Levels: slices.Clone(levels),
		Panel:  true,
		label: func(text string) string {
			s, err := parsePolicy(text)
			if err != nil {
				return text
			}
			return s.String()
		},
		check: func(text string) (string, error) {
			if _, err := parsePolicy(text); err != nil {
				return "", fmt.Errorf("breaker %w", err)
			}
			return text, nil
		},
	}
}

// failurePolicyFactor declares trip rules for traces without latencies, where
// no call is slow.
func failurePolicyFactor(levels ...string) Factor {
	f := policyFactor(levels...)
	any := f.check
	f.check = func(text string) (string, error) {
		if s, err := parsePolicy(text); err == nil && s.rule.SlowRate > 0 {
			return "", fmt.Errorf("breaker %q: slow-call rule, want a failure rate only: calls here take no time", text)
		}
		return any(text)
	}
	return f
}

// policy returns the parsed policy level of a cell, which its check accepted.
func (c Cell) policy() policySpec {
	s, err := parsePolicy(c.Text("policy"))
	if err != nil {
		panic(err)
	}
	return s
}
