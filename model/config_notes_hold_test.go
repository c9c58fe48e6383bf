package model

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func runShop(t *rapid.T, c *Config) *Ledger {
	s, err := New(*c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.Ledger()
}

// Where the notes say that no call is answered well within the timeout, none
// is in a run; where they do not, with laws that are constant and nobody
// waiting, some are.
func TestNotedTimeoutsHold(t *testing.T) {
	noted, passed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SampledFrom([]time.Duration{0, ms, 2 * ms, 3 * ms, 5 * ms})
		c := shop()
		c.Horizon = time.Second
		c.Nodes = append(c.Nodes, Node{Name: "disk", Workers: Unlimited, Service: Law{Mean: few.Draw(t, "disk")}})
		for i, name := range []string{"edge", "db"} {
			c.Nodes[i].Workers, c.Nodes[i].Service = Unlimited, Law{Mean: few.Draw(t, name)}
		}
		calls := []Call{{To: "db", Times: rapid.IntRange(0, 2).Draw(t, "times"), Request: Law{Mean: few.Draw(t, "request")}},
			{To: "disk", Response: Law{Mean: few.Draw(t, "response")}}}
		c.Nodes[0].Steps = []Step{{Calls: calls, Need: rapid.IntRange(0, 2).Draw(t, "need")}}
		if rapid.Bool().Draw(t, "second step") {
			c.Nodes[0].Steps = append(c.Nodes[0].Steps, Step{Calls: calls[1:]})
		}
		if rapid.Bool().Draw(t, "slow") {
			c.Nodes[2].Faults = []Fault{{Kind: FaultSlow, Factor: rapid.SampledFrom([]float64{0.5, 3}).Draw(t, "factor"), Start: 500 * ms}}
		}
		if rapid.Bool().Draw(t, "script") {
			c.Nodes[1].Script = []Scripted{{Service: few.Draw(t, "scripted")}}
		}
		toEdge(c).Stack = Stack{{Timeout: time.Duration(rapid.IntRange(1, 20).Draw(t, "timeout")) * ms}}
		var note string
		for _, n := range c.Notes() {
			if strings.Contains(n, "no call is answered well") {
				note = n
			}
		}
		succeeded := runShop(t, c).Call("web", "edge").Succeeded
		switch {
		case note != "":
			noted++
			if succeeded > 0 {
				t.Fatalf("%d calls succeeded, but: %s", succeeded, note)
			}
		case succeeded > 0:
			passed++
		case len(c.Nodes[1].Script) == 0: // the script's call is the first of many
			t.Fatal("no call succeeded, and no note says why")
		}
	})
	if noted == 0 || passed == 0 {
		t.Errorf("%d noted, %d passed, want some of both", noted, passed)
	}
}

// A shed that is noted to be above what fits changes nothing.
func TestNotedShedHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := shop()
		c.Horizon, c.Clients[0].Arrivals.RateRPS = time.Second, 1000
		n := &c.Nodes[1]
		n.Workers, n.Queue.Limit = rapid.IntRange(1, 3).Draw(t, "workers"), Known(rapid.IntRange(0, 3).Draw(t, "limit"))
		without := runShop(t, c)
		n.Shed.InFlight = rapid.IntRange(1, 8).Draw(t, "shed")
		with := runShop(t, c)
		noted := len(c.Notes()) > 0
		if same := reflect.DeepEqual(with, without); noted && !same {
			t.Fatalf("rejected %d with it, %d without", with.Node("db").Rejected, without.Node("db").Rejected)
		}
	})
}
