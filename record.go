package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/scenario"
	"github.com/stormglass/stormglass/scenario/traffic"
)

// recordOptions say how recorded traffic is read and replayed.
type recordOptions struct {
	traffic.Options
	share float64 // see traffic.PlayOptions
}

// A recordKey is one of -record.
type recordKey struct {
	name string
	set  func(o *recordOptions, value string) error
}

// recordKeys are all there are, as in docs/TRAFFIC.md.
var recordKeys = []recordKey{
	{"format", func(o *recordOptions, v string) error { o.Format = traffic.Format(v); return nil }},
	{"node", func(o *recordOptions, v string) error { o.Node = v; return nil }},
	{"width", func(o *recordOptions, v string) (err error) { o.Width, err = scenario.ParseDuration(v); return err }},
	{"time-unit", func(o *recordOptions, v string) error { o.TimeUnit = v; return nil }},
	{"latency-unit", func(o *recordOptions, v string) error { o.LatencyUnit = v; return nil }},
	{"zone", func(o *recordOptions, v string) (err error) {
		if o.Zone, err = time.LoadLocation(v); err != nil {
			return fmt.Errorf("%w, want one such as UTC or Europe/Berlin", err)
		}
		return nil
	}},
	{"only", func(o *recordOptions, v string) error { o.Only = v; return nil }},
	{"fail-from", func(o *recordOptions, v string) error { return setWhole(&o.FailFrom, v) }},
	{"series", func(o *recordOptions, v string) error { o.Series = v; return nil }},
	{"rate", func(o *recordOptions, v string) (err error) {
		if o.RateRPS, err = strconv.ParseFloat(v, 64); err != nil {
			return errors.New("want a number of calls per second")
		}
		return nil
	}},
	{"max-calls", func(o *recordOptions, v string) error { return setWhole(&o.MaxCalls, v) }},
	{"share", func(o *recordOptions, v string) error { return (*scenario.Ratio)(&o.share).ParseText(v) }},
}

func setWhole(into *int, value string) (err error) {
	if *into, err = strconv.Atoi(value); err != nil {
		return errors.New("want a whole number")
	}
	return nil
}

func recordKeyNames() []string {
	list := make([]string, len(recordKeys))
	for i, k := range recordKeys {
		list[i] = k.name
	}
	return list
}

// record takes KEY=VALUE.
func (r *replayFlags) record(arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	if !ok || key == "" || value == "" {
		return errors.New("want KEY=VALUE")
	}
	i := slices.IndexFunc(recordKeys, func(k recordKey) bool { return k.name == key })
	switch {
	case i < 0:
		return fmt.Errorf("unknown key %q; %s", key, names.Known(key, recordKeyNames()))
	case slices.Contains(r.keys, key):
		return fmt.Errorf("%s is given twice, want it once", key)
	}
	var alone recordOptions
	if err := recordKeys[i].set(&alone, value); err != nil {
		return err
	}
	if alone == (recordOptions{}) { // which means the default
		return errors.New("want a value above 0")
	}
	if err := errors.Join(alone.Options.Validate(), traffic.PlayOptions{Share: alone.share}.Validate()); err != nil {
		return err
	}
	r.keys = append(r.keys, key)
	return recordKeys[i].set(&r.options, value)
}
