package experiments

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/policies"
)

const waitGrammar = "KIND-BASE or KIND-BASE-PERCENT, KIND fixed, exponential, full, equal or decorrelated, such as fixed-100ms; " +
	"PERCENT is the jitter ± of fixed and exponential: exponential-120ms-30"

// A waitSpec is a back-off as written.
type waitSpec struct {
	kind   policies.BackoffKind
	base   time.Duration
	jitter float64
}

// parseWait reads a waitSpec, see waitGrammar.
func parseWait(text string) (w waitSpec, err error) {
	fields := strings.Split(text, "-")
	kinds := backoffLevels[1:]
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == plusMinus })
	w.kind = policies.BackoffKind(fields[0])
	plain := w.kind == policies.FixedBackoff || w.kind == policies.ExponentialBackoff
	switch {
	case !slices.Contains(kinds, fields[0]):
		err = fmt.Errorf("%s", names.Known(fields[0], kinds))
	case len(fields) < 2 || len(fields) > 3 || len(fields) == 3 && !plain:
		err = fmt.Errorf("%d fields", len(fields))
	default:
		if w.base, err = time.ParseDuration(fields[1]); err == nil && (w.base < time.Microsecond || w.base > time.Hour) {
			err = fmt.Errorf("base %v, from 1µs to 1h", w.base)
		}
		if err == nil && len(fields) == 3 {
			w.jitter, err = parsePercent(fields[2])
		}
	}
	if err != nil {
		return w, fmt.Errorf("back-off %q: %w; want %s", text, err, waitGrammar)
	}
	if err := w.config(time.Hour).Validate(); err != nil {
		return w, fmt.Errorf("back-off %q: %w", text, err)
	}
	return w, nil
}

// config is the back-off with its longest wait.
func (w waitSpec) config(cap time.Duration) policies.BackoffConfig {
	return policies.BackoffConfig{Kind: w.kind, Base: w.base, Cap: cap, Jitter: w.jitter}
}

// name is the spec in canonical form.
func (w waitSpec) name() string {
	text := string(w.kind) + "-" + w.base.String()
	if w.jitter > 0 {
		text += "-" + percentText(w.jitter)
	}
	return text
}

// String says it in words: "exponential from 120 ms, ±30 %".
func (w waitSpec) String() string {
	text := backoffWords[string(w.kind)] + " " + formatDuration(w.base)
	if w.kind != policies.FixedBackoff {
		text = backoffWords[string(w.kind)] + " from " + formatDuration(w.base)
	}
	if w.jitter > 0 {
		text += " ± " + percentText(w.jitter) + " %"
	}
	return text
}

func waitFactor(levels ...string) Factor {
	return Factor{
		Name: "backoff", Doc: "wait before a retry: " + waitGrammar, Levels: levels,
		label: func(text string) string {
			w, err := parseWait(text)
			if err != nil {
				return text
			}
			return w.String()
		},
		check: func(text string) (string, error) {
			w, err := parseWait(text)
			if err != nil {
				return "", err
			}
			return w.name(), nil
		},
	}
}

// wait returns the back-off of a cell.
func (c Cell) wait() waitSpec {
	w, err := parseWait(c.Text("backoff"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return w
}
