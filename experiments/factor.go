package experiments

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/names"
)

// maxLevels bounds the levels of one factor.
const maxLevels = 10_000

// A Factor is one axis of an experiment.
type Factor struct {
	Name   string
	Doc    string
	Levels []string // default levels, in canonical form

	// Panel marks a factor whose levels share one run: they watch the same
	// traffic and cannot change it.
	Panel bool

	numeric bool
	label   func(level string) string // in words; nil if the level speaks for itself
	check   func(text string) (canonical string, err error)
}

// number declares a numeric factor with values from lo to hi.
func number(name, doc string, lo, hi float64, levels ...float64) Factor {
	f := Factor{Name: name, Doc: doc, numeric: true}
	f.check = func(text string) (string, error) {
		v, err := parseNumber(text)
		if err != nil {
			return "", err
		}
		if v < lo || v > hi {
			return "", fmt.Errorf("%s, want a number from %s to %s", text, formatNumber(lo), formatNumber(hi))
		}
		return formatNumber(v), nil
	}
	for _, v := range levels {
		f.Levels = append(f.Levels, formatNumber(v))
	}
	return f
}

// positive declares a numeric factor with values above 0, up to hi.
func positive(name, doc string, hi float64, levels ...float64) Factor {
	f := number(name, doc, 0, hi, levels...)
	inRange := f.check
	f.check = func(text string) (string, error) {
		v, err := parseNumber(text)
		if err != nil {
			return "", err
		}
		if v <= 0 || v > hi {
			return "", fmt.Errorf("%s, want a number above 0 and at most %s", text, formatNumber(hi))
		}
		return inRange(text)
	}
	return f
}

// whole declares a numeric factor with whole values from lo to hi.
func whole(name, doc string, lo, hi float64, levels ...float64) Factor {
	f := number(name, doc, lo, hi, levels...)
	inRange := f.check
	f.check = func(text string) (string, error) {
		canonical, err := inRange(text)
		if err != nil {
			return "", err
		}
		if v, _ := parseNumber(canonical); v != math.Trunc(v) {
			return "", fmt.Errorf("%s, want a whole number", text)
		}
		return canonical, nil
	}
	return f
}

// choice declares a factor whose levels are words; the first defaults of
// choices are the default levels.
func choice(name, doc string, choices []string, defaults int) Factor {
	return Factor{
		Name:   name,
		Doc:    doc,
		Levels: choices[:defaults],
		check: func(text string) (string, error) {
			if !slices.Contains(choices, text) {
				return "", fmt.Errorf("%q, %s", text, names.Known(text, choices))
			}
			return text, nil
		},
	}
}

// parse reads levels as a user writes them: v1,v2 or a:b:step or a mixture.
func (f *Factor) parse(text string) ([]string, error) {
	var levels []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		values := []string{item}
		if f.numeric && strings.Contains(item, ":") {
			var err error
			if values, err = expandRange(item, maxLevels); err != nil {
				return nil, fmt.Errorf("experiments: factor %s: %w", f.Name, err)
			}
		}
		for _, v := range values {
			canonical, err := f.check(v)
			if err != nil {
				return nil, fmt.Errorf("experiments: factor %s: %w", f.Name, err)
			}
			if slices.ContainsFunc(levels, func(l string) bool { return f.words(l) == f.words(canonical) }) {
				return nil, fmt.Errorf("experiments: factor %s: level %s given twice, want each level once", f.Name, canonical)
			}
			levels = append(levels, canonical)
		}
		if len(levels) > maxLevels {
			return nil, fmt.Errorf("experiments: factor %s: more than %d levels", f.Name, maxLevels)
		}
	}
	return levels, nil
}

// words is a level as people read it: two levels that read the same are the
// same.
func (f *Factor) words(level string) string {
	if f.label == nil {
		return level
	}
	return f.label(level)
}

// expandRange lists a, a+step, … up to and including b, in exact decimals.
func expandRange(text string, limit int) ([]string, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("range %q, want from:to:step", text)
	}
	var r [3]*big.Rat
	for i, p := range parts {
		if _, err := parseNumber(p); err != nil {
			return nil, fmt.Errorf("range %q: %w", text, err)
		}
		var ok bool
		if r[i], ok = new(big.Rat).SetString(strings.TrimSpace(p)); !ok {
			return nil, fmt.Errorf("range %q: %q, want a decimal number", text, p)
		}
	}
	from, to, step := r[0], r[1], r[2]
	if step.Sign() <= 0 {
		return nil, fmt.Errorf("range %q: step %s, want more than 0", text, parts[2])
	}
	if from.Cmp(to) > 0 {
		return nil, fmt.Errorf("range %q: from %s is above to %s", text, parts[0], parts[1])
	}
	var levels []string
	for v := new(big.Rat).Set(from); v.Cmp(to) <= 0; v.Add(v, step) {
		if len(levels) == limit {
			return nil, fmt.Errorf("range %q: more than %d levels", text, limit)
		}
		x, _ := v.Float64()
		levels = append(levels, formatNumber(x))
	}
	return levels, nil
}

// parseNumber reads a finite decimal number.
func parseNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("%q, want a finite decimal number", text)
	}
	return v, nil
}

// formatNumber is the canonical form of a numeric level.
func formatNumber(v float64) string {
	if v == 0 {
		return "0" // also for negative zero
	}
	if a := math.Abs(v); a >= 1e-6 && a < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
