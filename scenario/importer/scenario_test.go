package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/scenario"
)

// What is made of each example runs, its claims do not fail, and its settings
// are explained. What no file says is marked.
func TestScenarios(t *testing.T) {
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file.IsDir() {
			continue
		}
		t.Run(file.Name(), func(t *testing.T) {
			text, c := imported(t, filepath.Join("testdata", file.Name()), example(t, file.Name()))
			for _, line := range strings.Split(text, "\n") {
				for _, key := range []string{"horizon: ", "replications: ", "workers: unlimited", "service: ", "faults: ", "arrivals: ", "hosts: 10", "deadline: 24h", "claims:", "- success_ratio"} {
					if strings.HasPrefix(strings.TrimSpace(line), key) && !strings.Contains(line, "# MADE UP: ") {
						t.Errorf("%q is not marked", line)
					}
				}
				for _, secret := range []string{"hunter2", "http://x"} {
					if strings.Contains(line, secret) {
						t.Errorf("%q tells a secret", line)
					}
				}
			}
			reports, err := scenario.Run(t.Context(), []*scenario.Case{c}, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Config.Clients) == 0 || len(reports[0].Verdicts) < len(c.Config.Clients) || scenario.Tally(reports, scenario.Fails) > 0 {
				t.Errorf("%+v\n%s", reports[0].Verdicts, text)
			}
			var b strings.Builder
			if err := explain.Explain(c.Config).WriteText(&b); err != nil || b.Len() == 0 {
				t.Errorf("explained as %q, %v", b.String(), err)
			}
		})
	}
}

// The claims that are proposed as comments can be used.
func TestProposedClaims(t *testing.T) {
	for _, name := range []string{"envoy.yaml", "linkerd-route.yaml", "grpc-methods.json"} {
		text, _ := imported(t, name, example(t, name))
		before := strings.Count(text, "\n  - ")
		text = strings.ReplaceAll(text, "\n  # - ", "\n  - ")
		cases, err := scenario.Parse("made.yaml", []byte(text))
		if err != nil || cases[0].Claims() <= before {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// Files that hold much are read as a whole.
func TestWhole(t *testing.T) {
	for _, tt := range []struct {
		file string
		want []string // lines, or parts of lines
		not  []string
	}{
		{"resilience4j-all.yml", []string{
			"x-to-a: #",
			"stack: [a-breaker, a-retry, a-timeout, a-bulkhead] # outermost first, retry-aspect-order (line 13): 2, circuitBreakerAspectOrder (line 5): 1",
			"sliding_window_size: 10 # slidingWindowSize (line 7): calls",
			"failure_rate_threshold: 30 # failure-rate-threshold (line 8): 30 %",
			"multiplier: 3 # exponential-backoff-multiplier (line 10): times 3",
			"ignore: [404] # ignoreExceptions (line 8); GUESSED from the names of classes: NotFound is 404",
			"stack: [b-breaker]", "attempts: 5 # max-attempts (line 14)", "on: [timeout] # retryExceptions (line 17); GUESSED",
			"shed: {in_flight: 12, code: limit} # 4 threads and 8 places to wait, queueCapacity (line 19)", "workers: 4 # maxThreadPoolSize (line 19): threads; not in the model: while there are places to wait only 2 run, coreThreadPoolSize (line 19)", "timeout: 500ms # timeoutDuration (line 20)", "# not in the model: rate limiter of a",
			"# not in the model: resilience4j.bulkhead.instances.a.maxWaitDuration: 500ms (line 18)",
		}, nil},
		{"istio-both.yaml", []string{
			"attempts: 4 # attempts (line 10)", "consecutive5xx: 6 # consecutive5xxErrors", "share: 25% # percent", "# not in effect: maxRetries: 4",
			"# UNKNOWN: spec.trafficPolicy.outlierDetection.intervall: 2s; did you mean interval? (line 26)",
			"# no retries of other: attempts: 0 (line 17)", "# not in the model: spec.subsets:", "# not in the model: spec.trafficPolicy.portLevelSettings:",
			"GUESSED: statuses of HTTP for those of gRPC", "sidecar: [] #",
		}, nil},
		{"grpc-hedging.json", []string{
			"# not in the model, which has no hedged calls: hedgingPolicy:", "# UNKNOWN: methodConfig[2].timout: 3s; did you mean timeout? (line 5)",
			"on: [503, connect-failure, reset, 504, 409] # retryableStatusCodes (line 3): UNAVAILABLE, 4, ABORTED; GUESSED",
			"# the same as shop-Stock: shop.Pay-Charge (line 3)", "max_tokens: 20 # maxTokens (line 6)",
		}, nil},
		{"linkerd-route.yaml", []string{
			"sidecar: [stock-route-timeout, stock-route-retry, stock-route-breaker, stock-route-attempt-timeout]",
			"timeout: 3s # timeout.linkerd.io/request", "attempts: 4 # retry.linkerd.io/limit", "consecutive: 5 #",
			"# not in the model: spec.rules[0].timeouts.request: 5s (line 8)",
		}, []string{"stock-client:"}},
		{"appsettings.json", []string{
			"# UNKNOWN: HttpClients.Stock.Resilience.Retry.MaxRetryAtempts: 3; did you mean MaxRetryAttempts? (line 7)",
			"in_flight: 50 # PermitLimit", "max_delay: 5s # MaxDelay", "# not read: ConnectionStrings (line 3)",
		}, nil},
		{"envoy-static.yaml", []string{
			"# no timeout: timeout: 0s, which is none (line 14)", "params: {concurrent: 3} # max_retries (line 20)", "params: {concurrent: 3} # default of max_retries",
			"attempts: 5 # num_retries (line 11)", "sidecar: [b-timeout, b-retry, b-max-requests]", "in_flight: 1024 # default of max_requests",
		}, []string{"a-2", "b-outlier"}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			text, _ := imported(t, tt.file, example(t, tt.file))
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
		})
	}
}

// Rules of a route without annotations have timeouts of their own.
func TestRouteTimeouts(t *testing.T) {
	text, _ := imported(t, "r.yaml", `apiVersion: policy.linkerd.io/v1beta3
kind: HTTPRoute
metadata: {name: r}
spec: {rules: [{timeouts: {request: 5s, backendRequest: 1s}}, {timeouts: {request: 0s}}]}
`)
	for _, want := range []string{
		"timeout: 5s # request (line 4): 5000 ms for all attempts", "timeout: 1s # backendRequest (line 4): 1000 ms for an attempt",
		"# no timeout: request: 0s, which is none (line 4)", "sidecar: [r-0-timeout, r-0-attempt-timeout]", "sidecar: []",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Exceptions whose names tell nothing leave a breaker as it is, and say so.
func TestUnknownExceptions(t *testing.T) {
	text, _ := imported(t, "a.yml", "resilience4j.circuitbreaker.instances.a: {recordExceptions: [com.example.Busy]}\n")
	if !strings.Contains(text, "# recordExceptions (line 1); GUESSED: none of the classes tells an error of the model, so all errors are failures") ||
		strings.Contains(text, "success: ") {
		t.Error(text)
	}
}

// A breaker that records some exceptions counts these as failures, all others as
// successes, and ignores those that it is to ignore, whatever it records.
func TestRecordedExceptions(t *testing.T) {
	for _, tt := range []struct {
		exceptions string
		failures   string // of the model
		ignored    string
	}{
		{"recordExceptions: [HttpServerErrorException.GatewayTimeout]", "504", ""},
		{"recordExceptions: [NotFound, HttpServerErrorException]", "404 5xx", ""},
		{"recordExceptions: [IOException], ignoreExceptions: [HttpClientErrorException.NotFound]", "connect-failure reset", "404"},
		{"recordExceptions: [HttpServerErrorException], ignoreExceptions: [BadGateway]", "5xx", "502"},
		{"recordExceptions: [ConnectTimeoutException]", "connect-failure", ""}, // with a comment
		{"recordExceptions: [ConnectException]", "connect-failure", ""},
		{"recordExceptions: [NotFound], ignoreExceptions: [Exception]", "none", "any"},
	} {
		text, c := imported(t, "a.yml", "resilience4j.circuitbreaker.instances.a: {"+tt.exceptions+"}\n")
		stack, _ := stackOf(c.Config)
		matches := func(names string) func(policies.Outcome) bool {
			if names == "" || names == "none" {
				return func(policies.Outcome) bool { return false }
			}
			f, err := policies.ErrorList{RetryOn: strings.Fields(names)}.Func()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		failures, ignored := matches(tt.failures), matches(tt.ignored)
		codes := []policies.ErrorCode{
			policies.ErrOther, policies.ErrTimeout, policies.ErrConnect, policies.ErrConnectTimeout, policies.ErrReset, policies.ErrBreakerOpen, policies.ErrLimit,
		}
		for code := policies.ErrorCode(400); code < 600; code++ {
			codes = append(codes, code)
		}
		for _, code := range codes {
			o, want := policies.Outcome{Err: code}, policies.Success
			switch {
			case ignored(o):
				want = policies.Ignored
			case failures(o):
				want = policies.Failure
			}
			if got := stack[0].Breaker.Classify(o); got != want {
				t.Errorf("%s: %v counts as %v, want %v\n%s", tt.exceptions, code, got, want, text)
			}
		}
		if told, want := strings.Contains(text, "# a refused connection is a failure, too"), strings.Contains(tt.exceptions, "ConnectTimeout"); told != want {
			t.Errorf("%s: told %v, want %v", tt.exceptions, told, want)
		}
	}
}

// Ratios that a scenario would take for something else have their sign.
func TestSigns(t *testing.T) {
	for name, want := range map[string]string{
		"resilience4j.circuitbreaker.instances.a: {failureRateThreshold: 0.5}\n":                                             "failure_rate_threshold: 0.5% #",
		"spec: {routes: [{name: a, isRetryable: true}], retryBudget: {retryRatio: 3.3, minRetriesPerSecond: 4, ttl: 15s}}\n": "percent_can_retry: 330% #",
	} {
		if text, _ := imported(t, "a.yml", name); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Documents of Spring change those before them, those of a profile where it is
// active.
func TestSpringDocuments(t *testing.T) {
	text, _ := imported(t, "a.yml", `resilience4j.circuitbreaker.configs: {default: {slidingWindowSize: 10, failureRateThreshold: 40, health: 1}}
---
resilience4j.circuitbreaker:
  instances: {a: {base-config: default, minimumNumberOfCalls: 5}}
  configs.default.failure-rate-threshold: 30
---
spring.config.activate.on-profile: prod
resilience4j.circuitbreaker.instances.a.minimum-number-of-calls: 7
`)
	for _, want := range []string{
		"# not in effect: failureRateThreshold: 40, there is another on line 5 (line 1)", "# not in the model: resilience4j.circuitbreaker.configs.default.health: 1 (line 1)",
		"failure_rate_threshold: 30 # failure-rate-threshold (line 5)", "minimum_number_of_calls: 5 # minimumNumberOfCalls (line 4)",
		"stack: [a-breaker]", "stack: [a-prod-breaker]", "minimum_number_of_calls: 7 # minimum-number-of-calls (line 8)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
