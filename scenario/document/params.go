package document

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/stormglass/stormglass/names"
)

// Params are keys whose meaning is known later: see [ParamReader].
type Params struct {
	Place Place
	node  *Node
}

// keepNode is how the decoder hands nodes over as they are.
func (p *Params) keepNode(n *Node, at Place) { p.node, p.Place = n, at }

// Given reports whether there are any, or something in their place.
func (p Params) Given() bool {
	return p.node != nil && (len(p.node.Content) > 0 || p.node.Kind == yaml.ScalarNode && p.node.Tag != "!!null")
}

// The units of numbers among parameters; all others are plain numbers, whose
// unit is empty.
const (
	UnitPercent = "percent" // 40 is 40 %
	UnitRatio   = "ratio"   // 0.4 is 40 %
	NoParam     = "-"       // in place of a unit: the field is no parameter
)

// maxWhole is the largest whole number in a unit, and the smallest but for its
// sign.
const maxWhole = math.MaxInt32

// A ParamReader reads parameters into structs whose fields have no keys: the
// key of a field is its name in snake case, and what it means is up to the
// functions.
type ParamReader struct {
	Duration func(text string) (time.Duration, error)
	// Number reads a number in a unit, which is empty for a plain one.
	Number func(unit, text string) (float64, error)
	// Unit is the unit of a number of a struct, or NoParam for a field that is no
	// parameter. It is asked when the texts of the struct have been read.
	Unit func(of reflect.Value, field reflect.StructField) string
}

// A Param is a field of a struct as a parameter, or a struct with parameters of
// its own.
type Param struct {
	Key   string
	Unit  string // of a number
	Inner []Param
	Owner reflect.Type // the struct
	Field string       // its name there

	value reflect.Value
}

// Params lists the parameters of a struct, without those that a file cannot
// set.
func (r ParamReader) Params(of any) []Param {
	v := reflect.New(reflect.TypeOf(of)).Elem()
	v.Set(reflect.ValueOf(of))
	return r.params(v)
}

func (r ParamReader) params(v reflect.Value) []Param {
	var list []Param
	for i := range v.NumField() {
		f := v.Type().Field(i)
		unit := r.Unit(v, f)
		if !f.IsExported() || unit == NoParam {
			continue
		}
		p := Param{Key: ParamKey(f.Name), Owner: v.Type(), Field: f.Name, value: v.Field(i)}
		switch f.Type.Kind() {
		case reflect.Float32, reflect.Float64, reflect.Int:
			p.Unit = unit
		case reflect.Int64, reflect.Bool, reflect.String:
		case reflect.Struct:
			if p.Inner = r.params(p.value); len(p.Inner) == 0 {
				continue
			}
		default:
			continue
		}
		list = append(list, p)
	}
	return list
}

// Type says how the parameter is written: duration, percent, ratio, number,
// whole number, true or false, text or mapping.
func (p Param) Type() string {
	switch _, duration := p.value.Interface().(time.Duration); {
	case duration:
		return "duration"
	case p.value.Kind() == reflect.Struct:
		return "mapping"
	case p.Unit != "":
		return p.Unit
	case p.value.CanFloat():
		return "number"
	}
	name, _ := typeOf(p.value.Type())
	return name
}

// Text is the value as a file has it, empty for a struct.
func (p Param) Text() string {
	switch v := p.value; v.Kind() {
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits()) + p.sign()
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10) + p.sign()
	case reflect.Struct:
		return ""
	case reflect.Int64:
		text := fmt.Sprint(v.Interface())
		if short, ok := strings.CutSuffix(text, "m0s"); ok {
			text = short + "m"
		}
		if short, ok := strings.CutSuffix(text, "h0m"); ok {
			text = short + "h"
		}
		return text
	default:
		return fmt.Sprint(v.Interface())
	}
}

func (p Param) sign() string {
	if p.Unit == UnitPercent {
		return "%"
	}
	return ""
}

// Read reads parameters into a struct. It returns where they stand, the keys of
// inner structs joined by dots, and whether nothing is wrong with them; a value
// that cannot be read is left as it was.
func (r ParamReader) Read(p Params, into any, problems *Problems) (at Place, ok bool) {
	at = p.Place
	at.Keys = make(map[string]Place)
	if p.node == nil || p.node.Tag == "!!null" {
		return at, true
	}
	reading := paramsReading{r, decoder{problems}, at.Keys, true}
	reading.mapping(p.node, reflect.ValueOf(into).Elem(), p.Place, "")
	return at, reading.good
}

type paramsReading struct {
	ParamReader
	decoder decoder
	keys    map[string]Place
	good    bool
}

func (r *paramsReading) fail(at Place, format string, args ...any) {
	r.good = false
	r.decoder.problems.Add(at, format, args...)
}

// mapping reads the texts first, since units may depend on them.
func (r *paramsReading) mapping(n *Node, v reflect.Value, place Place, path string) {
	if n.Kind != yaml.MappingNode {
		r.fail(place, "%s, want a mapping with %s", KindOf(n), strings.Join(paramKeys(r.params(v)), ", "))
		return
	}
	type entry struct {
		key, value *Node
		where      Place
	}
	var entries []entry
	seen := make(map[string]Place)
	for i := 0; i+1 < len(n.Content); i += 2 {
		where, ok := r.decoder.key(n.Content[i], seen, place)
		if r.good = r.good && ok; ok {
			entries = append(entries, entry{Resolve(n.Content[i]), n.Content[i+1], where})
		}
	}
	for _, texts := range []bool{true, false} {
		params := r.params(v)
		for _, e := range entries {
			i := slices.IndexFunc(params, func(p Param) bool { return p.Key == e.key.Value })
			switch {
			case i < 0 && texts:
			case i < 0 && len(params) == 0:
				r.fail(e.where, "unknown key %q; there are no parameters", e.key.Value)
			case i < 0:
				r.fail(e.where, "unknown key %q; %s", e.key.Value, names.Known(e.key.Value, paramKeys(params)))
			case texts == (params[i].value.Kind() == reflect.String):
				if e.value.Tag != "!!null" || e.value.Value != "" {
					e.where.Line, e.where.Column = e.value.Line, e.value.Column
				}
				r.value(Resolve(e.value), params[i], e.where, Join(path, e.key.Value))
			}
		}
	}
}

func (r *paramsReading) value(n *Node, p Param, where Place, path string) {
	kind := p.Type()
	if kind == "mapping" {
		r.mapping(n, p.value, where, path)
		return
	}
	r.keys[path] = where
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(where, "%s, want a value: %s", KindOf(n), kind)
		return
	}
	switch {
	case kind == "duration":
		d, err := r.Duration(n.Value)
		if err != nil {
			r.fail(where, "%v", err)
			return
		}
		p.value.SetInt(int64(d))
	case p.value.CanFloat() || p.Unit != "":
		x, err := r.Number(p.Unit, n.Value)
		switch {
		case err != nil:
			r.fail(where, "%v", err)
		case p.value.CanFloat():
			p.value.SetFloat(x)
		case x != math.Trunc(x):
			r.fail(where, "%q, want a whole number", n.Value)
		case math.Abs(x) > maxWhole:
			r.fail(where, "%q, want a whole number from %d to %d", n.Value, -maxWhole, maxWhole)
		default:
			p.value.SetInt(int64(x))
		}
	default:
		var own Problems
		decoder{&own}.value(n, p.value, where)
		for _, problem := range own.List {
			r.fail(problem.Place, "%s", problem.Rule)
		}
	}
}

func paramKeys(params []Param) []string {
	keys := make([]string, len(params))
	for i, p := range params {
		keys[i] = p.Key
	}
	return keys
}

// ParamKey is the key of a field: it turns MinRetriesPerSec into
// min_retries_per_sec, and MaxAllowedRT into max_allowed_rt.
func ParamKey(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		upper := unicode.IsUpper(r)
		if i > 0 && upper && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
