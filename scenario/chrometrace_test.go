package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/sim"
)

// busy is a system in which tries overlap, fail, are refused, and are pending
// at the end.
const busy = `
name: "a \"busy\" system"
horizon: 20s
seed: 3
policies:
  guard: {breaker: {window: 10, minimum: 10, failure_rate: 50%, open: 1s, probes: 3}}
nodes:
  shop: {cancel: true, calls: [{to: stock, stack: [{retry: {attempts: 3, backoff: {base: 50ms}, guard: [budget, breaker], budget: {kind: tokens, ratio: 20%, cap: 5}}}, guard, {limit: 20}, {timeout: 300ms}]}, prices]}
  stock:
    workers: 4
    service: {law: exponential, mean: 60ms}
    faults: [{error: 100%, from: 5s, for: 3s}, {slow: 8x, from: 7s, to: 12s}, {crash: true, from: 15s, for: 1s, silent: true}]
  prices: {service: {law: exponential, mean: 1s}}
clients:
  web: {arrivals: poisson 30/s, calls: [{to: shop, stack: [retry: 2, timeout: 3s, limit: 30]}]}
`

func oneCase(t *testing.T, text string) *Case {
	t.Helper()
	cases, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cases[0]
}

type chromeEvent struct {
	Ph, Name, Cat string
	Pid, Tid      int
	Ts, Dur       json.Number
	Args          map[string]any
}

func (e chromeEvent) start() int64 { return nanos(e.Ts) }
func (e chromeEvent) end() int64   { return nanos(e.Ts) + nanos(e.Dur) }

func nanos(n json.Number) int64 {
	whole, frac, _ := strings.Cut(n.String()+"000", ".")
	if frac == "" {
		v, _ := json.Number(whole).Int64()
		return v // three zeroes were appended
	}
	v, _ := json.Number(whole + frac[:3]).Int64()
	return v
}

func writtenEvents(t *testing.T, c *Case, most int) (events []chromeEvent, note string, n int, cut bool) {
	t.Helper()
	var out, again bytes.Buffer
	n, cut, err := c.WriteEvents(context.Background(), &out, most)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.WriteEvents(context.Background(), &again, most); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("a second trace differs from the first (%v)", err)
	}
	var file struct {
		TraceEvents []chromeEvent
		Note        string
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatalf("%v in\n%.500s", err, out.Bytes())
	}
	return file.TraceEvents, file.Note, n, cut
}

// Slices of a thread do not overlap, and there are as many as tries.
func TestEventsAreTheTries(t *testing.T) {
	c := oneCase(t, busy)
	events, note, n, cut := writtenEvents(t, c, DefaultEvents)
	if cut || !strings.HasPrefix(note, "complete") {
		t.Errorf("cut %v, note %q, want the whole run", cut, note)
	}
	o, err := c.start(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.system.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	tries, outcomes, threads := map[int]uint64{}, map[string]uint64{}, map[[2]int][]chromeEvent{}
	counted := 0
	for _, e := range events {
		if e.Ph != "M" {
			counted++
		}
		if e.Ph != "X" {
			continue
		}
		threads[[2]int{e.Pid, e.Tid}] = append(threads[[2]int{e.Pid, e.Tid}], e)
		if e.Cat == "try" {
			tries[e.Pid]++
			outcomes[e.Name]++
		}
	}
	if counted != n {
		t.Errorf("%d events in the file, %d were reported", counted, n)
	}
	refused := uint64(0)
	for i, l := range o.system.Ledger().Calls {
		refused += l.Refused
		if l.Tries == 0 || tries[2+i] != l.Tries {
			t.Errorf("%s to %s: %d slices, want one for each of %d tries", l.From, l.To, tries[2+i], l.Tries)
		}
	}
	if got := outcomes["breaker open"]; got == 0 || got != refused {
		t.Errorf("%d tries met an open breaker, want %d", got, refused)
	}
	for _, want := range []string{"ok", "status 503", "timeout", "pending"} {
		if outcomes[want] == 0 {
			t.Errorf("no try ended with %q: %v", want, outcomes)
		}
	}
	for thread, list := range threads {
		slices.SortStableFunc(list, func(a, b chromeEvent) int { return int(a.start() - b.start()) })
		for i := 1; i < len(list); i++ {
			if list[i].start() < list[i-1].end() {
				t.Fatalf("thread %v: a slice from %d ns overlaps one until %d ns", thread, list[i].start(), list[i-1].end())
			}
		}
	}
}

// Two links between the same nodes are two processes, each with its own tries;
// a breaker that they share is a third.
func TestEventsTellLinksApart(t *testing.T) {
	events, _, _, _ := writtenEvents(t, oneCase(t, `
horizon: 10s
policies: {one: {breaker: {consecutive: 3, open: 1s, share: guard}}}
nodes:
  a: {calls: [{to: b, stack: [one]}, {to: b, stack: [retry: 3, one]}]}
  b: {faults: [{error: 60%}]}
clients:
  web: {arrivals: 20/s, calls: [a]}
`), DefaultEvents)
	names, tries, states := map[int]string{}, map[string]int{}, map[string]int{}
	for _, e := range events {
		switch {
		case e.Name == "process_name":
			names[e.Pid] = e.Args["name"].(string)
		case e.Cat == "try":
			tries[names[e.Pid]]++
		case e.Name == "breakers":
			states[names[e.Pid]]++
		}
	}
	if tries["link a-b"] != 200 || tries["link a-b#2"] < 10 || tries["link a-b#2"] == 200 || tries["link web-a"] != 200 {
		t.Errorf("tries %v, want 200 of web-a and a-b, others of a-b#2", tries)
	}
	if len(states) != 1 || states["breaker guard"] < 5 {
		t.Errorf("changes of breakers %v, want all at the one that is shared", states)
	}
}

// Counters of breakers end in the states that the changes lead to, and never
// fall below 0.
func TestEventsCountBreakers(t *testing.T) {
	events, _, _, _ := writtenEvents(t, oneCase(t, busy), DefaultEvents)
	seen := map[float64]int{}
	for _, e := range events {
		if e.Ph == "C" && e.Name == "breakers" {
			open, half := e.Args["open"].(float64), e.Args["half-open"].(float64)
			if open < 0 || half < 0 {
				t.Errorf("at %s µs: %v open and %v half-open", e.Ts, open, half)
			}
			if open+half > 1 {
				t.Errorf("at %s µs: %v open and %v half-open, want at most one breaker", e.Ts, open, half)
			}
			seen[open+2*half]++
		}
	}
	if seen[0] < 2 || seen[1] < 2 || seen[2] < 2 {
		t.Errorf("closed, open, half-open were seen %v times, want each some times", seen)
	}
}

func TestEventsAreCut(t *testing.T) {
	events, note, n, cut := writtenEvents(t, oneCase(t, busy), 100)
	marks := 0
	for _, e := range events {
		if e.Ph == "i" && e.Name == note {
			marks++
		}
	}
	if n != 100 || !cut || marks != 1 || !strings.HasPrefix(note, "cut after 100 events, at ") {
		t.Errorf("%d events, cut %v, %d marks with note %q, want 100, true, 1", n, cut, marks, note)
	}
	if _, _, err := oneCase(t, busy).WriteEvents(context.Background(), &bytes.Buffer{}, 0); err == nil {
		t.Error("no events at all are no error")
	}
}

type full struct{ room int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestEventsReportErrors(t *testing.T) {
	for _, room := range []int{0, 100_000} {
		if _, _, err := oneCase(t, busy).WriteEvents(context.Background(), &full{room}, DefaultEvents); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v, want %v", room, err, errFull)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := oneCase(t, busy).WriteEvents(ctx, &bytes.Buffer{}, DefaultEvents); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
}

// place finds the lane that a search through all of them finds.
func TestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l lanes
	var ends []sim.Time
	for end := sim.Time(0); end < 3000; end += sim.Time(r.IntN(3)) {
		start := max(0, end-sim.Time(r.IntN(100)))
		want := slices.IndexFunc(ends, func(e sim.Time) bool { return e <= start })
		if want < 0 {
			want = len(ends)
			ends = append(ends, 0)
		}
		ends[want] = end
		if got, _ := l.place(start, end); got != want {
			t.Fatalf("[%d, %d) goes to lane %d, want %d", start, end, got, want)
		}
	}
	if l.used != len(ends) {
		t.Errorf("%d lanes, want %d", l.used, len(ends))
	}
}
