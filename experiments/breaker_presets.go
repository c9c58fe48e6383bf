package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// The settings of breaker-presets.
const (
	presetDefaults = "defaults" // the library's own
	presetCommon   = "common"   // as equal as they allow
	presetT4b      = "t4b"      // the same at another threshold, and made anew at every opening
)

var presetSettings = []string{presetDefaults, presetCommon, presetT4b}

func breakerPresets() *Experiment {
	return &Experiment{
		Name: "breaker-presets",
		Doc: `What does the breaker of my library do on the same traffic as the others: how late does it open, how often for nothing, and what does it refuse?
The breakers and throttles of real libraries, each with its own defaults and
again with settings as equal as they allow (common). In t4b only the window and
the trip rule count, as in the article on breaker windows: the threshold is
t4b_failure_pct, and the breaker is made anew at the instant of every opening.
False trips: some hours with the generator of false-trips. Outages: healthy
calls for at least healthy_s and 200 calls, then from an instant in a second,
0, 125, …, 875 ms after its start, every call fails for outage_s, then all
succeed for observe_s; the first failing call is at that instant if arrivals
are fixed. Calls are instant. A flap is an opening of a closed breaker at most
flap_s after its last return from open. A throttle refuses at random and is
never open: what it notices, it notices with its first refused call. A cell is
empty where a breaker has no such settings.
Source: breaker windows, second table; the semantics of the libraries.`,
		Factors: slices.Concat([]Factor{
			presetFactor(),
			withPanel(choice("settings", "defaults: the library's own; common: the factors below; t4b: common at t4b_failure_pct, made anew at every opening", presetSettings, 3)),
		}, commonFactors(50), []Factor{
			number("t4b_failure_pct", "failure rate that opens in t4b, %", 0.001, 100, 20),
		}, glitchFactors(), []Factor{
			number("healthy_s", "healthy time before an outage, s", 1, 1e5, 130),
			number("outage_s", "length of an outage, s", 0.001, 1e5, 60),
			number("observe_s", "time observed after it, s", 0.001, 1e5, 120),
			number("flap_s", "an opening so soon after the last return is a flap, s", 0.001, 1e6, 30),
		}),
		Metrics: []Metric{
			{Name: "false_trips_count", Doc: "openings of a closed breaker in the trace; not of a throttle"},
			{Name: "any_false_trip_ratio", Doc: "share of traces with any opening", Proportion: true},
			{Name: "flaps_count", Doc: "openings at most flap_s after the last return from open; not in t4b"},
			{Name: "good_refused_ratio", Doc: "calls in the trace that would have succeeded and were refused ÷ calls that would have succeeded; not in t4b"},
			{Name: "open_ratio", Doc: "share of the trace in which the breaker was open; not in t4b"},
			{Name: "detection_delay_s", Doc: "start of an outage to the opening, or to the first refused call of a throttle, mean over the phases, s; never if one of the outages passes unnoticed", Censored: "undetected_count"},
			{Name: "detection_min_s", Doc: "the same, least of the phases of a run that notice, s"},
			{Name: "detection_max_s", Doc: "the same, greatest of a run, s"},
			{Name: "bad_calls_count", Doc: "failing calls made until then: one that opens it by its failure included, one at whose question it opens (as in Hystrix) not; mean over the phases"},
			{Name: "reopenings_count", Doc: "openings of a half-open breaker during the outage, mean over the phases; not in t4b"},
			{Name: "recovery_s", Doc: "end of the outage to the last refused call, 0 if there is none, mean over the phases, s; never if the last call observed is refused in one of them; not in t4b", Censored: "unrecovered_count"},
		},
		Reps:    breakerPresetReps,
		Check:   checkBreakerPresets,
		Measure: measureBreakerPresets,
		Exact:   newPresetTheory().exact,
		Report:  reportBreakerPresets,
		Detail:  breakerPresetPhases,
	}
}

// breakerPresetReps keeps the default run below 20 s on one core.
const breakerPresetReps = 6

// presetFactor names breakers of the registry.
func presetFactor() Factor {
	names := presets.BreakerNames()
	return withPanel(choice("breaker", "breaker or throttle of a library: "+strings.Join(names, ", "), names, len(names)))
}

// commonFactors are those of presets.Common, at a failure rate in percent.
func commonFactors(failure float64) []Factor {
	return []Factor{
		whole("window_s", "common length of windows in time, s", 1, 86_400, 10),
		whole("window_calls", "common length of windows of calls", 1, 1e6, 20),
		whole("minimum", "common number of calls before a rate means anything", 1, 1e6, 20),
		number("failure_pct", "common failure rate that opens, %", 0.001, 100, failure),
		number("open_s", "common time open, whole ms, s", 0.001, 1e5, 5),
		whole("probes", "common number of good calls that close", 1, 1e4, 1),
	}
}

// common are the settings that a cell has by its factors, with the failure
// rate of the named one.
func common(c Cell, failure string) presets.Common {
	return presets.Common{
		Window: seconds(c.Float("window_s")), Calls: int(c.Float("window_calls")), MinCalls: int(c.Float("minimum")),
		FailureRate: c.Float(failure) / 100, OpenFor: seconds(c.Float("open_s")), Probes: int(c.Float("probes")),
	}
}

// preset is the breaker of a cell in the registry.
func (c Cell) preset() presets.BreakerPreset {
	p, err := presets.FindBreaker(c.Text("breaker"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return p
}

// presetMaker is the configuration of a cell's breaker; nil if it has no such
// settings.
func presetMaker(c Cell) policies.BreakerMaker {
	p := c.preset()
	switch {
	case c.Text("settings") == presetDefaults:
		return p.Defaults()
	case p.Set == nil || p.Throttle:
		return nil
	case c.Text("settings") == presetT4b:
		return p.Set(common(c, "t4b_failure_pct"))
	}
	return p.Set(common(c, "failure_pct"))
}

// checkPreset refuses settings that the library would refuse.
func checkPreset(c Cell) error {
	if err := common(c, "failure_pct").Validate(); err != nil {
		return fmt.Errorf("experiments: %w", err)
	}
	if m := presetMaker(c); m != nil {
		if err := m.Validate(); err != nil {
			return fmt.Errorf("experiments: %sbreaker %s, settings %s: %w", guiltyFactor(c), c.Text("breaker"), c.Text("settings"), err)
		}
	}
	return nil
}

// guiltyFactor names the factor that a breaker refuses: with that one alone at
// its default the settings are valid.
func guiltyFactor(c Cell) string {
	for _, f := range commonFactors(50) {
		other := Cell{c.factors, slices.Clone(c.levels)}
		for i := range c.factors {
			if c.factors[i].Name == f.Name {
				other.levels[i] = f.Levels[0]
			}
		}
		if m := presetMaker(other); m != nil && m.Validate() == nil {
			return "factor " + f.Name + ": " + c.Text(f.Name) + ": "
		}
	}
	return ""
}

// maxPresetCalls bounds the calls of a run.
const maxPresetCalls = 1e8

func checkBreakerPresets(c Cell) error {
	if err := checkPreset(c); err != nil {
		return err
	}
	warm, window := c.Float("warmup_s"), c.Float("window_s")
	if c.Text("settings") != presetDefaults && min(warm, c.Float("healthy_s")) < window {
		return fmt.Errorf("experiments: factors warmup_s and healthy_s: %s and %s s, want at least the window_s of %s s each",
			formatNumber(warm), c.Text("healthy_s"), formatNumber(window))
	}
	if total := warm + c.Float("hours")*3600; total > maxSeconds {
		return fmt.Errorf("experiments: factors hours and warmup_s: %s s in all, want at most %s", formatNumber(total), formatNumber(maxSeconds))
	}
	if total := presetOutage(c, 0).end.Seconds(); total > maxSeconds {
		return fmt.Errorf("experiments: an outage with its healthy time takes %s s, want at most %s", short(total, 0), formatNumber(maxSeconds))
	}
	all := warm + c.Float("hours")*3600 + outagePhases*presetOutage(c, 0).end.Seconds()
	if n := all * c.Float("rate_rps"); n > maxPresetCalls {
		return fmt.Errorf("experiments: breaker-presets: %s s, with %d outages, at rate_rps of %s are %s calls, want at most %s",
			short(all, 0), outagePhases, c.Text("rate_rps"), short(n, 0), formatNumber(maxPresetCalls))
	}
	if err := checkGlitch(c); err != nil {
		return err
	}
	if err := arrivals(c).Validate(); err != nil {
		return err
	}
	return failures(c, true).Validate()
}

// outagePhases is how many places in a second an outage begins at.
const outagePhases = 8

// phaseOf is the part of a second at which outage k begins.
func phaseOf(k int) time.Duration { return time.Duration(k) * time.Second / outagePhases }

// healthyCalls is the least number of healthy calls before an outage: it fills
// the windows of calls that libraries have by default.
const healthyCalls = 200

// An outageTimes says when an outage is.
type outageTimes struct{ from, to, end time.Duration }

// presetOutage is outage k of a cell.
func presetOutage(c Cell, k int) outageTimes {
	calls := max(healthyCalls, c.Float("window_calls"))
	healthy := math.Ceil(max(c.Float("healthy_s"), calls/c.Float("rate_rps")))
	from := seconds(min(healthy, maxSeconds)) + phaseOf(k)
	to := from + seconds(c.Float("outage_s"))
	return outageTimes{from, to, to + seconds(c.Float("observe_s"))}
}
