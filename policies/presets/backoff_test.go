package presets

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// backoffUs are random numbers, in order.
var backoffUs = []float64{0, 1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, lastUnit}

// backoffRows are the waits of each preset, by what the reference says.
var backoffRows = map[string]struct {
	least, most []time.Duration // before retry 1, 2, ... at the smallest and the largest u
	cap         time.Duration   // the longest wait ever; 0 is none
}{
	"none":                   {ms(0), ms(0), 0},
	"fixed":                  {ms(100, 100), ms(100, 100), 100 * time.Millisecond},
	"exponential":            {ms(100, 200, 400), ms(100, 200, 400), 20 * time.Second},
	"plus-minus":             {ms(70, 140, 280), below(ms(130, 260, 520), 1), 26 * time.Second},
	"full":                   {ms(0, 0, 0), below(ms(100, 200, 400), 1), 20 * time.Second},
	"equal":                  {ms(50, 100, 200), below(ms(100, 200, 400), 1), 20 * time.Second},
	"decorrelated":           {ms(100, 100), below(ms(300), 1), 20 * time.Second},
	"aws-blog-full":          {ms(0, 0), below(ms(10, 20), 1), 2 * time.Second},
	"aws-blog-equal":         {ms(5, 10), below(ms(10, 20), 1), 2 * time.Second},
	"aws-blog-decorrelated":  {ms(5, 5), below(ms(15), 1), 2 * time.Second},
	"aws-standard":           {ms(0, 0), below(ms(50, 100, 200), 1), 20 * time.Second},
	"aws-standard-throttled": {ms(0, 0), below(ms(1000, 2000), 1), 20 * time.Second},
	"aws-standard-legacy":    {ms(0, 0, 0, 0, 20000), nil, 20 * time.Second},
	"cenkalti":               {ms(250, 375), below(ms(750, 1125), -1), 90*time.Second + 1},
	"envoy":                  {ms(0, 0), ms(24, 49, 99, 199, 249, 249), 249 * time.Millisecond},
	"envoy-docs":             {ms(0, 0), ms(24, 74, 174, 249, 249), 249 * time.Millisecond},
	"istio":                  {ms(0, 0), ms(24, 49), 249 * time.Millisecond},
	"finagle":                {ms(5000, 5000, 10000), below(ms(5000), 0), 300 * time.Second},
	"grpc":                   {ms(80, 160), nil, 1200 * time.Millisecond},
	"grpc-connect":           {ms(1000, 1280, 2048), ms(1000), 144 * time.Second},
	"linkerd":                {ms(25, 50, 100, 200, 250), nil, 250 * time.Millisecond},
	"linkerd-accrual":        {ms(1000, 2000, 4000), ms(1000, 2000, 5000), time.Minute},
	"polly":                  {ms(2000, 2000), ms(2000, 2000), 2 * time.Second},
	"polly-linear":           {ms(1500, 3000, 4500), nil, 0},
	"polly-exponential":      {ms(2000, 4000, 8000), ms(2000, 4000, 8000), 0},
	"polly-v2":               {ms(0), nil, 0},
	"resilience4j":           {ms(500, 750, 1125, 1687), ms(500, 750, 1125, 1687), 0},
	"resilience4j-fixed":     {ms(500, 500), ms(500, 500), 500 * time.Millisecond},
	"resilience4j-random":    {ms(250, 375, 562), nil, 0},
	"retryablehttp":          {ms(1000, 2000, 4000, 8000, 16000, 30000), ms(1000, 2000), 30 * time.Second},
	"retryablehttp-linear":   {ms(800, 1600, 2400), nil, 0},
	"spring":                 {ms(100, 200, 400), ms(100, 200, 400), 30 * time.Second},
	"spring-random":          {ms(100, 200, 400), ms(199, 399, 799), 30 * time.Second},
	"workqueue":              {ms(5, 10, 20), ms(5, 10, 20), 1000 * time.Second},
	"flowcontrol":            {ms(10000, 20000, 40000), ms(10000, 20000), 300 * time.Second},
	"wait-backoff":           {ms(10, 50, 250, 1250, 6250, 6250), nil, 6875 * time.Millisecond},
	"wait-backoff-conflict":  {ms(10, 10, 10), nil, 11 * time.Millisecond},
}

func ms(n ...int) []time.Duration {
	waits := make([]time.Duration, len(n))
	for i := range n {
		waits[i] = time.Duration(n[i]) * time.Millisecond
	}
	return waits
}

func below(waits []time.Duration, by time.Duration) []time.Duration {
	for i := range waits {
		waits[i] -= by
	}
	return waits
}

func TestBackoffDefaults(t *testing.T) {
	for _, p := range Backoffs() {
		want, ok := backoffRows[p.Name]
		if !ok {
			t.Errorf("%s: no row for it", p.Name)
			continue
		}
		d, err := p.New()
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for u, waits := range map[float64][]time.Duration{0: want.least, lastUnit: want.most} {
			previous := time.Duration(0)
			for i, w := range waits {
				if previous = d.Delay(i+1, previous, u); previous != w {
					t.Errorf("%s: wait %d at %v is %v, want %v", p.Name, i+1, u, previous, w)
				}
			}
		}
	}
}

func TestBackoffProperties(t *testing.T) {
	for _, p := range Backoffs() {
		d, err := p.New()
		if err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		limit := backoffRows[p.Name].cap
		if limit == 0 && p.Name != "none" {
			limit = math.MaxInt64
		}
		for _, attempts := range []int{math.MinInt, 0, 1, 2, 3, 4, 5, 7, 11, 31, 32, 33, 62, 63, 64, 65, 99, 1023, 1024, 1025, 1e6, math.MaxInt} {
			for _, previous := range []time.Duration{math.MinInt64, 0, 1, time.Second, time.Hour, math.MaxInt64 / 3, math.MaxInt64} {
				last := time.Duration(0)
				for _, u := range backoffUs {
					w := d.Delay(attempts, previous, u)
					if w < last || w > limit {
						t.Errorf("%s: wait after %d attempts and %v at %v is %v, want %v to %v", p.Name, attempts, previous, u, w, last, limit)
					}
					if again := d.Delay(attempts, previous, u); again != w {
						t.Errorf("%s: wait after %d attempts is %v, then %v", p.Name, attempts, w, again)
					}
					last = w
				}
				for _, outside := range []float64{math.NaN(), -1, math.Inf(-1)} {
					if d.Delay(attempts, previous, outside) != d.Delay(attempts, previous, 0) {
						t.Errorf("%s: wait at %v is not that at 0", p.Name, outside)
					}
				}
				if d.Delay(attempts, previous, 2) != d.Delay(attempts, previous, lastUnit) {
					t.Errorf("%s: wait at 2 is not that at the largest u", p.Name)
				}
			}
		}
		if n := testing.AllocsPerRun(100, func() { d.Delay(9, time.Second, 0.5) }); n > 0 {
			t.Errorf("%s: %v allocations, want 0", p.Name, n)
		}
	}
}

// The waits add up to base/1.4 times the curve at the last draw, and a wait is
// never below zero whatever the memory.
func TestPollyV2(t *testing.T) {
	delays, err := PollyBackoffConfig{BackoffType: PollyExponential, UseJitter: true, Delay: time.Second}.NewDelays()
	if err != nil {
		t.Fatal(err)
	}
	d := delays.(policies.MemoryDelays)
	var sum time.Duration
	var memory float64
	for n, u := range []float64{0.5, 0.1, 0.9, 0.3} {
		var wait time.Duration
		wait, memory = d.DelayFrom(n+1, memory, u)
		sum += wait
		want := math.Pow(2, float64(n)+u) * math.Tanh(math.Sqrt(4*(float64(n)+u))) / 1.4
		if math.Abs(sum.Seconds()-want) > 1e-6 {
			t.Errorf("sum of %d waits is %v, want %vs", n+1, sum, want)
		}
	}
	for _, memory := range []float64{math.Inf(1), math.NaN(), 1e300} {
		for _, attempts := range []int{1, 3, 1024, math.MaxInt} {
			if w, _ := d.DelayFrom(attempts, memory, 0.5); w < 0 {
				t.Errorf("wait after %d attempts from %v is %v", attempts, memory, w)
			}
		}
	}
	if n := testing.AllocsPerRun(100, func() { d.DelayFrom(9, 1, 0.5) }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
	capped, err := PollyBackoffConfig{BackoffType: PollyExponential, UseJitter: true, Delay: time.Second, MaxDelay: 3 * time.Second}.NewDelays()
	if err != nil || capped.Delay(9, 0, 0.5) != 3*time.Second {
		t.Errorf("capped wait %v, %v", capped.Delay(9, 0, 0.5), err)
	}
}

// The edges at which libraries differ.
func TestBackoffEdges(t *testing.T) {
	const ms, sec = time.Millisecond, time.Second
	type maker interface {
		NewDelays() (policies.Delays, error)
	}
	for _, test := range []struct {
		name     string
		cfg      maker
		attempts int
		previous time.Duration
		u        float64
		want     time.Duration
	}{
		{"resilience4j, both ends", Resilience4jRandomBackoffDefaults(), 1, 0, 1 - 0x1p-40, 750 * ms},
		{"resilience4j floor", Resilience4jBackoffConfig{2 * ms, 1, 0.9, 0}, 1, 0, 0, ms},
		{"resilience4j cap last", Resilience4jBackoffConfig{200 * ms, 2, 0.25, 10 * sec}, 7, 0, 0, 9600 * ms},
		{"resilience4j saturates", Resilience4jBackoffConfig{500 * ms, 1.5, 0, 0}, 94, 0, 0, math.MaxInt64},
		{"envoy doubles only below half", EnvoyBackoffConfig{125 * ms, 251 * ms, false}, 2, 0, lastUnit, 250 * ms},
		{"aws cap below base", AWSBackoffConfig{sec, 500 * ms}, 1, 0, 0.5, 250 * ms},
		{"aws legacy, less than 1 s", AWSLegacyBackoffConfig{500 * ms}, 1, 0, 0, 500 * ms},
		{"aws legacy, a power of 2", AWSLegacyBackoffConfig{16 * sec}, 4, 0, 0, 0},
		{"cenkalti first above the maximum", CenkaltiConfig{10 * sec, 0, 2, sec, 0, 0}, 1, 0, 0, 10 * sec},
		{"cenkalti jumps", CenkaltiConfig{600, 0, 1.5, 900, 0, 0}, 2, 0, 0, 900},
		{"grpc cap before jitter", GRPCBackoffConfig{sec, 500 * ms, 2}, 1, 0, 0, 400 * ms},
		{"grpc shrinks", GRPCBackoffConfig{sec, 10 * sec, 0.5}, 3, 0, 0, 200 * ms},
		{"workqueue cap below base", WorkqueueConfig{sec, ms}, 1, 0, 0, ms},
		{"flowcontrol first above the maximum", FlowcontrolConfig{10 * sec, sec, 0}, 1, 0, 0, 10 * sec},
		{"wait at the cap exactly", WaitBackoffConfig{sec, 2, 0, 9, 4 * sec}, 4, 0, 0, 4 * sec},
		{"wait without a factor", WaitBackoffConfig{sec, 0, 0, 9, ms}, 4, 0, 0, sec},
		{"wait without steps", WaitBackoffConfig{sec, 2, 0, 0, 0}, 4, 0, 0, sec},
		{"spring random cap", SpringBackoffConfig{100 * ms, 2, 150 * ms, true}, 1, 0, 0.9, 150 * ms},
		{"retryablehttp, maximum below minimum", RetryableHTTPConfig{2 * sec, sec, true}, 3, 0, 0.9, 6 * sec},
		{"linkerd, whole seconds", LinkerdBackoffConfig{sec, time.Minute, 0.5}, 1, 0, 0.9, sec},
		{"finagle decorrelated from the last", FinagleBackoffConfig{Kind: FinagleDecorrelated, Start: sec, Maximum: time.Minute}, 3, 5 * sec, 0, 5 * sec},
		{"finagle full from the last", FinagleBackoffConfig{Kind: FinagleFull, Start: sec, Maximum: time.Minute}, 3, 5 * sec, 0.5, 10 * sec},
		{"finagle full at the maximum", FinagleBackoffConfig{Kind: FinagleFull, Start: sec, Maximum: time.Minute}, 3, 15 * sec, 0, time.Minute},
		{"finagle linear", FinagleBackoffConfig{Kind: FinagleLinear, Start: sec, Offset: sec, Maximum: 5 * sec}, 9, 0, 0, 5 * sec},
		{"finagle exponential", FinagleBackoffConfig{Kind: FinagleExponential, Start: sec, Multiplier: 3, Maximum: 7 * sec}, 3, 0, 0, 7 * sec},
		{"finagle const", FinagleBackoffConfig{Kind: FinagleConst, Start: sec}, 3, 0, 0, sec},
		{"polly linear", PollyBackoffConfig{PollyLinear, false, sec, 5 * sec}, 9, 0, 0, 5 * sec},
	} {
		d, err := test.cfg.NewDelays()
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		} else if w := d.Delay(test.attempts, test.previous, test.u); w != test.want {
			t.Errorf("%s: wait %v, want %v", test.name, w, test.want)
		}
	}
}

func TestBackoffConfigs(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		cfg interface{ Validate() error }
		has string
	}{
		{Resilience4jBackoffConfig{0, 1.5, 0, 0}, "InitialInterval"},
		{Resilience4jBackoffConfig{ms, 0.5, 0, 0}, "Multiplier"},
		{Resilience4jBackoffConfig{ms, 1, 1.5, 0}, "RandomizationFactor"},
		{Resilience4jBackoffConfig{ms, 1, 0, 1}, "MaxInterval"},
		{Resilience4jRetryConfig{0, false, Resilience4jBackoffDefaults()}, "MaxAttempts"},
		{Resilience4jRetryConfig{1, false, Resilience4jBackoffConfig{}}, "InitialInterval"},
		{EnvoyBackoffConfig{1, 0, false}, "BaseInterval"},
		{EnvoyBackoffConfig{2 * ms, ms, false}, "MaxInterval"},
		{AWSBackoffConfig{0, ms}, "BaseDelay"},
		{AWSLegacyBackoffConfig{0}, "MaxBackoff"},
		{CenkaltiConfig{ms, 0, math.NaN(), ms, 0, 0}, "Multiplier"},
		{CenkaltiConfig{ms, 0, 1, ms, 0, -1}, "MaxTries"},
		{GRPCBackoffConfig{ms, ms, 0}, "BackoffMultiplier"},
		{GRPCConnectBackoffConfig{ms, 2, 2, ms}, "Jitter"},
		{WorkqueueConfig{ms, 0}, "MaxDelay"},
		{FlowcontrolConfig{0, ms, 0}, "Initial"},
		{WaitBackoffConfig{ms, -1, 0, 0, 0}, "Factor"},
		{SpringBackoffConfig{ms, 2, 0, false}, "MaxInterval"},
		{RetryableHTTPConfig{0, ms, false}, "RetryWaitMin"},
		{LinkerdBackoffConfig{2 * ms, ms, 0}, "Max"},
		{FinagleBackoffConfig{Kind: "other"}, "Kind"},
		{FinagleBackoffConfig{Kind: FinagleFull}, "Start"},
		{PollyBackoffConfig{PollyLinear, false, -1, 0}, "Delay"},
		{PollyBackoffConfig{}, "BackoffType"},
	} {
		if err := test.cfg.Validate(); err == nil || !strings.Contains(err.Error(), test.has) {
			t.Errorf("%+v: error %v, want one about %s", test.cfg, err, test.has)
		}
	}
}

func TestFindBackoff(t *testing.T) {
	for _, name := range BackoffNames() {
		if p, err := FindBackoff(name); err != nil || p.Name != name {
			t.Errorf("%s: found %q, %v", name, p.Name, err)
		}
	}
	if _, err := FindBackoff("hystrix"); err == nil || !strings.Contains(err.Error(), "wait-backoff-conflict") {
		t.Errorf("error %v, want one that lists all", err)
	}
}
