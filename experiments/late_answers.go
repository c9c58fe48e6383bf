package experiments

import (
	"fmt"
	"slices"
	"time"

	"github.com/stormglass/stormglass/policies/presets"
)

// The scenarios of late-answers.
const (
	slowSuccess = "slow-success" // old calls succeed in the middle of an outage
	lateFailure = "late-failure" // old calls time out after the recovery
)

var lateScenarios = []string{slowSuccess, lateFailure}

func lateAnswers() *Experiment {
	scenario := choice("scenario", slowSuccess+": slow calls of before an outage succeed in it; "+lateFailure+": calls that hang in an outage time out after it", lateScenarios, 2)
	scenario.label = func(level string) string {
		if level == slowSuccess {
			return "slow calls of before the outage succeed in it"
		}
		return "calls that hang in the outage time out after it"
	}
	breaker := presetFactor()
	breaker.Levels = nil // but one that is never open can be named
	for _, p := range presets.Breakers() {
		if !p.Throttle {
			breaker.Levels = append(breaker.Levels, p.Name)
		}
	}
	return &Experiment{
		Name: "late-answers",
		Doc: `What does a breaker do with the answer to a call that it let through in another state?
Calls take time, so some are under way when the state changes. In slow-success
healthy calls take fast_s, but for a share of slow_ratio that take slow_s and
then succeed; in an outage of outage_s every call that is sent fails after
fast_s. A breaker that takes an old success for a sign of life closes in the
middle of it. In late-failure every call that is sent during hang_s hangs and
fails after timeout_s; then the callee is well again, while failures of before
keep coming in. A breaker that counts them opens again. An answer is late if
the state has changed between the call and its end, also if it has come back
since. Each run is made twice, the second time with late answers thrown away:
where nothing differs, the breaker drops them itself. The outage begins at a
random instant in a second. Source: in-flight calls in the semantics of the
libraries.`,
		Factors: slices.Concat([]Factor{
			scenario, breaker,
			withPanel(choice("settings", "defaults: the library's own; common: the factors below", presetSettings[:2], 2)),
		}, commonFactors(50), []Factor{
			positive("rate_rps", "calls per second", 1e5, 20),
			choice("arrivals", "how calls arrive: fixed or poisson", []string{"fixed", "poisson"}, 1),
			number("fast_s", "time of a call that is answered at once, s", 0, 1e5, 0.05),
			number("slow_ratio", "share of healthy calls that are slow; in slow-success", 0, 1, 0.02),
			number("slow_s", "time of a slow call, s", 0, 1e5, 8),
			number("timeout_s", "time after which a call that hangs fails, s", 0, 1e5, 10),
			number("healthy_s", "healthy time before the outage, s", 1, 1e5, 130),
			number("outage_s", "length of the outage in slow-success, s", 0.001, 1e5, 60),
			number("hang_s", "length of the outage in late-failure, s", 0.001, 1e5, 12),
			number("observe_s", "time observed after it, s", 0.001, 1e5, 120),
		}),
		Metrics: []Metric{
			{Name: "late_answers_count", Doc: "answers from the start of the outage on to calls that the breaker let through before its last change of state"},
			{Name: "late_changes_count", Doc: "changes of state that such an answer made the instant it came"},
			{Name: "late_effect_ratio", Doc: "share of runs in which the states differ from those of a run whose late answers are thrown away", Proportion: true},
			{Name: "wrong_closings_count", Doc: "closings during the outage, while every call sent fails"},
			{Name: "late_reopenings_count", Doc: "openings after the outage, but for the first since its start; of a closed or half-open breaker"},
			{Name: "recovery_s", Doc: "end of the outage to the last refused call, 0 if there is none, s; never if the last call observed is refused", Censored: "unrecovered_count"},
			{Name: "good_refused_count", Doc: "calls refused from the start of the outage on that would have succeeded"},
			{Name: "unnoticed_ratio", Doc: "share of runs in which the breaker does not open from the start of the outage on", Proportion: true},
			{Name: "opens_late_ratio", Doc: "share of runs in which its first opening from then on comes after the outage", Proportion: true},
		},
		Reps:    20,
		Check:   checkLateAnswers,
		Measure: measureLateAnswers,
		Report:  reportLateAnswers,
		Detail:  lateAnswersStates,
	}
}

func checkLateAnswers(c Cell) error {
	if err := checkPreset(c); err != nil {
		return err
	}
	calls := max(healthyCalls, c.Float("window_calls"))
	total := c.Float("healthy_s") + calls/c.Float("rate_rps") + 1 + max(c.Float("outage_s"), c.Float("hang_s")) + c.Float("observe_s")
	if n := total * c.Float("rate_rps"); n > maxPresetCalls || total > maxSeconds {
		return fmt.Errorf("experiments: late-answers: %s s at rate_rps of %s are %s calls, want at most %s calls in %s s",
			short(total, 0), c.Text("rate_rps"), short(n, 0), formatNumber(maxPresetCalls), formatNumber(maxSeconds))
	}
	return arrivals(c).Validate()
}

// lateOutage is the outage of a cell, that begins a part of a second after a
// healthy time that fills the windows.
func lateOutage(c Cell, phase float64) outageTimes {
	o := presetOutage(c, 0)
	o.from += time.Duration(phase * float64(time.Second))
	length := c.Float("outage_s")
	if c.Text("scenario") == lateFailure {
		length = c.Float("hang_s")
	}
	o.to = o.from + seconds(length)
	o.end = o.to + seconds(c.Float("observe_s"))
	return o
}
