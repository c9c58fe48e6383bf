package traffic

import (
	"context"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// simulated is a system of one link, from web to shop, whose calls take 130 ms
// and fail in [60 s, 100 s), and recorded is what would be recorded of it
// without a breaker.
func simulated(b *model.BreakerLayer) model.Config {
	return model.Config{
		Horizon: 200 * time.Second,
		Nodes: []model.Node{{
			Name: "shop", Workers: model.Unlimited, Service: model.Law{Mean: 130 * time.Millisecond},
			Faults: []model.Fault{{Kind: model.FaultError, Start: 60 * time.Second, End: 100 * time.Second}},
		}},
		Clients: []model.Client{{
			Name: "web", Rates: []model.Segment{{Node: "web", End: 199 * time.Second, RateRPS: model.Known(20.)}},
			Steps: []model.Step{{Calls: []model.Call{{To: "shop", Stack: model.Stack{{Breaker: b}}}}}},
		}},
	}
}

func recorded() *Traffic {
	t := &Traffic{Node: "shop"}
	for i := range 20 * 199 {
		start := time.Duration(i)*50*time.Millisecond + 25*time.Millisecond // half a gap in
		c := Call{End: start + 130*time.Millisecond, Latency: 130 * time.Millisecond}
		if start >= 60*time.Second && start < 100*time.Second {
			c.Failed, c.Code = true, 503
		}
		t.Calls = append(t.Calls, c)
	}
	return t
}

// Where a callee does not mind its load, a replay and a simulation are one:
// the same openings, refusals and time open, of every breaker that does not
// refuse at random.
func TestReplayIsASimulationWithoutFeedback(t *testing.T) {
	breakers, err := Presets()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, b := range append(breakers, strict, flaky) {
		layer := &model.BreakerLayer{Preset: b.Maker}
		if plain, ok := b.Maker.(policies.BreakerConfig); ok {
			layer = &model.BreakerLayer{BreakerConfig: plain}
		}
		tr := recorded()
		s, err := model.New(simulated(layer), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(context.Background(), sim.Time(tr.End()+1)); err != nil { // what ends at the last instant counts
			t.Fatal(err)
		}
		want := s.Ledger().Calls[0]
		p := play(t, tr, PlayOptions{}, b).Plays[0]
		if p.Openings == 0 && p.Refused > 0 {
			continue // at random
		}
		compared++
		if uint64(p.Openings) != want.Openings || uint64(p.Refused) != want.Refused || p.OpenTime != want.OpenTime {
			t.Errorf("%s: %d openings, %d refused, %v open; simulated %d, %d, %v", b.Name, p.Openings, p.Refused, p.OpenTime, want.Openings, want.Refused, want.OpenTime)
		}
		if p.Openings != p.Reopenings+len(p.Trips) {
			t.Errorf("%s: %d openings, %d of them again, in %d trips", b.Name, p.Openings, p.Reopenings, len(p.Trips))
		}
	}
	if compared < 10 {
		t.Errorf("%d breakers compared, want at least 10", compared)
	}
}
