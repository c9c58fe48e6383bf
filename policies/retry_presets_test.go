package policies

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
)

// governanceYAML is the skeleton as published.
const governanceYAML = `
max_attempts: 3
initial_backoff: 120ms
multiplier: 2.0
jitter: 0.3
retry_on: [connect_timeout, 502, 503, 504]
no_retry_on: [400, 401, 403, 422, 429]
budget: 0.1
`

// drillYAML is the settings as published.
const drillYAML = `
max-attempts: 3
wait-duration: 200ms
exponential-backoff-multiplier: 2
randomized-wait-factor: 0.5
`

// A settings reads lines of a key and a value.
type settings map[string]string

func readSettings(text string) settings {
	s := settings{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			s[key] = value
		}
	}
	return s
}

func (s settings) number(key string) float64 { return must(strconv.ParseFloat(s[key], 64)) }
func (s settings) list(key string) []string {
	return strings.Split(strings.Trim(s[key], "[]"), ", ")
}

func TestRetryGovernance(t *testing.T) {
	y, p := readSettings(governanceYAML), RetryGovernance()
	if float64(p.Retry.Attempts) != y.number("max_attempts") || p.Retry.Backoff.Base != must(time.ParseDuration(y["initial_backoff"])) ||
		p.Retry.Backoff.Multiplier != y.number("multiplier") || p.Retry.Backoff.Jitter != y.number("jitter") ||
		p.Budget.Tokens.Ratio != y.number("budget") ||
		!slices.Equal(p.Retry.Errors.RetryOn, y.list("retry_on")) || !slices.Equal(p.Retry.Errors.NoRetryOn, y.list("no_retry_on")) {
		t.Errorf("%+v, want it as in %v", p, y)
	}
	retried := must(p.Retry.Errors.Func())
	for code, want := range map[ErrorCode]bool{
		ErrConnectTimeout: true, 502: true, 503: true, 504: true,
		ErrTimeout: false, ErrConnect: false, ErrReset: false, 400: false, 429: false, 404: false, 500: false,
	} {
		if got := retried(Outcome{Err: code}); got != want {
			t.Errorf("%v: retried %v, want %v", code, got, want)
		}
	}
	// Ten retries for a hundred requests, and not one more at any time.
	r, guard, err := p.New(nil, nil)
	if err != nil || guard != nil {
		t.Fatal(guard, err)
	}
	granted := 0
	for n := range 100 {
		r.Start()
		d := r.Decide(Attempt{Number: 1, Outcome: Outcome{Err: ErrorCode(503)}, U: 0.5})
		if d.Retry {
			granted++
			if d.Delay != 120*time.Millisecond {
				t.Errorf("wait %v", d.Delay)
			}
		}
		if 10*granted > n+1 {
			t.Fatalf("%d retries after %d requests", granted, n+1)
		}
	}
	if granted != 10 {
		t.Errorf("%d retries for 100 requests, want 10", granted)
	}
}

func TestSpringCloudDrill(t *testing.T) {
	y, p := readSettings(drillYAML), SpringCloudDrill()
	if float64(p.Retry.Attempts) != y.number("max-attempts") || p.Retry.Backoff.Base != must(time.ParseDuration(y["wait-duration"])) ||
		p.Retry.Backoff.Multiplier != y.number("exponential-backoff-multiplier") || p.Retry.Backoff.Jitter != y.number("randomized-wait-factor") {
		t.Errorf("%+v, want it as in %v", p, y)
	}
	// The waits that the article gives: 100 to 300 ms before the first retry.
	b := must(NewBackoff(p.Retry.Backoff))
	for _, test := range []struct {
		retry     int
		low, high time.Duration
	}{{1, 100 * ms, 300 * ms}, {2, 200 * ms, 600 * ms}} {
		if low, high := b.Delay(test.retry, 0, 0), b.Delay(test.retry, 0, lastU); low != test.low || high > test.high || high < test.high-ms {
			t.Errorf("wait %d from %v to %v, want %v to %v", test.retry, low, high, test.low, test.high)
		}
	}
	retried := must(p.Retry.Errors.Func())
	for code, want := range map[ErrorCode]bool{ErrTimeout: true, ErrConnect: true, ErrReset: true, ErrBreakerOpen: false, 503: false, 400: false} {
		if got := retried(Outcome{Err: code}); got != want {
			t.Errorf("%v: retried %v, want %v", code, got, want)
		}
	}
}

// The pipeline on a mock clock: the first hundred requests retry freely, then
// the counter refuses; the breaker refuses while it is open.
func TestSpringCloudDrillPipeline(t *testing.T) {
	mock := clock.NewMock()
	breaker := guardBreaker(t, mock)
	r, guard, err := SpringCloudDrill().New(breaker, mock)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(dangerous bool) Reason {
		r.Start()
		d := r.Decide(Attempt{Number: 1, Outcome: Outcome{Err: ErrTimeout}, NotIdempotent: dangerous})
		if d.Retry {
			r.WaitDone()
			r.GiveUp(true)
		}
		return d.Reason
	}
	for n := range 98 {
		if got := ask(false); got != Granted {
			t.Fatalf("request %d: %v", n+1, got)
		}
	}
	if got := ask(true); got != NotIdempotent {
		t.Errorf("request 99: %v", got)
	}
	trip(t, breaker)
	if got := ask(true); got != BreakerNotClosed {
		t.Errorf("request 100: %v", got)
	}
	mock.Add(time.Second)
	breaker.Record(mustAllow(t, breaker), Outcome{})
	if got := ask(false); got != BudgetSpent {
		t.Errorf("request 101: %v", got)
	}
	if got, want := guard.Counts(), (GuardCounts{Granted: 98, Budget: 1, Breaker: 1, NotIdempotent: 1}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestRetryPresets(t *testing.T) {
	for _, p := range RetryPresets() {
		r, guard, err := p.New(nil, nil)
		if err != nil || r == nil || (guard == nil) != (p.Guard == nil) || p.Doc == "" || len(p.Retry.Notes()) > 0 {
			t.Errorf("%s: %v, %v, %v, notes %q", p.Name, r, guard, err, p.Retry.Notes())
		}
		again, err := LookupRetryPreset(p.Name)
		if err != nil || again.Doc != p.Doc {
			t.Errorf("%s: found %q, error %v", p.Name, again.Name, err)
		}
		// What one takes, another does not see.
		p.Retry.Errors.RetryOn[0] = "any"
		if again, _ = LookupRetryPreset(p.Name); again.Retry.Errors.RetryOn[0] == "any" {
			t.Errorf("%s: its list is shared", p.Name)
		}
	}
	_, err := LookupRetryPreset("spring-cloud")
	checkError(t, err, `policies: retry preset "spring-cloud", want one of retry-governance, spring-cloud-drill`)

	broken := SpringCloudDrill()
	broken.Budget.Counter.Ratio = 2
	_, _, err = broken.New(nil, nil)
	checkError(t, err, "policies: counter budget: ratio 2")
	broken = SpringCloudDrill()
	broken.Retry.Attempts = 0
	_, _, err = broken.New(nil, nil)
	checkError(t, err, "policies: retry: attempts 0")
	broken = SpringCloudDrill()
	broken.Guard.Order = []GuardStep{"x"}
	_, _, err = broken.New(nil, nil)
	checkError(t, err, `policies: guard: step "x"`)
}
