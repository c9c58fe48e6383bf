package document

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type paramsInner struct{ Deep int }

type params struct {
	Kind         string
	MaxAllowedRT time.Duration
	Rate         float32
	Whole        int
	Inner        paramsInner
	On           bool
	Skipped      bool
	hidden       int
	F            func()
}

// testReader reads numbers with the name of their unit behind them; rates have
// one unless the kind is plain.
var testReader = ParamReader{
	Duration: time.ParseDuration,
	Number: func(unit, text string) (x float64, err error) {
		_, err = fmt.Sscanf(text, "%f"+unit, &x)
		return x, err
	},
	Unit: func(of reflect.Value, field reflect.StructField) string {
		switch p, _ := of.Interface().(params); {
		case field.Name == "Skipped":
			return NoParam
		case field.Name == "Whole" || field.Name == "Rate" && p.Kind != "plain":
			return "u"
		}
		return ""
	},
}

func readParams(text string) (p params, at Place, good bool, err error) {
	v, err := read("name: a\nmore: " + text)
	if err != nil {
		return p, at, false, err
	}
	problems := &Problems{File: "f"}
	at, good = testReader.Read(v.More, &p, problems)
	return p, at, good, problems.Err()
}

func TestParams(t *testing.T) {
	p, at, good, err := readParams("{max_allowed_rt: 5ms, rate: 0.5u, whole: 4u, inner: {deep: 3}, on: true}")
	want := params{MaxAllowedRT: 5 * time.Millisecond, Rate: 0.5, Whole: 4, Inner: paramsInner{3}, On: true}
	if err != nil || !good || !reflect.DeepEqual(p, want) {
		t.Errorf("%+v, %v", p, err)
	}
	if inner := at.Keys["inner.deep"]; inner.Column != 66 || inner.Path != "more.inner.deep" || len(at.Keys) != 5 {
		t.Errorf("places %+v", at.Keys)
	}
	if p, _, _, err := readParams("{rate: 2, kind: plain}"); err != nil || p.Rate != 2 { // the unit depends on a later text
		t.Errorf("%+v, %v", p, err)
	}
	if p, _, _, err := readParams("{whole: -2147483647u}"); err != nil || p.Whole != -2147483647 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, text := range []string{"{}", "", "~"} {
		if p, _, good, err := readParams(text); err != nil || !good || !reflect.DeepEqual(p, params{}) {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
}

func TestWrongParams(t *testing.T) {
	for text, want := range map[string]string{
		"{max_allowed_r: 5ms}":     `f:2:8: more.max_allowed_r: unknown key "max_allowed_r"; did you mean "max_allowed_rt"?`,
		"{hidden: 5}":              `f:2:8: more.hidden: unknown key`,
		"{skipped: true}":          `f:2:8: more.skipped: unknown key`,
		"{f: x}":                   `f:2:8: more.f: unknown key`,
		"{rate: x}":                "f:2:14: more.rate: ",
		"{rate: 1u, rate: 2u}":     "f:2:18: more.rate: given twice",
		"{whole: 1.5u}":            `f:2:15: more.whole: "1.5u", want a whole number`,
		"{whole: 1e12u}":           `f:2:15: more.whole: "1e12u", want a whole number from -2147483647 to 2147483647`,
		"{whole: 2147483648u}":     `"2147483648u", want a whole number from`,
		"{whole: -3e9u}":           `"-3e9u", want a whole number from`,
		"{whole: 1e300u}":          `"1e300u", want a whole number from`,
		"{on: 7}":                  `f:2:12: more.on: "7", want true or false`,
		"{inner: {dep: 1}}":        `f:2:16: more.inner.dep: unknown key "dep"; did you mean "deep"?`,
		"{inner: {deep: 1.5}}":     "f:2:22: more.inner.deep: ",
		"{inner: 3}":               `f:2:15: more.inner: "3", want a mapping with deep`,
		"{max_allowed_rt: 5}":      "f:2:24: more.max_allowed_rt: ",
		"{max_allowed_rt: [5s]}":   "f:2:24: more.max_allowed_rt: a list, want a value: duration",
		"{kind: }":                 "f:2:8: more.kind: nothing, want a value: text",
		"[a]":                      "f:2:7: more: a list, want a mapping with kind, max_allowed_rt, rate, whole, inner, on",
		"5":                        `f:2:7: more: "5", want a mapping with kind`,
		"{<<: {on: true}}":         "more.<<: a merge key",
		"{? [a] : 1, on: true}":    "a list as a key",
		"{rate: x, inner: {d: 1}}": "more.rate: ",
	} {
		p, _, good, err := readParams(text)
		if err == nil || good || !strings.HasPrefix(err.Error(), want) && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if p.Whole != 0 || p.MaxAllowedRT != 0 || p.Inner.Deep != 0 || p.Kind != "" {
			t.Errorf("%s: changes to %+v", text, p)
		}
	}
}

func TestListOfParams(t *testing.T) {
	type empty struct{ F func() }
	v := struct {
		A time.Duration
		B float64
		C params
		D empty
	}{A: 60 * time.Minute, B: 0.5}
	v.C.Kind, v.C.Rate = "plain", 40.1
	var got []string
	var list func(params []Param, path string)
	list = func(params []Param, path string) {
		for _, p := range params {
			got = append(got, path+p.Key+" "+p.Type()+" "+p.Text())
			list(p.Inner, path+p.Key+".")
		}
	}
	list(testReader.Params(v), "")
	want := []string{"a duration 1h", "b number 0.5", "c mapping ", "c.kind text plain", "c.max_allowed_rt duration 0s", "c.rate number 40.1",
		"c.whole u 0", "c.inner mapping ", "c.inner.deep whole number 0", "c.on true or false false"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
