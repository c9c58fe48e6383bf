package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario/document"
)

// with is the configuration of a preset with parameters.
func (p PresetDoc) with(b *builder, given document.Params) (config any) {
	switch p.Of {
	case "breaker":
		preset, _ := presets.FindBreaker(p.Name)
		config, _ = withParams(b, preset.Defaults(), given)
	case "budget":
		preset, _ := presets.FindBudget(p.Name)
		config = configOfBudget(budgetWithParams(b, preset.Config, given))
	default:
		preset, _ := presets.FindBackoff(p.Name)
		config, _ = withParams(b, preset.Config, given)
	}
	return config
}

// configured is the configuration of a preset with parameters as a file has
// them, and what is wrong with them.
func (p PresetDoc) configured(t *testing.T, params string) (any, error) {
	t.Helper()
	problems := &document.Problems{File: "f"}
	root, err := document.Parse("f", []byte("params: "+params))
	if err != nil {
		t.Fatal(err)
	}
	var holder struct {
		Params document.Params `key:"params"`
	}
	document.Decode(root, &holder, problems)
	return p.with(&builder{problems: problems}, holder.Params), problems.Err()
}

// A leaf is a parameter that is no mapping, with its path.
type leaf struct {
	path []string
	document.Param
}

func (l leaf) String() string { return strings.Join(l.path, ".") }

// with is the parameters as a file has them, this one alone.
func (l leaf) with(text string) string {
	return "{" + strings.Join(l.path, ": {") + ": " + text + strings.Repeat("}", len(l.path))
}

func leaves(params []document.Param, path ...string) (all []leaf) {
	for _, p := range params {
		below := append(slices.Clone(path), p.Key)
		if p.Inner == nil {
			all = append(all, leaf{below, p})
		}
		all = append(all, leaves(p.Inner, below...)...)
	}
	return all
}

// written is all parameters in flow style with their values, those of some
// paths replaced.
func written(params []document.Param, replaced map[string]string, path ...string) string {
	var list []string
	for _, p := range params {
		below := append(slices.Clone(path), p.Key)
		text, ok := replaced[strings.Join(below, ".")]
		switch {
		case ok:
		case p.Inner != nil:
			text = written(p.Inner, replaced, below...)
		case p.Type() == "text":
			text = fmt.Sprintf("%q", p.Text())
		default:
			text = p.Text()
		}
		list = append(list, p.Key+": "+text)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// A preset whose defaults are all written out is the preset.
func TestDefaultsWrittenOut(t *testing.T) {
	for _, p := range Presets() {
		text := written(p.Params, nil)
		got, err := p.configured(t, text)
		want, _ := p.configured(t, "{}")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s: %s: %v\n%+v, want\n%+v", p.Of, p.Name, text, err, got, want)
		}
	}
}

// others are two values of each type, one of which is not the default.
var others = map[string][]string{
	"duration": {"1s", "2s"}, "percent": {"41%", "42"}, "ratio": {"41%", "0.42"}, "number": {"3", "1.75"},
	"whole number": {"7", "8"}, "true or false": {"true", "false"}, "text": {"that", "this"},
}

// Every parameter can be set to another value, which changes that field alone,
// whether or not the preset takes the value.
func TestEveryParamIsSet(t *testing.T) {
	for _, p := range Presets() {
		before, _ := p.configured(t, "{}")
		for _, l := range leaves(p.Params) {
			changed := false
			for _, text := range others[l.Type()] {
				after, _ := p.configured(t, l.with(text))
				changed = changed || differences(before, after) == 1
			}
			if !changed {
				t.Errorf("%s %s: %s stays", p.Of, p.Name, l)
			}
		}
	}
}

// differences is the number of fields, also of inner structs, that differ.
func differences(a, b any) int {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.Kind() != reflect.Struct {
		if reflect.DeepEqual(a, b) {
			return 0
		}
		return 1
	}
	n := 0
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.Func {
			continue
		}
		n += differences(v.Field(i).Interface(), w.Field(i).Interface())
	}
	return n
}

// wrongs are values that hardly any parameter takes.
var wrongs = map[string][]string{
	"duration": {"0s", "1ns", "9000h", "900000h"}, "percent": {"-1", "101%", "99999999999%"}, "ratio": {"-1", "0", "101%", "200000%"},
	"number": {"-1", "0", "1e9"}, "whole number": {"-1", "0"}, "text": {"bogus"}, "true or false": {"bogus"},
}

// What a preset does not take is told at the parameter, alone and among all
// others.
func TestWrongParamsAreTold(t *testing.T) {
	free := map[string]bool{}
	for _, p := range Presets() {
		for _, l := range leaves(p.Params) {
			told := false
			for _, wrong := range wrongs[l.Type()] {
				for _, text := range []string{l.with(wrong), written(p.Params, map[string]string{l.String(): wrong})} {
					_, err := p.configured(t, text)
					if told = told || err != nil; err != nil && !strings.Contains(err.Error(), ": params."+l.String()+": ") {
						t.Errorf("%s %s: %s:\n%v, want it at %s", p.Of, p.Name, text, err, l)
					}
				}
			}
			if !told {
				free[l.String()] = true
			}
		}
	}
	if want := []string{"half_open_for", "rule.slow_after"}; !slices.Equal(slices.Sorted(maps.Keys(free)), want) {
		t.Errorf("every value is taken by %v, want only %v", free, want)
	}
}

func TestUnitsOfParams(t *testing.T) {
	for _, tc := range []struct{ kind, name, params, want string }{
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 40}", "FailureRateThreshold:40 "},
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 40%}", "FailureRateThreshold:40 "},
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 0.4%}", "FailureRateThreshold:0.4 "},
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 1}", "FailureRateThreshold:1 "},
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 0.4}", "failure_rate_threshold: \"0.4\" would be 0.4 percent, want it with its sign: 0.4% or 40%"},
		{"breaker", "resilience4j-time", "{failure_rate_threshold: 150%}", "failure_rate_threshold: resilience4j: failure rate threshold 150, want 0 to 100"},
		{"breaker", "resilience4j-time", "{wait_in_open_state: {multiplier: 150%}}", "wait_in_open_state.multiplier: \"150%\", want a number"},
		{"breaker", "resilience4j-time", "{wait_in_open_state: {randomization_factor: 25%}}", "RandomizationFactor:0.25 "},
		{"breaker", "resilience4j-time", "{wait_in_open_state: {initial_interval: 1500us}}", "wait_in_open_state.initial_interval: resilience4j: wait in open state 1.5ms, want whole milliseconds"},
		{"breaker", "hystrix-1.4", "{error_threshold: 50%}", "ErrorThreshold:50 "},
		{"breaker", "hystrix-1.4", "{error_threshold: 0.5}", "error_threshold: \"0.5\" would be"},
		{"breaker", "hystrix-1.4", "{error_threshold: 50.5%}", "error_threshold: \"50.5%\", want a whole number"},
		{"breaker", "hystrix-1.4", "{buckets: 5%}", "buckets: \"5%\", want a whole number"},
		{"breaker", "hystrix-1.5.18", "{window: 100ms}", "window: hystrix: snapshot interval 500ms, want at most the window"},
		{"breaker", "envoy-outlier", "{max_ejection_percent: 7%}", "MaxEjectionPercent:7 "},
		{"breaker", "polly", "{failure_ratio: 40%}", "FailureRatio:0.4 "},
		{"breaker", "polly", "{failure_ratio: 7%}", "FailureRatio:0.07 "},
		{"breaker", "polly", "{failure_ratio: 0.4}", "FailureRatio:0.4 "},
		{"breaker", "polly", "{failure_ratio: 40}", "failure_ratio: \"40\" would be 4000 percent, want a ratio up to 1 or its sign: 40% or 4000%"},
		{"breaker", "polly", "{failure_ratio: 150%}", "failure_ratio: polly: failure ratio 1.5, want 0 to 1"},
		{"breaker", "polly", "{failure_ratio: x}", "failure_ratio: \"x\", want a"},
		{"breaker", "polly", "{failure_ratio: nan}", "failure_ratio: \"nan\", want a"},
		{"breaker", "count-window", "{rule: {failure_rate: 40%}}", "FailureRate:0.4 "},
		{"breaker", "count-window", "{rule: {window: {length: 5s}}}", "rule.window.length: unknown key"},
		{"breaker", "count-window", "{unshared: true}", "unshared: unknown key"},
		{"breaker", "google-sre", "{k: 150%}", "k: \"150%\", want a number: this is no ratio"},
		{"breaker", "sentinel-error-ratio", "{threshold: 40%}", "Threshold:0.4 "},
		{"breaker", "sentinel-error-ratio", "{threshold: 40}", "threshold: \"40\" would be 4000 percent"},
		{"breaker", "sentinel-error-ratio", "{threshold: 40, strategy: ErrorCount}", "Threshold:40 "},
		{"breaker", "sentinel-error-count", "{threshold: 40}", "Threshold:40 "},
		{"breaker", "sentinel-error-count", "{threshold: 40%}", "threshold: \"40%\", want a number"},
		{"budget", "finagle", "{percent_can_retry: 20%}", "PercentCanRetry:0.2}"},
		{"budget", "finagle", "{percent_can_retry: 150%}", "PercentCanRetry:1.5}"},
		{"budget", "finagle", "{percent_can_retry: 20}", "percent_can_retry: \"20\" would be 2000 percent"},
		{"budget", "envoy-retry-budget", "{share: {share: 40%}}", "Share:0.4 "},
		{"budget", "envoy-retry-budget", "{tokens: {cap: 4}}", "tokens: unknown key"},
		{"budget", "istio", "{concurrent: 4}", "concurrent: unknown key \"concurrent\"; there are no parameters"},
		{"budget", "grpc-throttle", "{max_tokens: 40%}", "max_tokens: \"40%\", want a number"},
		{"backoff", "full", "{jitter: 40%}", "jitter: unknown key"},
		{"backoff", "plus-minus", "{jitter: 40%}", "Jitter:0.4 "},
		{"backoff", "linkerd", "{jitter: 150%}", "Jitter:1.5}"},
		{"backoff", "envoy", "5", "params: \"5\", want a mapping with base_interval"},
		{"backoff", "cenkalti", "{max_tries: 5}", "max_tries: unknown key"},
	} {
		config, err := PresetDoc{Of: tc.kind, Name: tc.name}.configured(t, tc.params)
		got := strings.ReplaceAll(fmt.Sprintf("%+v", config), "}", "} ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, strings.ReplaceAll(tc.want, "}", "} ")) {
			t.Errorf("%s: %s: %s, want %s", tc.name, tc.params, got, tc.want)
		}
	}
}

// Of a budget of package policies the fields of its kind are parameters.
func TestBudgetKeys(t *testing.T) {
	for kind, keys := range budgetKeys {
		list := paramReader.Params(policies.BudgetConfig{Kind: kind})
		if len(list) != 1 || list[0].Key != keys[0] {
			t.Errorf("%s: %+v, want %v", kind, list, keys)
		}
	}
}

// The schema knows the parameters of each preset.
func TestSchemaOfParams(t *testing.T) {
	s := compiledSchema(t)
	for _, p := range Presets() {
		good := layerText(p.Of, "{preset: "+p.Name+", params: "+written(p.Params, nil)+"}")
		if err := s.Validate(instance(t, []byte(good))); err != nil {
			t.Errorf("%s: %v", good, err)
		}
		if bad := layerText(p.Of, "{preset: "+p.Name+", params: {bogus: 1}}"); s.Validate(instance(t, []byte(bad))) == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// Every number that is no percent or ratio is meant to be a plain one.
func TestPlainNumbers(t *testing.T) {
	plain := make(map[string]bool)
	for _, p := range Presets() {
		for _, l := range leaves(p.Params) {
			if l.Type() == "number" {
				plain[p.Of+" "+l.String()] = true
			}
		}
	}
	want := []string{"backoff backoff_multiplier", "backoff factor", "backoff multiplier", "breaker k", "breaker threshold",
		"breaker wait_in_open_state.multiplier", "budget max_tokens", "budget token_ratio"}
	if got := slices.Sorted(maps.Keys(plain)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Something in the place of parameters is told though there is no preset.
func TestParamsWithoutPreset(t *testing.T) {
	for _, params := range []string{"5", "[5s]", "{timeout: 5s}"} {
		if _, err := Parse("f", []byte(layerText("breaker", "{window: 10, params: "+params+"}"))); err == nil || !strings.Contains(err.Error(), "params: parameters without a preset") {
			t.Errorf("%s: %v", params, err)
		}
	}
	for _, params := range []string{"{}", "~", ""} {
		if _, err := Parse("f", []byte(layerText("breaker", "{window: 10, params: "+params+"}"))); err != nil {
			t.Errorf("%s: %v", params, err)
		}
	}
}
