package policies_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A guardedTransport retries the calls of an HTTP client. Policies are shared
// by all calls of one callee.
type guardedTransport struct {
	next    http.RoundTripper
	retry   *policies.Retry
	breaker *policies.Breaker
	u       *policies.Uniform
	wait    func(time.Duration) // in production a timer and the request's context
}

// idempotent reports whether a request may be sent twice: its method says so,
// or it has a key by which the callee knows it again. Its body must be one
// that can be sent twice.
func idempotent(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions:
		return true
	}
	return r.Header.Get("Idempotency-Key") != ""
}

func (t *guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.retry.Start()
	start := time.Now()
	var waited time.Duration
	for n := 1; ; n++ {
		response, outcome := t.send(r)
		d := t.retry.Decide(policies.Attempt{
			Number: n, Elapsed: time.Since(start), Waited: waited, Outcome: outcome,
			U: t.u.Next(), NotIdempotent: !idempotent(r),
		})
		if !d.Retry {
			if response == nil {
				return nil, outcome.Err
			}
			return response, nil // with its status, whatever that is
		}
		if response != nil {
			_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
			response.Body.Close()
		}
		waited = d.Delay
		t.wait(waited)
		t.retry.WaitDone()
	}
}

// send makes an attempt, which passes the breaker.
func (t *guardedTransport) send(r *http.Request) (*http.Response, policies.Outcome) {
	permit, ok := t.breaker.Allow()
	if !ok {
		return nil, policies.Outcome{Err: policies.ErrBreakerOpen}
	}
	start := time.Now()
	response, err := t.next.RoundTrip(r)
	if err == nil && response.StatusCode >= 500 {
		err = policies.ErrorCode(response.StatusCode)
	}
	o := policies.Outcome{Latency: time.Since(start), Err: err}
	t.breaker.Record(permit, o)
	return response, o
}

// unavailable answers every request with 503.
type unavailable struct{ requests int }

func (s *unavailable) RoundTrip(*http.Request) (*http.Response, error) {
	s.requests++
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: io.NopCloser(strings.NewReader("try later"))}, nil
}

// Calls of a service that is down pass the budget, the breaker and the
// question whether they may be repeated, in this order.
func ExampleGuard() {
	breaker, err := policies.NewBreaker(policies.BreakerConfig{
		Rule: policies.RuleConfig{
			Window:   policies.WindowConfig{Kind: policies.CountWindow, Calls: 6},
			MinCalls: 6, FailureRate: 0.5,
		},
		OpenFor: 10 * time.Second,
		Probes:  3,
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	budget, err := policies.NewTokenBudget(policies.TokenConfig{Ratio: 0.1, Cap: 10, Initial: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	retry, err := policies.NewRetry(policies.RetryConfig{
		Attempts: 3,
		Errors:   policies.ErrorList{NoRetryOn: []string{"breaker-open"}},
		Backoff:  policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: 200 * time.Millisecond, Jitter: 0.5},
	}, budget)
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, err := policies.NewGuard(policies.GuardConfig{}, breaker)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := &unavailable{}
	client := http.Client{Transport: &guardedTransport{
		next: server, breaker: breaker, retry: retry.Guarded(guard),
		u: policies.NewUniform(rand.NewPCG(1, 2)), wait: func(time.Duration) {},
	}}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodGet, http.MethodGet} {
		request, err := http.NewRequest(method, "http://stock/items", nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		before := server.requests
		response, err := client.Do(request)
		if err != nil {
			fmt.Println(method, "not sent:", err)
			continue
		}
		response.Body.Close()
		fmt.Println(method, response.StatusCode, "attempts:", server.requests-before)
	}
	fmt.Printf("%+v\n", guard.Counts())
	// Output:
	// GET 503 attempts: 3
	// POST 503 attempts: 1
	// GET 503 attempts: 2
	// GET not sent: Get "http://stock/items": breaker open
	// {Granted:3 Budget:0 Breaker:1 NotIdempotent:1}
}
