package model_test

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// retriesInStep lets a thousand clients fail together at t = 0 and retry once,
// and returns how many retries the service gets in each tenth of a second.
func retriesInStep(t *testing.T, backoff policies.BackoffConfig, replication uint64) []uint64 {
	t.Helper()
	const clients = 1000
	s, err := model.New(model.Config{
		Nodes: []model.Node{{
			Name: "service", Workers: model.Unlimited,
			Faults: []model.Fault{{Kind: model.FaultError, First: 1, Fast: true}}, // the first attempt of every request
		}},
		Clients: []model.Client{{
			Name: "client", Loop: model.ClosedLoop{Clients: clients}, Requests: clients,
			Steps: []model.Step{{Calls: []model.Call{{
				To:    "service",
				Stack: model.Stack{{Retry: &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: 2, Backoff: backoff}}}},
			}}}},
		}},
		Horizon: 2 * time.Second, Interval: 100 * time.Millisecond,
	}, 1, replication)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	l := s.Ledger()
	if n, c := l.Node("service"), l.Client("client"); n.Failed != clients || n.Attempts != 2*clients || c.Succeeded != clients {
		t.Errorf("%s: %d failures, %d attempts, %d requests succeed, want 1000, 2000, 1000", backoff.Kind, n.Failed, n.Attempts, c.Succeeded)
	}
	series := s.Series()
	if len(series) != 20 {
		t.Fatalf("%d intervals, want 20", len(series))
	}
	var retries []uint64
	for _, i := range series {
		retries = append(retries, i.Nodes[0].Attempts-i.Clients[0].Requests)
	}
	return retries
}

// Case 20: after a fixed wait, clients that have failed together return
// together; full jitter spreads them over the wait.
func TestCaseRetryWaits(t *testing.T) {
	const second = time.Second
	fixed := retriesInStep(t, policies.BackoffConfig{Kind: policies.FixedBackoff, Base: second}, 0)
	for i, n := range fixed {
		want := uint64(0)
		if i == 10 {
			want = 1000
		}
		if n != want {
			t.Errorf("fixed: %d retries in interval %d, want %d", n, i, want)
		}
	}
	for rep := range uint64(30) {
		full := retriesInStep(t, policies.BackoffConfig{Kind: policies.FullJitter, Base: second, Cap: second}, rep)
		total, busiest := uint64(0), uint64(0)
		for i, n := range full {
			total, busiest = total+n, max(busiest, n)
			if i >= 10 && n > 0 {
				t.Errorf("full jitter, replication %d: %d retries in interval %d, after a second", rep, n, i)
			}
		}
		// The mean is 100 with a standard deviation of 9.5.
		if total != 1000 || busiest < 100 || busiest > 145 {
			t.Errorf("full jitter, replication %d: %d retries, %d in the busiest interval, want 1000 and 100 to 145", rep, total, busiest)
		}
	}
}
