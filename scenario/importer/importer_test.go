package importer

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
	"github.com/stormglass/stormglass/scenario"
)

// imported reads settings and the scenario that is made of them.
func imported(t *testing.T, path, text string) (string, *scenario.Case) {
	t.Helper()
	im, err := Read(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := im.Write(&b); err != nil {
		t.Fatal(err)
	}
	cases, err := scenario.Parse("made.yaml", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if len(cases) != 1 {
		t.Fatalf("%d cases, want 1", len(cases))
	}
	return b.String(), cases[0]
}

func example(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stackOf returns the layers of the first client's first call, and whether they are a
// sidecar's.
func stackOf(c model.Config) (model.Stack, bool) {
	call := c.Clients[0].Steps[0].Calls[0]
	if len(call.Sidecar) > 0 {
		return call.Sidecar, true
	}
	return call.Stack, false
}

const ms = time.Millisecond

// layerText says what kind of layers a stack has.
func layerText(s model.Stack) string {
	var list []string
	for _, l := range s {
		switch {
		case l.Retry != nil:
			list = append(list, "retry")
		case l.Breaker != nil:
			list = append(list, "breaker")
		case l.Limit != nil:
			list = append(list, "limit")
		default:
			list = append(list, l.Timeout.String())
		}
	}
	return strings.Join(list, " ")
}

// The inputs of all families mean what is known of them.
func TestMeaning(t *testing.T) {
	outlier := func(change func(*presets.EnvoyOutlierConfig)) presets.EnvoyOutlierConfig {
		c := presets.EnvoyOutlierDefaults()
		c.Hosts = 10
		change(&c)
		return c
	}
	r4j := presets.Resilience4jTimeDefaults()
	r4j.SlidingWindowSize, r4j.MinimumNumberOfCalls, r4j.FailureRateThreshold, r4j.PermittedCallsInHalfOpen = 12, 8, 40, 4
	r4j.WaitInOpenState.InitialInterval = 7 * time.Second
	for _, tt := range []struct {
		file     string
		layers   string
		sidecar  bool
		attempts int
		delays   policies.DelaysMaker // nil is no wait
		budget   any                  // a preset, or a policies.BudgetConfig
		breaker  policies.BreakerMaker
		retried  []policies.ErrorCode
		not      []policies.ErrorCode
	}{
		{
			file: "resilience4j.yml", layers: "retry breaker", attempts: 4, breaker: r4j,
			delays:  presets.Resilience4jBackoffConfig{InitialInterval: 150 * ms, Multiplier: 2},
			retried: []policies.ErrorCode{400, 503, policies.ErrBreakerOpen, policies.ErrTimeout},
		}, {
			file: "envoy.yaml", layers: "1.2s retry breaker limit 350ms", sidecar: true, attempts: 3,
			delays: presets.EnvoyBackoffConfig{BaseInterval: 40 * ms, MaxInterval: 400 * ms},
			budget: policies.BudgetConfig{Kind: policies.BudgetShare, Share: policies.ShareConfig{Share: 0.15, Floor: 2, Active: policies.ActiveAttempts}},
			breaker: outlier(func(c *presets.EnvoyOutlierConfig) {
				c.Consecutive5xx, c.BaseEjectionTime, c.MaxEjectionPercent = 4, 20*time.Second, 34
			}),
			retried: []policies.ErrorCode{500, 503, policies.ErrTimeout, policies.ErrReset},
			not:     []policies.ErrorCode{429, policies.ErrBreakerOpen, policies.ErrLimit},
		}, {
			file: "istio.yaml", layers: "2s retry breaker 600ms", sidecar: true, attempts: 4,
			delays: presets.EnvoyBackoffConfig{BaseInterval: 25 * ms, MaxInterval: 250 * ms},
			budget: policies.BudgetConfig{Kind: policies.BudgetUnlimited},
			breaker: outlier(func(c *presets.EnvoyOutlierConfig) {
				c.Consecutive5xx, c.ConsecutiveGatewayFailure, c.EnforcingSuccessRate = 6, 0, 0
				c.Interval, c.BaseEjectionTime, c.MaxEjectionPercent = 5*time.Second, 90*time.Second, 50
			}),
			retried: []policies.ErrorCode{500, policies.ErrReset},
			not:     []policies.ErrorCode{409, policies.ErrBreakerOpen},
		}, {
			file: "grpc.json", layers: "1.5s retry", attempts: 5,
			delays:  presets.GRPCBackoffConfig{InitialBackoff: 50 * ms, MaxBackoff: 300 * ms, BackoffMultiplier: 2},
			budget:  presets.GRPCThrottleConfig{MaxTokens: 20, TokenRatio: 0.25},
			retried: []policies.ErrorCode{503, policies.ErrConnect},
			not:     []policies.ErrorCode{500, policies.ErrTimeout},
		}, {
			file: "linkerd.yaml", layers: "250ms retry", sidecar: true, attempts: policies.Unlimited,
			budget:  presets.TowerConfig{TTL: 15 * time.Second, MinRetriesPerSec: 4, PercentCanRetry: 0.3, DepositOn: presets.TowerDepositFinal},
			retried: []policies.ErrorCode{500, 503},
			not:     []policies.ErrorCode{404, policies.ErrTimeout},
		}, {
			file: "polly.json", layers: "limit 6s retry breaker 1.5s", attempts: 3,
			delays: presets.PollyBackoffConfig{BackoffType: presets.PollyConstant, Delay: 200 * ms},
			breaker: presets.PollyConfig{
				FailureRatio: 0.25, MinimumThroughput: 16, SamplingDuration: 20 * time.Second, BreakDuration: 8 * time.Second,
			},
			retried: []policies.ErrorCode{500, 408, 429, policies.ErrTimeout},
			not:     []policies.ErrorCode{404, policies.ErrBreakerOpen},
		},
	} {
		t.Run(tt.file, func(t *testing.T) {
			text, c := imported(t, tt.file, example(t, tt.file))
			stack, sidecar := stackOf(c.Config)
			if got := layerText(stack); got != tt.layers || sidecar != tt.sidecar {
				t.Fatalf("layers %s, sidecar %v, want %s, %v\n%s", got, sidecar, tt.layers, tt.sidecar, text)
			}
			for _, l := range stack {
				switch {
				case l.Breaker != nil:
					if !reflect.DeepEqual(l.Breaker.Preset, tt.breaker) {
						t.Errorf("breaker %+v, want %+v", l.Breaker.Preset, tt.breaker)
					}
				case l.Retry != nil:
					checkRetry(t, l.Retry, tt.attempts, tt.delays, tt.budget)
					retried, err := l.Retry.Errors.Func()
					if err != nil {
						t.Fatal(err)
					}
					for _, code := range tt.retried {
						if !retried(policies.Outcome{Err: code}) {
							t.Errorf("%v is not retried", code)
						}
					}
					for _, code := range tt.not {
						if retried(policies.Outcome{Err: code}) {
							t.Errorf("%v is retried", code)
						}
					}
				}
			}
		})
	}
}

func checkRetry(t *testing.T, r *model.RetryLayer, attempts int, delays policies.DelaysMaker, budget any) {
	t.Helper()
	if r.Attempts != attempts {
		t.Errorf("%d attempts, want %d", r.Attempts, attempts)
	}
	switch {
	case delays == nil && r.Delays != nil:
		t.Errorf("waits %v, want none", r.Delays)
	case delays != nil:
		want, err := delays.NewDelays()
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < 6; n++ {
			if got, want := r.Delays.Delay(n, 0, 0.7), want.Delay(n, 0, 0.7); got != want {
				t.Errorf("wait %d is %v, want %v", n, got, want)
			}
		}
	}
	var got any
	switch {
	case r.Budget != nil && r.Budget.Preset != nil:
		got = r.Budget.Preset
	case r.Budget != nil:
		got = *r.Budget
	}
	if !reflect.DeepEqual(got, budget) {
		t.Errorf("budget %+v, want %+v", got, budget)
	}
}

// Every example can be run, and tells what is lost of it.
func TestLost(t *testing.T) {
	for _, tt := range []struct {
		file string
		want []string // lines, or the ends of lines
	}{
		{"istio-resources.yaml", []string{
			"# not in the model: retryOn: refused-stream (line 11)",
			"# not in the model: spec.trafficPolicy.connectionPool.http.maxRequestsPerConnection: 10 (line 21)",
			`# not read: the document of kind "Service" (line 24)`,
		}},
		{"springboot.yml", []string{
			"# not read: spring (line 2)",
			"# UNKNOWN: resilience4j.retry.instances.orders.max-atempts: 9; did you mean maxAttempts? (line 18)",
			"# not in the model: rate limiter of orders: there is no layer that limits a caller's rate (line 21)",
			"# not in the model: recordExceptions of orders-breaker: com.example.Busy (line 14)",
			"sliding_window_size: 20 # ringBufferSizeInClosedState (line 8): calls",
			"minimum_number_of_calls: 20 # the old ring buffer must be full",
			"initial_interval: 1s # waitInterval (line 10): 1000 ms",
			"not_on: [breaker-open] # ignoreExceptions (line 18); GUESSED from the names of classes: CallNotPermittedException is breaker-open",
			"success: [timeout, breaker-open, limit, other, 4xx, 5xx] # recordExceptions (line 14); GUESSED from the names of classes: IOException is connect-failure, reset; not timeout, which is the time limiter's java.util.concurrent.TimeoutException; what is",
			"stack: [orders-retry, orders-breaker, orders-timeout, orders-bulkhead] # outermost first",
		}},
		{"envoy.yaml", []string{"# not in effect: max_retries: 7 (line 3), there is a retry_budget"}},
		{"envoy-bootstrap.yaml", []string{
			"circuit_breakers.thresholds[0].max_pending_requests: 35 (line 20)",
			"on: [gateway-error, connect-failure, reset, timeout, 429] # retry_on (line 11)",
			"kind: unlimited # max_retries (line 20): no limit",
			"consecutive5xx: 0 # consecutive_5xx (line 22): never",
		}},
		{"grpc.json", []string{"9, of which a client makes 5: 5 attempts in all, 4 retries", "retries go on for ever below a failure rate of 20 %"}},
		{"envoy-routes.json", []string{
			"share: pay-retries # one for all that name it", "share: pay-requests #", "in_flight: 40 # maxRequests (line 8), of each proxy", "consecutive5xx: 3 # consecutive5xx (line 9)",
			"# not in the model: virtualHosts[0].routes[0].route.hedgePolicy: {\"initialRequests\": 1} (line 3)",
			"# not in the model: clusters[0].circuitBreakers.thresholds[1].maxRequests: 80 (line 8)", "# not in effect without a retry policy: maxRetries: 9 (line 10)",
			"sidecar: [log-timeout, log-max-requests] # outermost first",
		}},
		{"grpc-methods.json", []string{
			"share: server-tokens # one for all that name it", "on: [503, connect-failure, reset, 409] # retryableStatusCodes (line 5)",
			"# the same as shop-Cart: shop.Pay-Charge (line 4)", "# not in the model: methodConfig[0].waitForReady: true (line 4)",
			"# not in the model, which has no hedged calls: hedgingPolicy: {\"maxAttempts\": 4, \"hedgingDelay\": \"0.5s\"} (line 7)",
		}},
		{"istio.yaml", []string{"# after 3 attempts that time out the last one has at most 200 ms"}},
		{"application.properties", []string{
			"randomization_factor: 0 # randomized-wait-factor (line 6): 0.5 has no effect without enableRandomizedWait: true",
			"# ignore-exceptions (line 4); GUESSED from the names of classes: SocketTimeoutException is none of the scenario; not timeout, which",
			"# the minimum in effect is 50: a count window need only be full",
		}},
		{"linkerd-service.yaml", []string{"attempts: 3 # retry.linkerd.io/limit (line 7), the first excluded: 3 attempts in all, 2 retries"}},
		{"sentinel.json", []string{`# not in the model: [0].limitApp: default (line 3)`, "max_allowed_rt: 200ms # count (line 4): 200 ms"}},
		{"dapr.yaml", []string{"attempts: unlimited # maxRetries: no bound", `ready_to_trip: "consecutive_failures >= 5"`}},
		{"hystrix.yml", []string{"attempts: 4 # (1 + MaxAutoRetries 1) x (1 + MaxAutoRetriesNextServer 1), defaults 0 and 1: 4 attempts in all, 3 retries", "error_threshold: 40 # errorThresholdPercentage (line 5): 40 %", "timeout: 20s # timeoutInMilliseconds (line 4): 20000 ms for a call"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			text, c := imported(t, tt.file, example(t, tt.file))
			if strings.Contains(text, "hunter2") {
				t.Error("tells a secret")
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if _, err := scenario.Run(t.Context(), []*scenario.Case{c}, 1, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// What is wrong is said with its place, all of it at once.
func TestProblems(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             []string
	}{
		{"unknown", "x.yaml", "a: 1\n", []string{"x.yaml:1:1: file: no known settings in it, want those of one of: Resilience4j, gRPC"}},
		{"case alone", "e.yaml", "name: a\nOutlier_detection: {}\n", []string{
			"settings of Envoy without a policy in them; UNKNOWN: Outlier_detection: {}; did you mean outlier_detection? (line 2)",
		}},
		{"empty", "x.yaml", "# nothing\n---\n", []string{"x.yaml:1:1: file: empty"}},
		{"no YAML", "x.yaml", "---\na: 1\n---\na: [1\n", []string{": file: no YAML"}},
		{"template", "x.yaml", "a: {{- .Values.x }}\n", []string{"render it first"}},
		{"Envoy units and forms", "e.yaml", `retry_policy:
  num_retries: many
  per_try_timeout: 250ms
  retry_budget: {budget_percent: 20}
circuit_breakers:
  thresholds: [{retry_budget: {budget_percent: 20}}]
`, []string{
			`e.yaml:2:16: retry_policy.num_retries: "many", want a whole number of at least 0`,
			`e.yaml:3:20: retry_policy.per_try_timeout: "250ms" is no duration, want seconds with an s`,
			`e.yaml:4:17: retry_policy.retry_budget: retry_budget in a retry policy, want it in circuit_breakers.thresholds of the cluster`,
			`e.yaml:6:48: circuit_breakers.thresholds[0].retry_budget.budget_percent: "20", want a message such as {value: 20}`,
		}},
		{"Resilience4j", "a.yml", `resilience4j:
  circuitbreaker:
    instances:
      a: {base-config: none, failure-rate-threshold: 150, waitDurationInOpenState: 10 parsecs}
      b: {slidingWindowSize: 5, sliding-window-size: 6, failureRateThreshold: 0}
`, []string{
			`a.yml:4:24: resilience4j.circuitbreaker.instances.a.base-config: there is no config "none"`,
			`a.yml:4:54: resilience4j.circuitbreaker.instances.a.failure-rate-threshold: "150", want a number from 0 to 100`,
			`"10 parsecs" is no duration`,
			`a.yml:5:54: resilience4j.circuitbreaker.instances.b.sliding-window-size: given twice, first as slidingWindowSize on line 5`,
			`a.yml:5:79: resilience4j.circuitbreaker.instances.b.failureRateThreshold: resilience4j: failure rate threshold 0`,
		}},
		{"loop", "a.yml", "resilience4j.retry: {configs: {a: {baseConfig: b}, b: {baseConfig: a}}, instances: {x: {baseConfig: a}}}\n",
			[]string{"inherits from itself"}},
		{"placeholder", "a.yml", "resilience4j.retry.instances.x.max-attempts: ${N}\n", []string{`"${N}" has no default, want a value`}},
		{"gRPC", "g.json", `{"methodConfig":[{"name":[{}],"timeout":"1500ms","retryPolicy":{"maxAttempts":1,"initialBackoff":"1s","retryableStatusCodes":["BUSY"]}}]}`, []string{
			`"1500ms" is no duration`, `"1", want a whole number of at least 2`, "no maxBackoff, want it given", "no backoffMultiplier", `"BUSY", want a status code`,
		}},
		{"Polly", "p.json", "{\n\t\"Retry\": {\"MaxRetryAttempts\": 2, \"Delay\": \"2s\"}, // comment\n\t\"AttemptTimeout\": {\"Timeout\": \"00:00:20\"}\n}\n", []string{
			`p.json:2:44: Retry.Delay: "2s" is no TimeSpan`, "want at least twice the attempt timeout of 20s",
		}},
		{"Linkerd", "l.yaml", "spec: {routes: [{name: a, isRetryable: true}], retryBudget: {retryRatio: 0.2, ttl: 10}}\n", []string{
			`spec.retryBudget.ttl: "10" is no duration`, "no minRetriesPerSecond, want it given",
		}},
		{"Dapr", "d.yaml", "kind: Resiliency\nspec: {policies: {circuitBreakers: {c: {trip: requests / 2}}}, targets: {apps: {a: {circuitBreaker: c, retry: r}}}}\n", []string{
			`"requests / 2", want comparisons`, `there is no "r" in policies.retries`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.path, []byte(tt.text))
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in\n%v", want, err)
				}
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for _, tt := range []struct {
		form durationForm
		text string
		want time.Duration // -1 is an error
	}{
		{springDuration, "200", 200 * ms}, {springDuration, "1m", time.Minute}, {springDuration, "PT1M10.5S", 70500 * ms},
		{springDuration, "P1D", 24 * time.Hour}, {springDuration, "-5s", -1}, {springDuration, "PT", -1}, {springDuration, "P1W", -1},
		{springDuration, "PT0,5S", 500 * ms}, {springDuration, "PT0.5H", -1}, {springDuration, "PT1.S", time.Second}, {springDuration, "P366D", -1}, {springDuration, "5 years", -1},
		{protoDuration, ".5s", 500 * ms}, {protoDuration, "0.100s", 100 * ms}, {protoDuration, "60s", time.Minute},
		{protoDuration, "5", -1}, {protoDuration, "1m", -1}, {protoDuration, "1e9s", -1}, {protoDuration, "99999999999s", -1},
		{goDuration, "180.000s", 3 * time.Minute}, {goDuration, "1m30s", 90 * time.Second}, {goDuration, "-1s", -1},
		{timeSpan, "00:00:15", 15 * time.Second}, {timeSpan, "00:00:00.1000000", 100 * ms}, {timeSpan, "1.02:00:00", 26 * time.Hour},
		{timeSpan, "5", 120 * time.Hour}, {timeSpan, "00:00:60", -1}, {timeSpan, "15s", -1}, {timeSpan, "5.5", -1},
		{milliseconds, "1500", 1500 * ms}, {milliseconds, "1s", -1},
	} {
		d, err := tt.form(tt.text)
		if err != nil {
			d = -1
		}
		if d != tt.want {
			t.Errorf("%q is %v, %v, want %v", tt.text, d, err, tt.want)
		}
	}
}

func TestWriteError(t *testing.T) {
	im, err := Read("grpc.json", []byte(example(t, "grpc.json")))
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	r.Close()
	if err := im.Write(w); err == nil {
		t.Error("no error of a writer that is closed")
	}
}
