package presets_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// A Transport is a middleware for net/http: retries with a budget around a
// breaker around another transport. All clients of one callee share it.
type Transport struct {
	Next    http.RoundTripper
	Breaker policies.CircuitBreaker
	Retry   *policies.Retry
	Uniform *policies.Uniform // for the jitter
}

// RoundTrip implements http.RoundTripper. Only requests that may be sent twice
// are.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx, start := request.Context(), time.Now()
	again := request.Body == nil || request.Body == http.NoBody || request.GetBody != nil
	if request.Method == http.MethodPost || request.Method == http.MethodPatch {
		again = false
	}
	t.Retry.Start()
	var last policies.Decision
	for n := 1; ; n++ {
		sent := time.Now()
		response, err := t.try(request, n)
		if ctx.Err() != nil || !again {
			t.Retry.GiveUp(n > 1)
			return response, err
		}
		last = t.Retry.Decide(policies.Attempt{
			Number: n, Elapsed: time.Since(start), Waited: last.Delay, Carry: last.Carry, U: t.Uniform.Next(),
			Outcome: outcome(response, err, time.Since(sent)),
		})
		if !last.Retry {
			return response, err
		}
		if response != nil { // so that the connection can be used again
			io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
			response.Body.Close()
		}
		wait := time.NewTimer(last.Delay)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			t.Retry.WaitDone()
			t.Retry.GiveUp(true)
			return nil, ctx.Err()
		}
		if !t.Retry.Send() {
			return nil, fmt.Errorf("no budget for another attempt after: %w", outcome(response, err, 0).Err)
		}
	}
}

// try sends the request once, if the breaker lets it.
func (t *Transport) try(request *http.Request, n int) (*http.Response, error) {
	permit, ok := t.Breaker.Allow()
	if !ok {
		return nil, policies.ErrBreakerOpen
	}
	if n > 1 && request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			t.Breaker.Cancel(permit)
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Body = body
	}
	sent := time.Now()
	response, err := t.Next.RoundTrip(request)
	if request.Context().Err() != nil {
		t.Breaker.Cancel(permit) // the caller left: that says nothing of the callee
	} else {
		t.Breaker.Record(permit, outcome(response, err, time.Since(sent)))
	}
	return response, err
}

// outcome makes a status of 500 or above an error.
func outcome(response *http.Response, err error, latency time.Duration) policies.Outcome {
	o := policies.Outcome{Latency: latency, Err: err}
	if err == nil && response.StatusCode >= 500 {
		o.Err = policies.ErrorCode(response.StatusCode)
	}
	return o
}

// newTransport is gobreaker's breaker and gRPC's retry throttle around another
// transport.
func newTransport(next http.RoundTripper) (*Transport, error) {
	settings := presets.GobreakerDefaults()
	settings.Timeout = 50 * time.Millisecond
	breaker, err := settings.NewCircuitBreaker(policies.Host{})
	if err != nil {
		return nil, err
	}
	budget, err := policies.NewThrottleBudget(policies.ThrottleConfig{MaxTokens: 10, Ratio: 0.1})
	if err != nil {
		return nil, err
	}
	retry, err := policies.NewRetry(policies.RetryConfig{
		Attempts: 3,
		Errors:   policies.ErrorList{RetryOn: []string{"5xx", "connect-failure", "reset"}},
		Backoff:  policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: time.Millisecond},
	}, budget)
	return &Transport{Next: next, Breaker: breaker, Retry: retry, Uniform: policies.NewUniform(nil)}, err
}

// A breaker, retries and a budget as one middleware of an ordinary program, on
// the real clock.
func Example_http() {
	var calls atomic.Int64
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	transport, err := newTransport(http.DefaultTransport)
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: transport}
	get := func() {
		before := calls.Load()
		response, err := client.Get(server.URL)
		result := "no answer: the breaker is open"
		if err == nil {
			result = response.Status
			response.Body.Close()
		}
		fmt.Printf("%s, after %d calls\n", result, calls.Load()-before)
	}
	get()
	down.Store(true)
	get()
	get() // the throttle refuses the second retry
	get() // the sixth failure opens the breaker
	get()
	down.Store(false)
	time.Sleep(60 * time.Millisecond)
	get()
	// Output:
	// 200 OK, after 1 calls
	// 503 Service Unavailable, after 3 calls
	// 503 Service Unavailable, after 2 calls
	// 503 Service Unavailable, after 1 calls
	// no answer: the breaker is open, after 0 calls
	// 200 OK, after 1 calls
}
