package conformance

import (
	"fmt"
	"math"
	"strings"

	"github.com/stormglass/stormglass/policies/presets"
)

// resilience4jBackoff reads the configuration of the row.
func (p *replay) resilience4jBackoff() *presets.Resilience4jBackoff {
	c := presets.Resilience4jBackoffConfig{InitialInterval: ms(int64(p.integer("initial_ms"))), Multiplier: p.float("multiplier")}
	if p.has("factor") {
		c.RandomizationFactor = p.float("factor")
	}
	if p.text("max_ms") != "" {
		c.MaxInterval = ms(int64(p.integer("max_ms")))
	}
	b, err := c.New()
	p.must(err)
	return b
}

// replayResilience4jBackoff replays both kinds of tables of waits: exact ones,
// and what many draws came to.
func replayResilience4jBackoff(p *replay) {
	p.config(&struct{}{})
	for p.next() {
		b := p.resilience4jBackoff()
		attempt := p.integer("attempt")
		if p.has("samples") {
			p.drawn(p.integer("samples"), func(u float64) int64 { return b.Milliseconds(attempt, u) })
			continue
		}
		for _, u := range []float64{0, 0.5, largest} {
			if b.Milliseconds(attempt, u) != b.Milliseconds(attempt, 0) {
				p.mismatch("the wait depends on chance")
			}
		}
		p.expect("x_interval_ms", b.Milliseconds(attempt, 0))
	}
}

// unlikely is how often something must have a chance to be drawn, so that it
// is drawn but for a chance of e^-20.
const unlikely = 20

// strata is into how many equal parts the range of u is cut to get the mean of
// a rule. It is the middle of each that is asked.
const strata = 1 << 16

// nearly is a random number near 1 that is far enough from it for the library's
// own rounding not to reach what it excludes.
const nearly = 1 - 0x1p-40

// drawn compares what many draws of the library came to with the rule: the
// smallest and the largest are among those that as many draws do not miss, and
// the mean is within five standard errors.
func (p *replay) drawn(samples int, wait func(u float64) int64) {
	edge := min(unlikely/float64(samples), 1)
	within := func(column string, low, high int64) {
		p.compared(column)
		if x := int64(p.integer(column)); x < low || x > high {
			p.mismatch("%s = %d to %d, the library says %d", column, low, high, x)
		}
	}
	within("x_min_ms", wait(0), wait(edge))
	within("x_max_ms", wait(1-edge), wait(nearly))
	var sum, squares float64
	first := float64(wait(0))
	for i := range strata {
		x := float64(wait((float64(i)+0.5)/strata)) - first
		sum += x
		squares += x * x
	}
	mean := sum / strata
	deviation := math.Sqrt(max(squares/strata-mean*mean, 0))
	mean += first
	rounding := 0.0005 + (float64(wait(nearly))-first)/strata + math.Abs(mean)*0x1p-50
	p.compared("x_mean_ms")
	if x := p.float("x_mean_ms"); math.Abs(x-mean) > 5*deviation/math.Sqrt(float64(samples))+rounding {
		p.mismatch("x_mean_ms = %v, the library says %v", mean, x)
	}
}

// resilience4jScript are the ends of attempts by their letters.
var resilience4jScript = map[rune]presets.Resilience4jAttempt{
	'S': presets.ResultAccepted, 'R': presets.ResultRetried, 'E': presets.ErrorRetried, 'I': presets.ErrorIgnored,
}

func replayResilience4jRetry(p *replay) {
	var c struct {
		Fail     bool   `json:"fail_after_max_attempts"`
		Ignored  string // the letter of errors that are ignored
		Attempts int    `json:"max_attempts"`
		Result   string `json:"retry_on_result"` // the letter of results that are retried
		Wait     resilience4jOpenWait
	}
	p.config(&c)
	if c.Ignored != "I" || c.Result != "R" {
		p.fail("config: ignored %q and retry_on_result %q, want I and R", c.Ignored, c.Result)
	}
	r, err := presets.Resilience4jRetryConfig{MaxAttempts: c.Attempts, FailAfterMaxAttempts: c.Fail, Wait: p.resilience4jOpenWait(c.Wait)}.New()
	p.must(err)
	for p.next() {
		attempts, final, waits := p.resilience4jScript(r)
		p.expect("x_attempts", attempts)
		p.expect("x_final", final)
		p.expect("x_sleeps_ms", waits)
		n := r.Counts()
		p.expect("x_successful_without_retry", n.SuccessfulWithoutRetry)
		p.expect("x_successful_with_retry", n.SuccessfulWithRetry)
		p.expect("x_failed_without_retry", n.FailedWithoutRetry)
		p.expect("x_failed_with_retry", n.FailedWithRetry)
		p.expect("x_total_calls", n.Total)
	}
}

// resilience4jScript makes the call of the row.
func (p *replay) resilience4jScript(r *presets.Resilience4jRetry) (attempts int, final, waits string) {
	var slept []string
	for _, letter := range p.text("script") {
		attempt, ok := resilience4jScript[letter]
		if !ok {
			p.fail("script letter %q is unknown", letter)
		}
		attempts++
		wait, end := r.After(attempt, attempts, 0)
		if end == presets.GoesOn {
			slept = append(slept, fmt.Sprint(wait))
			continue
		}
		switch {
		case end == presets.MaxRetriesExceeded:
			final = "max_retries_exceeded"
		case attempt == presets.ErrorIgnored:
			final = "ignored_error"
		case end == presets.EndsWithError:
			final = "error"
		default:
			final = "result_" + strings.ToLower(string(letter))
		}
		return attempts, final, strings.Join(slept, " ")
	}
	p.fail("script %q ends before the call", p.text("script"))
	return 0, "", ""
}
