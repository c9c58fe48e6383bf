package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

// breakerPresetsTitle says how far the delays lie apart, or in t4b what buckets
// do to false trips.
func breakerPresetsTitle(summary *table.Table, g group, curves []phaseCurve) string {
	key := func(name string) string { return summary.Key(g.members[0], name) }
	if key("settings") == "t4b" {
		if text, ok := bucketsTitle(summary, g, curves); ok {
			return text
		}
	}
	delays := map[string]float64{}
	var late []string
	for _, r := range g.members {
		name, mean := summary.Key(r, "breaker"), summary.Value(r, "detection_delay_s_mean")
		switch {
		case summary.Value(r, "undetected_count") > 0:
			late = append(late, name)
		case !math.IsNaN(mean) && !isThrottle(summary, r):
			delays[name] = math.Round(mean*1000) / 1000
		}
	}
	text := "At equal settings"
	if key("settings") == "defaults" {
		text = "With their own defaults"
	}
	if len(delays) == 0 {
		return text + " no breaker notices every outage"
	}
	fast, least := extreme(summary, g, delays, -1)
	slow, most := extreme(summary, g, delays, 1)
	text += fmt.Sprintf(" breakers notice an outage after %s s (%s) to %s s (%s)", compact(least, 3), fast, compact(most, 3), slow)
	switch {
	case len(late) > 3:
		text += fmt.Sprintf("; %d let some or all outages pass", len(late))
	case len(late) == 1:
		text += "; " + late[0] + " lets some or all outages pass"
	case len(late) > 1:
		text += "; " + strings.Join(late, ", ") + " let some or all outages pass"
	}
	return text
}

// extreme is the least value (sign -1) or the greatest (1), with the name of
// the first breaker that has it and how many more do.
func extreme(summary *table.Table, g group, values map[string]float64, sign float64) (name string, value float64) {
	var c phaseCurve
	for _, r := range g.members {
		n := summary.Key(r, "breaker")
		v, ok := values[n]
		switch {
		case !ok:
		case len(c.names) == 0 || sign*v > sign*value:
			c.names, value = []string{n}, v
		case v == value:
			c.names = append(c.names, n)
		}
	}
	return c.name(), value
}

// bucketsTitle holds the false trips of the exact window in time against those
// of windows that notice an outage about as late; false if there are none.
func bucketsTitle(summary *table.Table, g group, curves []phaseCurve) (string, bool) {
	near, _, ok := nearExact(curves)
	if !ok {
		return "", false
	}
	trips, exact, runs := map[string]float64{}, math.NaN(), 1.0
	for _, r := range g.members {
		name, v := summary.Key(r, "breaker"), summary.Value(r, "false_trips_count_mean")
		if name == exactWindow {
			exact, runs = v, summary.Value(r, "n")
		}
		for _, c := range near {
			if name != exactWindow && slices.Contains(c.names, name) && !math.IsNaN(v) {
				trips[name] = math.Round(v*100) / 100
			}
		}
	}
	if len(trips) == 0 || math.IsNaN(exact) {
		return "", false
	}
	// No trip at all bounds the mean, with 95 % confidence.
	number := func(v float64) string {
		if v == 0 {
			return "fewer than " + compact(math.Ceil(-math.Log(0.05)/runs*1000)/1000, 3)
		}
		return hundredths(v)
	}
	key := func(name string) string { return summary.Key(g.members[0], name) }
	text := fmt.Sprintf("A window of %s s at %s %%: %s false trips in %s h if it is exact, ", key("window_s"), key("t4b_failure_pct"), number(exact), key("hours"))
	least, lo := extreme(summary, g, trips, -1)
	most, hi := extreme(summary, g, trips, 1)
	if lo == hi {
		return text + number(hi) + " in the buckets of libraries", true
	}
	return text + fmt.Sprintf("%s (%s) to %s (%s) in the buckets of libraries", number(lo), least, number(hi), most), true
}

// exactWindow is the breaker with a window in time that is cut into no buckets.
const exactWindow = "time-window"
