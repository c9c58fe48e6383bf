package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/scenario/document"
)

func errWant(text, want string) error { return fmt.Errorf("%q, want %s", text, want) }

// A Layer is one policy of a stack: exactly one of its keys is given. As a text
// it is the name of one of the scenario's policies.
type Layer struct {
	document.Place
	Timeout *Duration `key:"timeout" doc:"Time that the layers inside and the answer may take together. Outside a retry it is the deadline of the call, inside that of an attempt."`
	Retry   *Retry    `key:"retry" doc:"Repeats what is inside."`
	Breaker *Breaker  `key:"breaker" doc:"Refuses calls while it is open."`
	Limit   *Limit    `key:"limit" doc:"Caps the calls in progress inside."`
	Policy  string    `key:"policy" doc:"Name of one of the scenario's policies."`
}

// ParseShort reads a layer written as the name of a policy.
func (l *Layer) ParseShort(text string) error {
	l.Policy = text
	return nil
}

// A Retry repeats attempts that fail.
type Retry struct {
	document.Place
	Attempts *Count   `key:"attempts" doc:"Most attempts of a request, the first included. Default 3."`
	Deadline Duration `key:"deadline" above:"0" doc:"Age of a request at which no retry starts any more. Default none."`
	On       []string `key:"on" doc:"Errors that are retried: statuses such as 503, or any, timeout, connect-failure, connect-timeout, reset, 4xx, 5xx, gateway-error, breaker-open, limit, left, other. Default any but breaker-open."`
	NotOn    []string `key:"not_on" doc:"Errors that are not."`
	Backoff  *Backoff `key:"backoff" doc:"Wait before a retry. Default none."`
	Budget   *Budget  `key:"budget" doc:"Bounds the retries of many requests together. Default none."`
	Share    Label    `key:"share" doc:"Name of a budget that is one for all that name it. Default one for each instance of the caller."`
	Guard    []string `key:"guard" doc:"Questions before a retry, in order: budget, breaker, idempotent. Default the budget alone."`
}

// ParseShort reads a retry written as its number of attempts.
func (r *Retry) ParseShort(text string) error {
	r.Attempts = new(Count)
	return r.Attempts.ParseText(text)
}

// A Backoff is a wait, the name of a preset, or a rule.
type Backoff struct {
	document.Place
	Preset        string          `key:"preset" doc:"Back-off of a library with its defaults, such as envoy, grpc, aws-standard, resilience4j: see docs/PRESETS.md."`
	Kind          string          `key:"kind" doc:"fixed, exponential, full, equal or decorrelated. Default exponential, or fixed without a multiplier." enum:"none,fixed,exponential,full,equal,decorrelated"`
	Base          Duration        `key:"base" doc:"The wait to start from."`
	Multiplier    float64         `key:"multiplier" above:"0" doc:"Growth from one wait to the next. Default 2."`
	Cap           Duration        `key:"cap" above:"0" doc:"Longest wait before the jitter. Default none."`
	Jitter        Ratio           `key:"jitter" doc:"fixed, exponential: share by which a wait may be shorter or longer. Default 0."`
	FirstExponent int             `key:"first_exponent" doc:"Exponent before the first retry. Default 0."`
	CapLast       bool            `key:"cap_last" doc:"The cap holds after the jitter as well."`
	Params        document.Params `key:"params" doc:"Parameters of the preset, in place of its defaults: see Parameters of presets."`
}

// ParseShort reads a back-off written as a fixed wait or as a preset.
func (b *Backoff) ParseShort(text string) error {
	d, err := ParseDuration(text)
	switch {
	case err == nil && d == 0:
		b.Kind = "none"
	case err == nil:
		b.Kind, b.Base = "fixed", Duration(d)
	case text == "" || strings.ContainsAny(text[:1], "0123456789-"):
		return err
	default:
		b.Preset = text
	}
	return nil
}

// A Budget bounds retries.
type Budget struct {
	document.Place
	Preset string `key:"preset" doc:"Budget of a library with its defaults, such as finagle, envoy-retry-budget, grpc-throttle, aws-standard: see docs/PRESETS.md."`
	Kind   string `key:"kind" doc:"tokens, float-tokens, counter, share, concurrent, throttle, window, unlimited or empty." enum:"tokens,float-tokens,counter,share,concurrent,throttle,window,unlimited,empty"`

	Ratio     Ratio           `key:"ratio" doc:"tokens, throttle: tokens for each credit. counter, window: retries for each request. share: part of the active requests."`
	Cap       int             `key:"cap" doc:"tokens: most tokens held. concurrent: most retries in progress."`
	Initial   int             `key:"initial" doc:"tokens: tokens at first. Default 0."`
	Credit    string          `key:"credit" doc:"tokens: what earns tokens. Default request." enum:"request,success"`
	Floor     int             `key:"floor" doc:"share: retries in progress that are always granted. Default 0."`
	Active    string          `key:"active" doc:"share: what is counted as active. Default requests." enum:"requests,attempts,others"`
	MaxTokens int             `key:"max_tokens" doc:"throttle: size of the bucket; retries stop at half of it."`
	Length    Duration        `key:"length" doc:"window: its length."`
	MinRate   Rate            `key:"min_rate" doc:"window: retries a second besides the ratio. Default 0/s."`
	Grace     int             `key:"grace" doc:"counter: requests up to which nothing is refused. Default 0."`
	ResetAt   int             `key:"reset_at" doc:"counter: requests that empty the counters."`
	Params    document.Params `key:"params" doc:"Parameters of the preset, in place of its defaults: see Parameters of presets."`
}

// ParseShort reads a budget written as a preset.
func (b *Budget) ParseShort(text string) error {
	b.Preset = text
	return nil
}

// A Breaker is a circuit breaker, or the breaker of a library.
type Breaker struct {
	document.Place
	Preset string          `key:"preset" doc:"Breaker or throttle of a library with its defaults, such as resilience4j-time, hystrix-1.5.13, gobreaker, polly: see docs/PRESETS.md."`
	Params document.Params `key:"params" doc:"Parameters of the preset, in place of its defaults: see Parameters of presets."`

	Window         *Window  `key:"window" doc:"Outcomes that count: a number of calls, or a duration."`
	Minimum        int      `key:"minimum" above:"0" doc:"Outcomes in the window before a rate means anything; a window of fewer calls lowers it to their number. Default 1."`
	FailureRate    *Ratio   `key:"failure_rate" doc:"Share of failures that opens, reached or exceeded. Default 50%, or none if there is a slow rate."`
	SlowRate       *Ratio   `key:"slow_rate" doc:"Share of slow calls that opens. Default none."`
	SlowAfter      Duration `key:"slow_after" doc:"A longer call is slow."`
	SlowInFlight   bool     `key:"slow_in_flight" doc:"A call counts as slow while it is still under way."`
	Consecutive    int      `key:"consecutive" doc:"Opens at so many failures in a row, in place of minimum and rates; a window of a duration may stand beside it: they must come within it."`
	Open           Duration `key:"open" doc:"Time open. Default 60s."`
	Probes         *Count   `key:"probes" doc:"Calls let through in half-open. Default 1."`
	ProbesInFlight int      `key:"probes_in_flight" above:"0" doc:"Most of them at a time. Default all."`
	HalfOpen       string   `key:"half_open" doc:"collect-all: all probes, then the rates decide; first-failure: the first failure opens again. Default collect-all." enum:"collect-all,first-failure"`
	CloseAfter     int      `key:"close_after" above:"0" doc:"first-failure: good probes that close. Default all."`
	HalfOpenFor    Duration `key:"half_open_for" above:"0" doc:"Longest time half-open. Default no bound."`
	Ignore         []string `key:"ignore" doc:"Errors that count as nothing, named as in retries."`
	Success        []string `key:"success" doc:"Errors that count as successes; of an error in both lists this one counts."`
	Share          Label    `key:"share" doc:"Name of a breaker that is one for all that name it. Default one for each instance of the caller."`
}

// ParseShort reads a breaker written as a preset.
func (b *Breaker) ParseShort(text string) error {
	b.Preset = text
	return nil
}

// A Window is a number of calls, a duration, or a duration in buckets.
type Window struct {
	document.Place
	Calls    int      `key:"calls" above:"0" doc:"The last so many outcomes."`
	Length   Duration `key:"length" above:"0" doc:"The outcomes of so long."`
	Buckets  int      `key:"buckets" above:"0" doc:"The length is cut into so many parts, of which the oldest leaves at a time. Default none: exact."`
	MaxCalls int      `key:"max_calls" above:"0" doc:"Most outcomes held. Default no bound."`
}

// ParseShort reads a window written as 100, 10s or 10s/10.
func (w *Window) ParseShort(text string) error {
	if n, err := strconv.Atoi(text); err == nil {
		w.Calls = n
		return nil
	}
	length, buckets, cut := strings.Cut(text, "/")
	d, err := ParseDuration(length)
	if err != nil {
		return errWant(text, "a number of calls such as 100, a duration such as 10s, or one in buckets such as 10s/10")
	}
	w.Length = Duration(d)
	if cut {
		if w.Buckets, err = strconv.Atoi(buckets); err != nil {
			return errWant(text, "a number of buckets after the /")
		}
	}
	return nil
}

// A Limit caps calls in progress.
type Limit struct {
	document.Place
	InFlight int   `key:"in_flight" doc:"Most calls in progress; one more is refused."`
	Share    Label `key:"share" doc:"Name of a cap that is one for all that name it. Default one for each instance of the caller."`
}

// ParseShort reads a cap written as its number.
func (l *Limit) ParseShort(text string) (err error) {
	if l.InFlight, err = strconv.Atoi(text); err != nil {
		return errWant(text, "a number of calls")
	}
	return nil
}

// A Law is a distribution of durations: a constant such as 50ms, a kind with
// its mean such as exponential 50ms, or more about it.
type Law struct {
	document.Place
	Kind      string                 `key:"law" doc:"constant, uniform, exponential, lognormal, gamma, quantiles or empirical. Default constant." enum:"constant,uniform,exponential,lognormal,gamma,quantiles,empirical"`
	Mean      Duration               `key:"mean" doc:"Mean of constant, exponential, lognormal and gamma."`
	CV        float64                `key:"cv" doc:"lognormal, gamma: standard deviation divided by the mean."`
	Low       Duration               `key:"low" doc:"uniform: least."`
	High      Duration               `key:"high" doc:"uniform: most."`
	Quantiles document.Map[Duration] `key:"quantiles" doc:"quantiles: durations by percentile, such as p50: 20ms, p99: 400ms."`
	Samples   []Duration             `key:"samples" doc:"empirical: measured durations, each as likely."`
}

// ParseShort reads a law written as a duration or as a kind and a mean.
func (l *Law) ParseShort(text string) error {
	kind, mean, two := strings.Cut(strings.TrimSpace(text), " ")
	if !two || strings.ContainsAny(kind[:1], "0123456789") {
		d, err := ParseDuration(text)
		l.Mean = Duration(d)
		return err
	}
	if known := []string{"constant", "exponential"}; !slices.Contains(known, kind) {
		return fmt.Errorf("%q is no kind that a mean is enough for; %s", kind, names.Known(kind, known))
	}
	d, err := ParseDuration(mean)
	l.Kind, l.Mean = kind, Duration(d)
	return err
}

// Arrivals is a rate, which is evenly spaced, or a process.
type Arrivals struct {
	document.Place
	Fixed   *Rate         `key:"fixed" doc:"Evenly spaced, from 0s on."`
	Poisson *Rate         `key:"poisson" doc:"Exponential gaps."`
	Ramp    *Ramp         `key:"ramp" doc:"A rate that changes linearly."`
	Bursts  *Bursts       `key:"bursts" doc:"Two rates in turn."`
	Trace   *ArrivalTrace `key:"trace" doc:"The rates of a file of segments."`
}

// ParseShort reads arrivals written as a rate, or as poisson and a rate.
func (a *Arrivals) ParseShort(text string) error {
	kind, rate, two := strings.Cut(strings.TrimSpace(text), " ")
	r := new(Rate)
	switch {
	case two && kind == "poisson":
		a.Poisson = r
		return r.ParseText(rate)
	case two && kind == "fixed":
		a.Fixed = r
		return r.ParseText(rate)
	case two && kind != "" && kind[0] > '9':
		return fmt.Errorf("%q is no kind of arrivals; %s", kind, names.Known(kind, []string{"fixed", "poisson"}))
	}
	a.Fixed = r
	return r.ParseText(text)
}

// A Ramp is a rate that changes linearly and then stays.
type Ramp struct {
	document.Place
	From   Rate     `key:"from" doc:"First rate. Default 0/s."`
	To     Rate     `key:"to" doc:"Last rate. Default 0/s."`
	Over   Duration `key:"over,required" doc:"Time it takes."`
	Random bool     `key:"random" doc:"A Poisson process of that rate. Default evenly spaced."`
}

// Bursts are two rates in turn.
type Bursts struct {
	document.Place
	Rate   Rate     `key:"rate,required" doc:"Rate during on."`
	Off    Rate     `key:"off_rate" doc:"Rate during off. Default 0/s."`
	On     Duration `key:"on,required" doc:"Length of the first phase."`
	OffFor Duration `key:"off,required" doc:"Length of the second."`
	Random bool     `key:"random" doc:"A Poisson process of that rate. Default evenly spaced."`
}

// An ArrivalTrace is a file of segments that state rates.
type ArrivalTrace struct {
	document.Place
	File   string `key:"file,required" doc:"CSV or Parquet file of segments, seen from the scenario."`
	Node   string `key:"node" doc:"The node of the file that is meant. Default its only one."`
	Random bool   `key:"random" doc:"A Poisson process of that rate. Default evenly spaced."`
}

// ParseShort reads a trace written as a file.
func (t *ArrivalTrace) ParseShort(text string) error {
	t.File = text
	return nil
}
