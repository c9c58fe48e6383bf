package scenario

import (
	"bytes"
	"context"
	"math"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func timelineOf(t *testing.T, c *Case) *table.Table {
	t.Helper()
	line, err := c.Timeline(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// Intervals are of a second, unless there are too few or too many of them.
func TestTimelineStep(t *testing.T) {
	for _, c := range []struct {
		horizon, want time.Duration
		most          int
	}{
		{1, 1, 2000}, {3 * time.Millisecond, 50 * time.Microsecond, 2000}, {20 * time.Second, 200 * time.Millisecond, 2000},
		{50*time.Second - 1, 500 * time.Millisecond, 2000}, {50 * time.Second, time.Second, 2000}, {2000 * time.Second, time.Second, 2000},
		{2000*time.Second + 1, 2 * time.Second, 2000}, {6 * time.Hour, time.Second, 30_000}, {6 * time.Hour, 5 * time.Second, 5000},
		{math.MaxInt64, 5_000_000 * time.Second, 2000}, {100 * time.Second, 2 * time.Second, 1},
	} {
		step, most := timelineStep(c.horizon, c.most), max(c.most, fewestIntervals)
		n := (c.horizon-1)/step + 1
		if step != c.want || n > time.Duration(most) || n < fewestIntervals && step > 1 {
			t.Errorf("horizon %v: %d intervals of %v, want %v", c.horizon, n, step, c.want)
		}
	}
}

// The intervals of each entity cover the run and add up to the ledger.
func TestTimelineAddsUp(t *testing.T) {
	c := oneCase(t, busy)
	line := timelineOf(t, c)
	o, err := c.start(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.system.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	l := o.system.Ledger()
	sum := func(kind, name string, want map[string]uint64) {
		t.Helper()
		rows, end := line.Select(map[string]string{"kind": kind, "name": name}), 0.0
		if len(rows) != 100 {
			t.Fatalf("%s %s: %d rows, want 100", kind, name, len(rows))
		}
		got := map[string]uint64{}
		for _, r := range rows {
			if start := line.Key(r, "start_s"); start != table.Format(end) {
				t.Fatalf("%s %s: an interval from %s after one until %v", kind, name, start, end)
			}
			end = line.Value(r, "end_s")
			for column := range want {
				got[column] += uint64(line.Value(r, column))
			}
		}
		if end != 20 {
			t.Errorf("%s %s ends at %v, want 20", kind, name, end)
		}
		for column, n := range want {
			if got[column] != n {
				t.Errorf("%s %s: %s adds up to %d, want %d", kind, name, column, got[column], n)
			}
		}
	}
	sum("client", "web", map[string]uint64{"requests_count": l.Clients[0].Requests, "succeeded_count": l.Clients[0].Succeeded, "failed_count": l.Clients[0].Failed})
	for _, n := range l.Nodes {
		sum("node", n.Name, map[string]uint64{"calls_count": n.Attempts, "good_count": n.Succeeded, "errors_count": n.Failed,
			"rejected_count": n.Rejected, "abandoned_count": n.Abandoned})
	}
	for i, k := range l.Calls {
		sum("link", c.world.links[i], map[string]uint64{"attempts_count": k.Attempts, "retries_count": k.Retries, "denied_count": k.Denied,
			"refused_count": k.Refused, "limited_count": k.Limited, "timed_out_count": k.TimedOut,
			"guarded_count": k.NotClosed + k.NotIdempotent, "calls_count": k.Calls, "good_count": k.Succeeded, "errors_count": k.Failed, "abandoned_count": k.Left})
		rows := line.Select(map[string]string{"kind": "link", "name": c.world.links[i]})
		if got := line.Value(rows[99], "in_flight_count"); got != float64(k.InFlight) {
			t.Errorf("link %d: %v calls in flight at the end, want %d", i, got, k.InFlight)
		}
	}
	sum("breaker", "shop-stock", map[string]uint64{"openings_count": l.Measures().Openings})
	for _, column := range []string{"retries_count", "denied_count", "guarded_count", "refused_count", "limited_count", "timed_out_count", "abandoned_count"} {
		some := false
		for _, r := range line.Select(map[string]string{"kind": "link"}) {
			some = some || line.Value(r, column) > 0
		}
		if !some {
			t.Errorf("%s is never above 0: the test says nothing of it", column)
		}
	}
	waiting := false
	for _, r := range line.Select(map[string]string{"kind": "node"}) {
		there, known := line.Value(r, "in_flight_count"), line.Value(r, "queued_count")+line.Value(r, "serving_count")
		if there < known || line.Key(r, "name") != "shop" && there != known {
			t.Fatalf("%s at %s: %v in flight, %v queued or served", line.Key(r, "name"), line.Key(r, "start_s"), there, known)
		}
		waiting = waiting || there > known
	}
	if !waiting {
		t.Error("the shop never waits for its own calls")
	}
	if len(line.Rows) != 3+100*(1+3+3+1) {
		t.Errorf("%d rows, want 3 faults and 100 of each of 8 entities", len(line.Rows))
	}
}

// A breaker that opens at 10 s for 7.5 s is open in the intervals between, and
// half-open until the slow answer of its probe.
const opens = `
horizon: 60s
nodes:
  a: {calls: [{to: b, stack: [breaker: {consecutive: 1, open: 7500ms}]}]}
  b: {service: 2s, faults: [{error: 100%, from: 8s, to: 9s}]}
clients:
  web: {arrivals: 2/s, calls: [a]}
`

func TestTimelineStates(t *testing.T) {
	line := timelineOf(t, oneCase(t, opens))
	want := map[int][4]float64{ // start: open and half-open at the end, share open, share half-open
		9: {0, 0, 0, 0}, 10: {1, 0, 1, 0}, 16: {1, 0, 1, 0}, 17: {0, 1, 0.5, 0.5}, 18: {0, 1, 0, 1}, 19: {0, 0, 0, 0.5}, 20: {0, 0, 0, 0},
	}
	rows := line.Select(map[string]string{"kind": "breaker", "name": "a-b"})
	if len(rows) != 60 {
		t.Fatalf("%d rows, want 60", len(rows))
	}
	for at, w := range want {
		for i, column := range []string{"open_count", "half_open_count", "open_ratio", "half_open_ratio"} {
			if got := line.Value(rows[at], column); got != w[i] {
				t.Errorf("second %d: %s %v, want %v", at, column, got, w[i])
			}
		}
	}
	if rows := line.Select(map[string]string{"kind": "breaker", "name": "web-a"}); len(rows) > 0 {
		t.Errorf("%d rows of the breaker of a link that has none", len(rows))
	}
}

// A breaker that links share stands once, under its name; each instance counts.
func TestTimelineShared(t *testing.T) {
	line := timelineOf(t, oneCase(t, `
horizon: 60s
policies: {guard: {breaker: {consecutive: 3, open: 1000s, share: one}}}
nodes:
  a: {replicas: 2, calls: [{to: c, stack: [policy: guard]}]}
  b: {replicas: 3, calls: [{to: c, stack: [breaker: {consecutive: 3, open: 1000s}]}, {to: c, stack: [policy: guard]}]}
  c: {faults: [{error: 100%, from: 20s}]}
clients:
  web: {arrivals: 10/s, calls: [{parallel: [a, b]}]}
`))
	for name, want := range map[string]float64{"one": 1, "b-c": 3} {
		rows := line.Select(map[string]string{"kind": "breaker", "name": name})
		if len(rows) != 60 {
			t.Fatalf("%s: %d rows, want 60", name, len(rows))
		}
		openings := 0.0
		for _, r := range rows {
			openings += line.Value(r, "openings_count")
		}
		last := rows[59]
		if n, open := line.Value(last, "breakers_count"), line.Value(last, "open_count"); n != want || open != want || openings != want {
			t.Errorf("%s: %v of %v breakers are open after %v openings, want %v", name, open, n, openings, want)
		}
		if v := line.Value(last, "open_ratio"); v != 1 {
			t.Errorf("%s: open for a share of %v, want 1", name, v)
		}
	}
	if got := line.Levels("name"); len(line.Select(map[string]string{"kind": "breaker"})) != 120 {
		t.Errorf("names %v, want rows of two breakers", got)
	}
}

// A throttle has no states; what it refuses is in the rows of its link.
func TestTimelineThrottle(t *testing.T) {
	for _, preset := range []string{"google-sre", "kratos-sre", "failsafe-sre"} {
		line := timelineOf(t, oneCase(t, `
horizon: 60s
nodes:
  a: {faults: [{error: 100%, from: 10s}]}
clients:
  web: {arrivals: 100/s, calls: [{to: a, stack: [breaker: `+preset+`]}]}
`))
		if rows := line.Select(map[string]string{"kind": "breaker"}); len(rows) > 0 {
			t.Errorf("%s: %d rows of breakers, want none", preset, len(rows))
		}
		refused := 0.0
		for _, r := range line.Select(map[string]string{"kind": "link"}) {
			refused += line.Value(r, "refused_count")
		}
		if refused == 0 {
			t.Errorf("%s refuses nothing", preset)
		}
	}
}

// Envoy's detector looks at its hosts every 10 s, at the horizon too; a breaker
// may begin open.
func TestTimelinePresets(t *testing.T) {
	for _, c := range []struct {
		breaker  string
		openings float64
		ratio    [4]float64 // open, of every 10 s
	}{
		{"envoy-outlier", 1, [4]float64{0.996, 1, 1, 1}},
		{"{preset: resilience4j-count, params: {initial_state: open, wait_in_open_state: {initial_interval: 15s}}}", 0, [4]float64{1, 0.501, 0, 0}},
	} {
		line := timelineOf(t, oneCase(t, `
horizon: 40s
nodes:
  a: {faults: [{error: 100%, to: 1s}]}
clients:
  web: {arrivals: 100/s, calls: [{to: a, stack: [breaker: `+c.breaker+`]}]}
`))
		openings := 0.0
		var ratio [4]float64
		rows := line.Select(map[string]string{"kind": "breaker", "name": "web-a"})
		for i, r := range rows { // half a second each
			openings += line.Value(r, "openings_count")
			ratio[i/20] += line.Value(r, "open_ratio") / 20
		}
		if len(rows) != 80 || openings != c.openings {
			t.Errorf("%s: %d rows, %v openings, want 80, %v", c.breaker, len(rows), openings, c.openings)
		}
		for i, want := range c.ratio {
			if math.Abs(ratio[i]-want) > 1e-9 {
				t.Errorf("%s: open for %v of the tens of seconds, want %v", c.breaker, ratio, c.ratio)
				break
			}
		}
	}
}

// A change at the horizon is not in the run.
func TestTimelineChangesAtTheHorizon(t *testing.T) {
	s := newBreakerSeries(2*time.Second, time.Second, stateCount{})
	at := sim.New().Clock().Now().Add
	s.note(policies.Change{From: policies.HalfOpen, To: policies.Closed, At: at(2 * time.Second)})
	s.note(policies.Change{From: policies.Open, To: policies.HalfOpen, At: at(1500 * time.Millisecond)})
	s.note(policies.Change{To: policies.Open, At: at(250 * time.Millisecond)}) // told late
	first, second := s.next(), s.next()
	if want := (breakerInterval{stateCount{1, 0}, 1, 75e7, 0}); first != want {
		t.Errorf("first second %+v, want %+v", first, want)
	}
	if want := (breakerInterval{stateCount{0, 1}, 0, 5e8, 5e8}); second != want {
		t.Errorf("second second %+v, want %+v", second, want)
	}
}

func TestTimelineFaults(t *testing.T) {
	c := oneCase(t, `
horizon: 100s
nodes:
  a:
    replicas: 2
    faults:
      - {error: 12.5%, from: 10s, for: 5s, client: web, first: 1}
      - {slow: 3x, from: 90s, to: 200s}
      - {limit: 50/s, from: 20s, to: 30s, replica: 1}
  b:
    trace:
      segments: [{to: 5s, error: 1%}, {from: 5s, to: 10s, error: 10%}, {from: 10s, to: 20s, error: 40%, capacity: 50%}, {from: 30s, to: 40s, error: 100%}]
clients:
  web: {arrivals: 10/s, calls: [a, b]}
`)
	want := []trouble{
		{"a", "error 12.5 %, first 1 of a request for web", 10 * time.Second, 15 * time.Second},
		{"a", "slow 3×", 90 * time.Second, 100 * time.Second},
		{"a", "limit 50/s, replica 1", 20 * time.Second, 30 * time.Second},
		{"b", "trace: error up to 40 %, capacity down to 50 %", 5 * time.Second, 20 * time.Second},
		{"b", "trace: error up to 100 %", 30 * time.Second, 40 * time.Second},
	}
	got := c.faults()
	if len(got) != len(want) {
		t.Fatalf("faults %v, want %v", got, want)
	}
	for i, f := range got {
		if f != want[i] {
			t.Errorf("fault %d is %+v, want %+v", i, f, want[i])
		}
	}
	line := timelineOf(t, c)
	if rows := line.Select(map[string]string{"kind": "fault", "name": "b"}); len(rows) != 2 || line.Value(rows[0], "end_s") != 20 {
		t.Errorf("rows of faults %v, want 2 of b, the first until 20 s", rows)
	}
}

// A timeline survives CSV, and a second run gives the same.
func TestTimelineCSV(t *testing.T) {
	c := oneCase(t, busy)
	var first, second, read bytes.Buffer
	line := timelineOf(t, c)
	if err := line.WriteCSV(&first); err != nil {
		t.Fatal(err)
	}
	back, err := table.ReadCSV("timeline", len(line.Keys), bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := back.WriteCSV(&read); err != nil || !bytes.Equal(first.Bytes(), read.Bytes()) {
		t.Errorf("what was read is not what was written (%v)", err)
	}
	if err := timelineOf(t, c).WriteCSV(&second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("a second timeline differs from the first (%v)", err)
	}
}
