package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
)

// paramReader knows what the parameters of presets mean.
var paramReader = document.ParamReader{Duration: ParseDuration, Number: parseParam, Unit: unitOfParam}

// parseParam reads a number. With a % sign it means the same in both units; a
// bare one is refused where it is likely to be meant in the other unit.
func parseParam(unit, text string) (float64, error) {
	v, err := parsePercent(text)
	percent := strings.HasSuffix(strings.TrimSpace(text), "%")
	switch {
	case unit == "" && percent:
		return 0, fmt.Errorf("%q, want a number: this is no ratio", text)
	case unit == "" && err != nil:
		return 0, fmt.Errorf("%q, want a number", text)
	case err != nil:
		return 0, fmt.Errorf("%q, want a percentage such as 40%%", text)
	case unit == document.UnitPercent && percent:
		return parsePercent(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	case unit == document.UnitPercent && v > 0 && v < 1:
		return 0, fmt.Errorf("%q would be %s percent, want it with its sign: %[2]s%% or %s%%", text, plain(v), plain(v*100))
	case unit == document.UnitRatio && !percent && v > 1:
		return 0, fmt.Errorf("%q would be %s percent, want a ratio up to 1 or its sign: %s%% or %[2]s%%", text, plain(v*100), plain(v))
	}
	return v, nil
}

// plain is a number without the last digits, which a product may have wrong.
func plain(x float64) string { return strconv.FormatFloat(x, 'g', 12, 64) }

// unitOfParam is the unit of a field of a preset's configuration. Those of
// package presets say it in their tags. Of the configurations of package
// policies only those fields are parameters that the kind reads.
func unitOfParam(of reflect.Value, field reflect.StructField) string {
	var read []string
	switch c := of.Interface().(type) {
	case presets.SentinelConfig:
		if c.Strategy != presets.SentinelErrorRatio && c.Strategy != presets.SentinelSlowRatio {
			return "" // the threshold is a number of errors
		}
		return field.Tag.Get("unit")
	case policies.BackoffConfig:
		read = backoffKeys[c.Kind]
	case policies.BudgetConfig:
		read = budgetKeys[c.Kind]
	case policies.WindowConfig:
		read = windowKeys[c.Kind]
	default:
		if unit, ok := unitsOfPolicies[field.Name]; ok && of.Type().PkgPath() == reflect.TypeFor[policies.RuleConfig]().PkgPath() {
			return unit
		}
		return field.Tag.Get("unit")
	}
	if !slices.Contains(read, document.ParamKey(field.Name)) {
		return document.NoParam
	}
	return unitsOfPolicies[field.Name]
}

// unitsOfPolicies are those of the configurations of package policies.
var unitsOfPolicies = map[string]string{
	"Ratio": document.UnitRatio, "Share": document.UnitRatio, "Jitter": document.UnitRatio, "FailureRate": document.UnitRatio, "SlowRate": document.UnitRatio, "Unshared": document.NoParam,
}

// budgetKeys and windowKeys are the fields that each kind reads.
var (
	budgetKeys = map[policies.BudgetKind][]string{
		policies.BudgetTokens: {"tokens"}, policies.BudgetFloatTokens: {"tokens"}, policies.BudgetCounter: {"counter"},
		policies.BudgetShare: {"share"}, policies.BudgetConcurrent: {"concurrent"}, policies.BudgetThrottle: {"throttle"},
		policies.BudgetWindow: {"window"},
	}
	windowKeys = map[policies.WindowKind][]string{
		policies.CountWindow: {"calls"}, policies.TimeWindow: {"length", "max_calls"}, policies.BucketWindow: {"length", "buckets"},
	}
)

// A maker is the configuration of a preset.
type maker interface{ Validate() error }

// withParams returns a copy of a preset's configuration with the parameters
// that the file gives, and reports whether it is valid.
func withParams[C maker](b *builder, c C, p document.Params) (C, bool) {
	v := reflect.New(reflect.TypeOf(c))
	v.Elem().Set(reflect.ValueOf(c))
	at, ok := paramReader.Read(p, v.Interface(), b.problems)
	changed := v.Elem().Interface().(C)
	if !ok {
		return changed, false
	}
	also := wordsOfParams(at)
	if len(at.Keys) == 1 { // the others are good by themselves
		for _, only := range at.Keys {
			at = only
		}
	}
	return changed, b.must(at, also, changed.Validate())
}

// budgetWithParams is withParams for a budget, whose parameters are those of
// the preset if it is made by one.
func budgetWithParams(b *builder, c policies.BudgetConfig, p document.Params) policies.BudgetConfig {
	if c.Preset != nil {
		c.Preset, _ = withParams(b, c.Preset, p)
		return c
	}
	c, _ = withParams(b, c, p)
	return c
}

// wordsOfPresets are what the messages of presets call some parameters.
var wordsOfPresets = words{
	"initial_interval": "wait in open state", "state_after_half_open_wait": "state after the wait in half-open", "probe_num": "probes",
	"stat_interval": "statistics interval", "max_allowed_rt": "maximum allowed response time", "ttl": "time to live",
	"min_retries_per_sec": "minimum retries per second", "percent_can_retry": "percent that can retry", "concurrent": "retries",
	"max_calls": "at most", "consecutive5xx": "consecutive 5xx", "enforcing_consecutive5xx": "enforcing consecutive 5xx",
}

// wordsOfParams are the words for the parameters that are given. Messages call
// them by the name of the field or by its words, some of them written out.
func wordsOfParams(at document.Place) words {
	all := make(words)
	for key := range at.Keys {
		leaf := key[strings.LastIndexByte(key, '.')+1:]
		spoken := strings.NewReplacer("max_", "maximum ", "min_", "minimum ").Replace(leaf)
		all[key] = strings.Join([]string{leaf, strings.ReplaceAll(leaf, "_", ""), spoken, wordsOfPresets[leaf]}, ",")
	}
	return all
}
