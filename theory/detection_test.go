package theory

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestDetectionArticle(t *testing.T) {
	// Healthy until 20 s, failure rate 50 %, minimum 10; window of 20 calls or 10 s.
	for _, test := range []struct {
		rate         float64
		count, timed Detection
	}{
		{0.5, Detection{false, 10, 18 * time.Second}, Detection{Never: true}},
		{1, Detection{false, 10, 9 * time.Second}, Detection{false, 5, 4 * time.Second}},
		{2, Detection{false, 10, 4500 * ms}, Detection{false, 10, 4500 * ms}},
		{5, Detection{false, 10, 1800 * ms}, Detection{false, 25, 4800 * ms}},
		{20, Detection{false, 10, 450 * ms}, Detection{false, 100, 4950 * ms}},
		{100, Detection{false, 10, 90 * ms}, Detection{false, 500, 4990 * ms}},
		{500, Detection{false, 10, 18 * ms}, Detection{false, 2500, 4998 * ms}},
	} {
		o := Outage{RateRPS: test.rate, Start: 20 * time.Second}
		got, err := o.CountWindow(CountRule{Calls: 20, MinCalls: 10, FailureRate: 0.5})
		if must(t, got, err) != test.count {
			t.Errorf("%v/s, count window: %+v, want %+v", test.rate, got, test.count)
		}
		got, err = o.TimeWindow(10*time.Second, 10, 0.5)
		if must(t, got, err) != test.timed {
			t.Errorf("%v/s, time window: %+v, want %+v", test.rate, got, test.timed)
		}
	}
}

func TestDetectionFalseTripsTable(t *testing.T) {
	full, early := Outage{50, 60 * time.Second}, Outage{50, 20 * time.Second}
	for _, test := range []struct {
		name string
		got  func() (Detection, error)
		want time.Duration
	}{
		{"count 20, 50 %", func() (Detection, error) { return full.CountWindow(CountRule{20, 20, 0.5}) }, 180 * ms},
		{"count 20, 20 %", func() (Detection, error) { return full.CountWindow(CountRule{20, 20, 0.2}) }, 60 * ms},
		{"count 100, 20 %", func() (Detection, error) { return full.CountWindow(CountRule{100, 100, 0.2}) }, 380 * ms},
		{"time 10 s, 50 %", func() (Detection, error) { return full.TimeWindow(10*time.Second, 20, 0.5) }, 4980 * ms},
		{"time 10 s, 20 %", func() (Detection, error) { return full.TimeWindow(10*time.Second, 20, 0.2) }, 1980 * ms},
		{"time 60 s, 20 %", func() (Detection, error) { return full.TimeWindow(time.Minute, 20, 0.2) }, 11980 * ms},
		{"time 60 s, not full", func() (Detection, error) { return early.TimeWindow(time.Minute, 20, 0.2) }, 4980 * ms},
	} {
		got, err := test.got()
		if must(t, got, err).Delay != test.want {
			t.Errorf("%s: %v, want %v", test.name, got.Delay, test.want)
		}
	}
}

func TestDetectionTimeLines(t *testing.T) {
	sec := time.Second
	for _, test := range []struct {
		name string
		got  func() (Detection, error)
		want Detection
	}{
		{"no history: the minimum decides", func() (Detection, error) {
			return Outage{1, 0}.CountWindow(CountRule{20, 10, 0.5})
		}, Detection{false, 10, 9 * sec}},
		{"no history, minimum 1: the first call", func() (Detection, error) {
			return Outage{1, 0}.TimeWindow(10*sec, 1, 1)
		}, Detection{false, 1, 0}},
		{"minimum above the count window is the window", func() (Detection, error) {
			return Outage{1, 0}.CountWindow(CountRule{5, 100, 0.2})
		}, Detection{false, 5, 4 * sec}},
		{"outage between two calls", func() (Detection, error) {
			return Outage{1, 20*sec + 1}.CountWindow(CountRule{20, 10, 0.5})
		}, Detection{false, 10, 10*sec - 1}},
		{"outage just after a call that is not on the grid", func() (Detection, error) {
			return Outage{3, 333333334}.TimeWindow(sec, 1, 1.0/3)
		}, Detection{false, 1, 333333333}},
		{"outage at a call that is not on the grid", func() (Detection, error) {
			return Outage{3, 333333333}.TimeWindow(sec, 1, 1.0/3)
		}, Detection{false, 1, 0}},
		{"an entry leaves at age = length: 10 calls, not 11", func() (Detection, error) {
			return Outage{1, 20 * sec}.TimeWindow(10*sec, 11, 0.1)
		}, Detection{Never: true}},
		{"a nanosecond longer holds 11", func() (Detection, error) {
			return Outage{1, 20 * sec}.TimeWindow(10*sec+1, 11, 0.1)
		}, Detection{false, 2, sec}},
		{"decimal rate: 7 of 100", func() (Detection, error) {
			return Outage{100, 20 * sec}.CountWindow(CountRule{100, 100, 0.07})
		}, Detection{false, 7, 60 * ms}},
		{"decimal calls per second: 0.1/s holds 1 in 10 s", func() (Detection, error) {
			return Outage{0.1, 20 * sec}.TimeWindow(10*sec, 2, 0.5)
		}, Detection{Never: true}},
		{"all must fail", func() (Detection, error) {
			return Outage{2, 20 * sec}.TimeWindow(10*sec, 1, 1)
		}, Detection{false, 20, 9500 * ms}},
		{"huge start", func() (Detection, error) {
			return Outage{1e3, 290 * 365 * 24 * time.Hour}.CountWindow(CountRule{10, 10, 0.5})
		}, Detection{false, 5, 4 * ms}},
	} {
		got, err := test.got()
		if must(t, got, err) != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestDetectionErrors(t *testing.T) {
	rule := CountRule{20, 10, 0.5}
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := Outage{rate, 0}.CountWindow(rule)
		wantError(t, err, "outage", "calls per second", "above 0")
		_, err = Outage{rate, 0}.TimeWindow(time.Second, 1, 0.5)
		wantError(t, err, "outage", "calls per second")
	}
	_, err := Outage{1, -1}.CountWindow(rule)
	wantError(t, err, "start -1ns", "at least 0")
	_, err = Outage{1, 0}.CountWindow(CountRule{0, 10, 0.5})
	wantError(t, err, "calls 0")
	_, err = Outage{1, 0}.TimeWindow(0, 10, 0.5)
	wantError(t, err, "time window", "length 0s")
	_, err = Outage{1, 0}.TimeWindow(time.Second, 0, 0.5)
	wantError(t, err, "minimum calls 0")
	_, err = Outage{1, 0}.TimeWindow(time.Second, 1, 0)
	wantError(t, err, "failure rate 0")
	_, err = Outage{1e-12, 0}.CountWindow(rule)
	wantError(t, err, "calls per second 1e-12", "292 years")
	_, err = Outage{1e300, 0}.TimeWindow(time.Second, 1, 0.5)
	wantError(t, err, "hold", "at most")
}

// simulateDetection is the dumb twin: it keeps all calls and recounts them.
func simulateDetection(o Outage, calls int, length time.Duration, minCalls int, rate float64, limit int) Detection {
	due := func(i int) time.Duration {
		at, _ := dueAt(big.NewInt(int64(i)), sure(o.rate()))
		return at
	}
	failed := 0
	for i := 0; failed < limit; i++ {
		now := due(i)
		if now >= o.Start {
			failed++
		}
		held, bad := 0, 0
		for j := i; j >= 0; j-- {
			if calls > 0 && i-j >= calls || length > 0 && now-due(j) >= length {
				break
			}
			held++
			if due(j) >= o.Start {
				bad++
			}
		}
		if held >= minCalls && float64(bad)/float64(held) >= rate {
			return Detection{false, int64(failed), now - o.Start}
		}
	}
	return Detection{Never: true}
}

func TestDetectionAgainstRecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Outage{
			RateRPS: rapid.OneOf(
				rapid.Map(rapid.IntRange(1, 60), func(i int) float64 { return float64(i) }),
				rapid.SampledFrom([]float64{0.1, 0.3, 0.5, 0.7, 1.5, 2.25, 3.3}),
			).Draw(t, "rate"),
			Start: time.Duration(rapid.IntRange(0, 3000).Draw(t, "start")) * ms,
		}
		minCalls := rapid.IntRange(1, 25).Draw(t, "minimum")
		failureRate := float64(rapid.IntRange(1, 100).Draw(t, "percent")) / 100
		calls := rapid.IntRange(1, 25).Draw(t, "calls")
		got, err := o.CountWindow(CountRule{calls, minCalls, failureRate})
		if err != nil {
			t.Fatal(err)
		}
		if want := simulateDetection(o, calls, 0, min(calls, minCalls), failureRate, 60); got != want {
			t.Errorf("count window: %+v, want %+v", got, want)
		}
		length := time.Duration(rapid.IntRange(1, 4000).Draw(t, "length")) * ms
		got, err = o.TimeWindow(length, minCalls, failureRate)
		if err != nil {
			t.Fatal(err)
		}
		if want := simulateDetection(o, 0, length, minCalls, failureRate, 300); got != want {
			t.Errorf("time window: %+v, want %+v", got, want)
		}
	})
}
