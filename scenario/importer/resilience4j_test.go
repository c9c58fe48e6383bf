package importer

import (
	"strings"
	"testing"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/scenario"
)

// A time limiter's timeout is retried where its exception or a class above it is
// listed, or nothing is.
func TestTimeoutExceptions(t *testing.T) {
	const says = "not timeout, which is the time limiter's java.util.concurrent.TimeoutException"
	for _, tt := range []struct {
		settings      string
		timeout, busy bool // they are retried: a timeout, a 503
		says          bool
	}{
		{"", true, true, false},
		{"retryExceptions: [java.util.concurrent.TimeoutException]", true, false, false},
		{"retryExceptions: [TimeoutException]", true, false, false},
		{"retryExceptions: [java.lang.Exception]", true, true, false},
		{"retryExceptions: [java.lang.Throwable]", true, true, false},
		{"retryExceptions: [java.lang.RuntimeException]", false, true, true},
		{"retryExceptions: [java.io.IOException]", false, false, true},
		{"retryExceptions: [java.io.IOException, java.util.concurrent.TimeoutException]", true, false, false},
		{"retryExceptions: [java.net.SocketTimeoutException]", false, false, true},
		{"retryExceptions: [io.netty.handler.timeout.TimeoutException, java.net.ConnectException]", false, false, false},
		{"retryExceptions: [feign.RetryableException, ResourceAccessException, WebClientRequestException]", false, false, true},
		{"ignoreExceptions: [java.io.IOException]", true, true, true},
		{"ignoreExceptions: [java.util.concurrent.TimeoutException]", false, true, false},
	} {
		text := "resilience4j: {retry: {instances: {a: {" + tt.settings + "}}}, timelimiter: {instances: {a: {timeoutDuration: 1s}}}}\n"
		_, c := imported(t, "a.yml", text)
		stack, _ := stackOf(c.Config)
		retried, err := stack[0].Retry.Errors.Func()
		if err != nil {
			t.Fatal(err)
		}
		for code, want := range map[policies.ErrorCode]bool{policies.ErrTimeout: tt.timeout, 503: tt.busy} {
			if got := retried(policies.Outcome{Err: code}); got != want {
				t.Errorf("%s: %v retried %v, want %v", tt.settings, code, got, want)
			}
		}
		want, not := []string{says}, []string(nil)
		if !tt.says {
			want, not = not, want
		}
		checkText(t, "a.yml", text, want, not)
	}
}

// Of a thread pool so many calls reach the callee at a time as there are threads,
// others wait, and the rest is refused as by a cap.
func TestThreadPool(t *testing.T) {
	text, _ := imported(t, "a.yml", `resilience4j:
  thread-pool-bulkhead.instances.a: {maxThreadPoolSize: 2, queueCapacity: 3}
  retry.instances.a: {maxAttempts: 1}
`)
	text = strings.Replace(text, "poisson 20/s", "poisson 2000/s", 1) + `  - present_max{node=a} == 2
  - present_max{node=a-pool} == 5
  - rejected{node=a-pool} >= 1000
`
	cases, err := scenario.Parse("made.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	reports, err := scenario.Run(t.Context(), cases, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := scenario.Tally(reports, scenario.Holds); n < 3 {
		t.Errorf("%d claims hold, want 3\n%+v\n%s", n, reports[0].Verdicts, text)
	}
	for _, tt := range []struct{ settings, want string }{
		{"{maxThreadPoolSize: 8, queueCapacity: 20}", "shed: {in_flight: 28, code: limit} # 8 threads and 20 places to wait, queueCapacity (line 1)\n"},
		{"{maxThreadPoolSize: 8}", "shed: {in_flight: 108, code: limit} # 8 threads and 100 places to wait, default of queueCapacity, 100\n"},
		{"{}", "workers: 4 # MADE UP: 4: the default of maxThreadPoolSize is the number of processors\n"},
	} {
		checkText(t, "a.yml", "resilience4j.thread-pool-bulkhead.instances.a: "+tt.settings+"\n", []string{tt.want, "a-pool: # threads of a-client, not a service: they call a\n"}, nil)
	}
}

// The caller has the name of the program, wherever a file has it.
func TestApplicationName(t *testing.T) {
	const retry = "resilience4j.retry.instances.a: {maxAttempts: 2}\n"
	checkText(t, "a.yml", "spring.application.name: shop\n---\n"+retry, []string{"  shop-to-a: #", "client=shop-to-a}", "link=shop-to-a-a}"}, []string{"a-client", "(line 1)"})
	checkText(t, "a.properties", "spring.application.name=shop\nresilience4j.retry.instances.a.max-attempts=2\n", []string{"  shop-to-a: #"}, nil)
	checkText(t, "a.yml", "spring: {application: {name: \"${APP}\"}}\n"+retry, []string{"  a-client: #", "# not read: spring (line 1)"}, nil)
	checkText(t, "a.yml", "spring: {application: {name: shop}, datasource: {password: hunter2}}\n"+retry, []string{"# not read: spring.datasource (line 1)"}, []string{"hunter2"})
}

// The header says what its words mean, and where callers may be merged.
func TestHeader(t *testing.T) {
	const one, merged = "resilience4j.retry.instances: {a: {}", "may be merged into"
	words := []string{"# not read: keys outside", "# not in the model: settings of calls", "# UNKNOWN: keys"}
	checkText(t, "a.yml", one+"}\n", words, []string{merged, "WARNING"})
	checkText(t, "a.yml", one+", b: {}}\n", append(words, merged), nil)
}

// A standard handler's breaker takes other statuses of 4xx for successes.
func TestPollyFailures(t *testing.T) {
	text, c := imported(t, "p.json", example(t, "polly.json"))
	stack, _ := stackOf(c.Config)
	for _, l := range stack {
		if l.Breaker == nil {
			continue
		}
		for code, want := range map[policies.ErrorCode]policies.Class{
			404: policies.Success, 499: policies.Success, 408: policies.Failure, 429: policies.Failure,
			500: policies.Failure, policies.ErrTimeout: policies.Failure, policies.ErrConnect: policies.Failure,
		} {
			if got := l.Breaker.Classify(policies.Outcome{Err: code}); got != want {
				t.Errorf("%v is %v, want %v\n%s", code, got, want, text)
			}
		}
	}
}
