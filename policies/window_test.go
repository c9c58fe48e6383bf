package policies

import (
	"strings"
	"testing"
	"time"
)

const (
	sec  = time.Second
	hour = time.Hour
)

func TestWindowConfigValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    WindowConfig
		want string // part of the error; empty if the configuration is valid
	}{
		{"smallest count", WindowConfig{Kind: CountWindow, Calls: 1}, ""},
		{"largest count", WindowConfig{Kind: CountWindow, Calls: 1 << 24}, ""},
		{"no calls", WindowConfig{Kind: CountWindow}, "policies: count window: calls 0, want 1 to 16777216"},
		{"negative calls", WindowConfig{Kind: CountWindow, Calls: -1}, "calls -1"},
		{"too many calls", WindowConfig{Kind: CountWindow, Calls: 1<<24 + 1}, "calls 16777217, want 1 to 16777216"},
		{"fields of other kinds", WindowConfig{Kind: CountWindow, Calls: 5, Length: -1, Buckets: -1}, ""},

		{"shortest time", WindowConfig{Kind: TimeWindow, Length: 1}, ""},
		{"longest time", WindowConfig{Kind: TimeWindow, Length: 8760 * hour}, ""},
		{"no length", WindowConfig{Kind: TimeWindow}, "policies: time window: length 0s, want 1ns to 8760h0m0s"},
		{"negative length", WindowConfig{Kind: TimeWindow, Length: -sec}, "length -1s"},
		{"too long", WindowConfig{Kind: TimeWindow, Length: 8760*hour + 1}, "length 8760h0m0.000000001s"},
		{"bounded", WindowConfig{Kind: TimeWindow, Length: sec, MaxCalls: 1 << 24}, ""},
		{"bound too high", WindowConfig{Kind: TimeWindow, Length: sec, MaxCalls: 1<<24 + 1}, "at most 16777217 calls"},
		{"negative bound", WindowConfig{Kind: TimeWindow, Length: sec, MaxCalls: -1}, "at most -1 calls, want 0 for any number"},

		{"one bucket", WindowConfig{Kind: BucketWindow, Length: sec, Buckets: 1}, ""},
		{"most buckets", WindowConfig{Kind: BucketWindow, Length: 65536, Buckets: 1 << 16}, ""},
		{"no buckets", WindowConfig{Kind: BucketWindow, Length: sec}, "policies: buckets window: buckets 0, want 1 to 65536"},
		{"too many buckets", WindowConfig{Kind: BucketWindow, Length: 65537, Buckets: 65537}, "buckets 65537, want 1 to 65536"},
		{"buckets without length", WindowConfig{Kind: BucketWindow, Buckets: 10}, "buckets window: length 0s"},
		{"buckets that do not divide", WindowConfig{Kind: BucketWindow, Length: 10 * sec, Buckets: 7}, "buckets 7, want a divisor of the length 10s"},

		{"no kind", WindowConfig{}, `policies: window kind "", want one of count, time, buckets`},
		{"unknown kind", WindowConfig{Kind: "sliding"}, `window kind "sliding", want one of count, time, buckets`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkError(t, tt.c.Validate(), tt.want)
		})
	}
}

// checkError wants an error that contains a text, or none if it is empty.
func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %q, want none", err)
	case want != "" && err == nil:
		t.Errorf("no error, want %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("error %q, want %q in it", err, want)
	}
}

// A moment is a row of a time line: an outcome or just a look at an instant,
// and what the window holds then.
type moment struct {
	at   time.Duration
	what string // "ok", "fail", "slow", "both"; "look" records nothing
	held Counts
}

func runTimeLine(t *testing.T, w window, line []moment) {
	t.Helper()
	for i, m := range line {
		switch m.what {
		case "look":
		case "ok":
			w.record(int64(m.at), 0)
		case "fail":
			w.record(int64(m.at), entryFailed)
		case "slow":
			w.record(int64(m.at), entrySlow)
		case "both":
			w.record(int64(m.at), entryFailed|entrySlow)
		default:
			t.Fatalf("row %d: unknown %q", i, m.what)
		}
		if got := w.counts(int64(m.at)); got != m.held {
			t.Fatalf("row %d, %s at %v: %+v, want %+v", i, m.what, m.at, got, m.held)
		}
	}
}

func TestCountWindowTimeLine(t *testing.T) {
	w := newCountWindow(WindowConfig{Calls: 3}, limits{})
	runTimeLine(t, w, []moment{
		{0, "look", Counts{0, 0, 0}},
		{0, "fail", Counts{1, 1, 0}},
		{0, "slow", Counts{2, 1, 1}},
		{0, "both", Counts{3, 2, 2}},
		{0, "ok", Counts{3, 1, 2}}, // the failure leaves
		{hour, "look", Counts{3, 1, 2}},
		{hour, "fail", Counts{3, 2, 1}}, // the slow one leaves
		{hour, "fail", Counts{3, 2, 0}}, // both leaves
		{hour, "fail", Counts{3, 3, 0}},
		{hour, "ok", Counts{3, 2, 0}},
		{hour, "ok", Counts{3, 1, 0}},
		{hour, "ok", Counts{3, 0, 0}},
	})
	w.reset()
	runTimeLine(t, w, []moment{
		{0, "look", Counts{0, 0, 0}},
		{0, "fail", Counts{1, 1, 0}},
		{0, "ok", Counts{2, 1, 0}},
		{0, "ok", Counts{3, 1, 0}},
		{0, "ok", Counts{3, 0, 0}},
	})
}

func TestTimeWindowTimeLine(t *testing.T) {
	const (
		length = 10 * sec
		first  = 3 * sec // the instant of the first outcome
		second = 4 * sec
	)
	w := newTimeWindow(WindowConfig{Length: length}, limits{})
	runTimeLine(t, w, []moment{
		{0, "look", Counts{0, 0, 0}},
		{first, "fail", Counts{1, 1, 0}},
		{second, "slow", Counts{2, 1, 1}},
		{second, "ok", Counts{3, 1, 1}}, // the same instant
		{first + length - 1, "look", Counts{3, 1, 1}},
		{first + length, "look", Counts{2, 0, 1}}, // exactly length old: left
		{second + length - 1, "both", Counts{3, 1, 2}},
		{second + length, "ok", Counts{2, 1, 1}}, // two leave at once
		{second + 2*length - 2, "look", Counts{2, 1, 1}},
		{second + 2*length - 1, "look", Counts{1, 0, 0}},
		{second + 2*length, "look", Counts{0, 0, 0}},
		{hour, "fail", Counts{1, 1, 0}},
		{hour - sec, "fail", Counts{2, 2, 0}},          // the clock went back: taken as hour
		{hour - sec + length, "look", Counts{2, 2, 0}}, // so both are still there
		{hour + length, "look", Counts{0, 0, 0}},
	})
	w.reset()
	runTimeLine(t, w, []moment{ // an earlier time is fine after a reset
		{-hour, "fail", Counts{1, 1, 0}},
		{-hour + length - 1, "look", Counts{1, 1, 0}},
		{-hour + length, "look", Counts{0, 0, 0}},
	})
}

func TestBoundedTimeWindowTimeLine(t *testing.T) {
	w := newTimeWindow(WindowConfig{Length: 10 * sec, MaxCalls: 3}, limits{})
	runTimeLine(t, w, []moment{
		{0, "fail", Counts{1, 1, 0}},
		{1 * sec, "slow", Counts{2, 1, 1}},
		{2 * sec, "ok", Counts{3, 1, 1}},
		{3 * sec, "ok", Counts{3, 0, 1}}, // the failure leaves early
		{4 * sec, "ok", Counts{3, 0, 0}}, // so does the slow one
		{12 * sec, "look", Counts{2, 0, 0}},
		{14 * sec, "fail", Counts{1, 1, 0}},
	})
}

func TestBucketWindowTimeLine(t *testing.T) {
	w := newBucketWindow(WindowConfig{Length: 4 * sec, Buckets: 4}, limits{})
	runTimeLine(t, w, []moment{
		{0, "look", Counts{0, 0, 0}},
		{900 * time.Millisecond, "fail", Counts{1, 1, 0}},
		{1*sec - 1, "slow", Counts{2, 1, 1}}, // still the first slice
		{1 * sec, "both", Counts{3, 2, 2}},
		{3500 * time.Millisecond, "ok", Counts{4, 2, 2}},
		{4*sec - 1, "look", Counts{4, 2, 2}},
		{4 * sec, "look", Counts{2, 1, 1}}, // the first slice leaves as a lump, 3.1 s old at most
		{4 * sec, "fail", Counts{3, 2, 1}},
		{5 * sec, "look", Counts{2, 1, 0}},
		{7*sec - 1, "look", Counts{2, 1, 0}},
		{7 * sec, "look", Counts{1, 1, 0}}, // that of 3.5 s leaves when 3.5 s old
		{8 * sec, "look", Counts{0, 0, 0}},
		{hour, "fail", Counts{1, 1, 0}},
		{hour - sec, "fail", Counts{2, 2, 0}}, // the clock went back: the current slice
		{hour + 4*sec - 1, "look", Counts{2, 2, 0}},
		{hour + 4*sec, "look", Counts{0, 0, 0}},
	})
	w.reset()
	runTimeLine(t, w, []moment{ // slices are aligned before the origin, too
		{-1 * sec, "ok", Counts{1, 0, 0}},
		{-1, "fail", Counts{2, 1, 0}},
		{0, "ok", Counts{3, 1, 0}},
		{3*sec - 1, "look", Counts{3, 1, 0}},
		{3 * sec, "look", Counts{1, 0, 0}},
	})
}

// Instants at both ends of what an int64 holds must not confuse a window.
func TestWindowsAtTheEndsOfTime(t *testing.T) {
	const first, last = time.Duration(-1 << 63), time.Duration(1<<63 - 1)
	for _, c := range []WindowConfig{
		{Kind: TimeWindow, Length: 10 * sec},
		{Kind: BucketWindow, Length: 10 * sec, Buckets: 10},
	} {
		r := mustRule(t, RuleConfig{Window: c, MinCalls: 1, FailureRate: 1})
		runTimeLine(t, r.window, []moment{
			{first, "fail", Counts{1, 1, 0}},
			{first, "ok", Counts{2, 1, 0}},
			{0, "slow", Counts{1, 0, 1}},
			{last - 1, "both", Counts{1, 1, 1}},
			{last, "ok", Counts{2, 1, 1}},
			{last, "ok", Counts{3, 1, 1}},
		})
		for range 100 {
			r.Observe(last, false, false)
		}
		if got, want := r.Counts(last), (Counts{103, 1, 1}); got != want {
			t.Errorf("%s window: %+v, want %+v", c.Kind, got, want)
		}
	}
}

func TestAmend(t *testing.T) {
	for _, c := range []WindowConfig{
		{Kind: CountWindow, Calls: 3},
		{Kind: TimeWindow, Length: 3 * sec},
		{Kind: BucketWindow, Length: 3 * sec, Buckets: 3},
	} {
		t.Run(string(c.Kind), func(t *testing.T) {
			w := mustRule(t, RuleConfig{Window: c, MinCalls: 1, FailureRate: 1}).window
			w.record(int64(1*sec), entrySlow)
			ref := w.newest()
			w.record(int64(2*sec), 0)
			if !w.amend(ref) {
				t.Error("an outcome that is held was not amended")
			}
			if got, want := w.counts(int64(2*sec)), (Counts{2, 1, 1}); got != want {
				t.Errorf("amended: %+v, want %+v", got, want)
			}
			w.record(int64(3*sec), 0)
			w.record(int64(4*sec), 0) // the first one leaves, with its failure
			if got, want := w.counts(int64(4*sec)), (Counts{3, 0, 0}); got != want {
				t.Errorf("after it left: %+v, want %+v", got, want)
			}
			if w.amend(ref) {
				t.Error("an outcome that left was amended")
			}
			if got, want := w.counts(int64(4*sec)), (Counts{3, 0, 0}); got != want {
				t.Errorf("amended too late: %+v, want %+v", got, want)
			}
		})
	}
}
