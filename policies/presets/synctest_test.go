package presets_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// A fake answers after 10 ms, with 503 while it is down.
type fake struct{ up time.Time }

func (f *fake) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(10 * time.Millisecond)
	status := http.StatusOK
	if time.Now().Before(f.up) {
		status = http.StatusServiceUnavailable
	}
	return &http.Response{StatusCode: status, Body: http.NoBody}, nil
}

// The middleware of the example runs unchanged in a bubble, where its waits
// take no time and every instant is exact.
func TestTransportInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		transport, err := newTransport(&fake{up: start.Add(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		send := func(ctx context.Context) (int, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://callee/", nil)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				return 0, err
			}
			return response.StatusCode, nil
		}
		at := func(want time.Duration) {
			t.Helper()
			if got := time.Since(start); got != want {
				t.Errorf("at %v, want %v", got, want)
			}
		}

		// Three attempts of 10 ms, with 1 ms and 2 ms between.
		if status, err := send(t.Context()); status != 503 || err != nil {
			t.Errorf("status %d, %v, want 503", status, err)
		}
		at(33 * time.Millisecond)

		// Two failures more, and the budget of 10 tokens is down to half.
		if status, err := send(t.Context()); status != 503 || err != nil {
			t.Errorf("status %d, %v, want 503", status, err)
		}
		at(54 * time.Millisecond)

		// The sixth failure in a row opens the breaker, for 50 ms.
		send(t.Context())
		at(64 * time.Millisecond)
		if s := transport.Breaker.State(); s != policies.Open {
			t.Errorf("state %v, want open", s)
		}
		if _, err := send(t.Context()); !errors.Is(err, policies.ErrBreakerOpen) {
			t.Errorf("error %v, want %v", err, policies.ErrBreakerOpen)
		}
		at(64 * time.Millisecond)

		// One probe closes it again, once the callee is up.
		time.Sleep(time.Second)
		if status, err := send(t.Context()); status != 200 || err != nil {
			t.Errorf("status %d, %v, want 200", status, err)
		}
		at(1074 * time.Millisecond)
		if s := transport.Breaker.State(); s != policies.Closed {
			t.Errorf("state %v, want closed", s)
		}

		// A caller who leaves says nothing of the callee.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		send(ctx)
		if s := transport.Breaker.Stats(); s.Cancelled != 1 {
			t.Errorf("cancelled %d, want 1", s.Cancelled)
		}
	})
}
