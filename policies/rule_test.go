package policies

import (
	"math"
	"reflect"
	"testing"
	"time"
)

func TestRuleConfigValidate(t *testing.T) {
	valid := RuleConfig{
		Window:   WindowConfig{Kind: CountWindow, Calls: 100},
		MinCalls: 10, FailureRate: 0.5, SlowRate: 0.8, SlowAfter: 2 * sec,
	}
	for _, tt := range []struct {
		name   string
		change func(*RuleConfig)
		want   string
	}{
		{"as it is", func(*RuleConfig) {}, ""},
		{"failure rate only", func(c *RuleConfig) { c.SlowRate, c.SlowAfter = 0, 0 }, ""},
		{"slow rate only", func(c *RuleConfig) { c.FailureRate = 0 }, ""},
		{"rates of 1", func(c *RuleConfig) { c.FailureRate, c.SlowRate = 1, 1 }, ""},
		{"tiny rate", func(c *RuleConfig) { c.FailureRate = math.SmallestNonzeroFloat64 }, ""},
		{"minimum above the window", func(c *RuleConfig) { c.MinCalls = 1000 }, ""},
		{"slow after without a rate", func(c *RuleConfig) { c.SlowRate = 0 }, ""},
		{"bad window", func(c *RuleConfig) { c.Window.Calls = 0 }, "count window: calls 0"},
		{"no minimum", func(c *RuleConfig) { c.MinCalls = 0 }, "policies: rule: minimum calls 0, want at least 1"},
		{"negative minimum", func(c *RuleConfig) { c.MinCalls = -5 }, "minimum calls -5"},
		{"negative rate", func(c *RuleConfig) { c.FailureRate = -0.1 }, "policies: rule: failure rate -0.1, want above 0 and at most 1"},
		{"percent", func(c *RuleConfig) { c.FailureRate = 50 }, "failure rate 50, want"},
		{"just above 1", func(c *RuleConfig) { c.SlowRate = math.Nextafter(1, 2) }, "slow rate 1.0000000000000002, want"},
		{"not a number", func(c *RuleConfig) { c.FailureRate = math.NaN() }, "failure rate NaN"},
		{"not a number either", func(c *RuleConfig) { c.SlowRate = math.NaN() }, "slow rate NaN"},
		{"infinite", func(c *RuleConfig) { c.SlowRate = math.Inf(1) }, "slow rate +Inf"},
		{"both off", func(c *RuleConfig) { c.FailureRate, c.SlowRate = 0, 0 }, "failure rate 0 and slow rate 0, want at least one"},
		{"slow rate without slow after", func(c *RuleConfig) { c.SlowAfter = 0 }, "slow after 0s, want more than 0s for the slow rate 0.8"},
		{"negative slow after", func(c *RuleConfig) { c.SlowRate, c.SlowAfter = 0, -1 }, "slow after -1ns, want 0s or more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := valid
			tt.change(&c)
			checkError(t, c.Validate(), tt.want)
			r, err := NewRule(c)
			checkError(t, err, tt.want)
			if (r == nil) != (tt.want != "") {
				t.Errorf("rule %v with error %v", r, err)
			}
		})
	}
}

func TestMinimumAboveTheWindow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		c     RuleConfig
		want  int
		notes []string
	}{
		{
			"count window too small",
			RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 5}, MinCalls: 10, FailureRate: 0.5},
			5, []string{"minimum 10 above the count window of 5: capped to 5"},
		},
		{
			"count window just large enough",
			RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 10}, MinCalls: 10, FailureRate: 0.5},
			10, nil,
		},
		{
			"a time window may hold any number",
			RuleConfig{Window: WindowConfig{Kind: TimeWindow, Length: sec, Calls: 5}, MinCalls: 1000, FailureRate: 0.5},
			1000, nil,
		},
		{
			"unless it is bounded",
			RuleConfig{Window: WindowConfig{Kind: TimeWindow, Length: sec, MaxCalls: 50}, MinCalls: 100, FailureRate: 0.5},
			50, []string{"minimum 100 above the time window of 50: capped to 50"},
		},
		{
			"buckets may hold any number",
			RuleConfig{Window: WindowConfig{Kind: BucketWindow, Length: sec, Buckets: 10}, MinCalls: 1000, FailureRate: 0.5},
			1000, nil,
		},
		{
			"slow calls nobody asks for",
			RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 10}, MinCalls: 10, FailureRate: 0.5, SlowAfter: sec},
			10, []string{"slow after 1s without a slow rate: slow calls are counted but never trip"},
		},
		{
			"unknown kind",
			RuleConfig{MinCalls: 7}, 7, nil,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.c.EffectiveMinCalls(); got != tt.want {
				t.Errorf("effective minimum %d, want %d", got, tt.want)
			}
			if got := tt.c.Notes(); !reflect.DeepEqual(got, tt.notes) {
				t.Errorf("notes %q, want %q", got, tt.notes)
			}
		})
	}
}

// A rule goes on observing after it has tripped, and forgets only when told.
func TestRuleTripsUntilReset(t *testing.T) {
	r := mustRule(t, RuleConfig{Window: WindowConfig{Kind: CountWindow, Calls: 4}, MinCalls: 2, FailureRate: 0.5})
	for i, tt := range []struct {
		failed, trip bool
		held         Counts
	}{
		{true, false, Counts{1, 1, 0}}, // below the minimum
		{false, true, Counts{2, 1, 0}}, // a success can complete the minimum
		{true, true, Counts{3, 2, 0}},
		{false, true, Counts{4, 2, 0}},
		{false, false, Counts{4, 1, 0}},
		{true, true, Counts{4, 2, 0}},
	} {
		if got := r.Observe(0, tt.failed, false); got != tt.trip {
			t.Errorf("outcome %d: trip %v, want %v", i, got, tt.trip)
		}
		if got := r.Counts(0); got != tt.held {
			t.Errorf("outcome %d: %+v, want %+v", i, got, tt.held)
		}
	}
	r.Reset()
	if r.Observe(0, true, false) {
		t.Error("tripped at the first outcome after a reset")
	}
}

// A success can trip a time window when it pushes older successes out.
func TestSuccessTripsTimeWindow(t *testing.T) {
	r := mustRule(t, RuleConfig{
		Window:   WindowConfig{Kind: TimeWindow, Length: 10 * sec},
		MinCalls: 2, FailureRate: 0.5,
	})
	line := []struct {
		at     time.Duration
		failed bool
		trip   bool
	}{
		{0 * sec, false, false},
		{1 * sec, false, false},
		{2 * sec, true, false},
		{9 * sec, false, false}, // 1 of 4
		{11 * sec, false, false},
		{12*sec - 1, false, false}, // 1 of 4
	}
	for _, l := range line {
		if got := r.Observe(l.at, l.failed, false); got != l.trip {
			t.Errorf("at %v: trip %v, want %v", l.at, got, l.trip)
		}
	}
	// The failure of 12 s stays while the five before it leave.
	r.Reset()
	for i := range 5 {
		r.Observe(time.Duration(i)*sec, false, false)
	}
	if r.Observe(9*sec, true, false) {
		t.Error("tripped at 1 of 6")
	}
	if !r.Observe(14*sec, false, false) {
		t.Error("did not trip at 1 of 2, with a success")
	}
}

// Detection delays of a fixed-rate client whose callee fails from 20 s on, for
// a count window of 20 and a time window of 10 s, minimum 10 of 50 %. The
// figures follow by arithmetic: an entry leaves when it is exactly 10 s old.
func TestDetectionDelay(t *testing.T) {
	const outage = 20 * sec
	for _, tt := range []struct {
		gap         time.Duration // between calls
		count, time time.Duration // delays; -1 means never
		bad         [2]int        // failing calls up to the opening one
	}{
		{2 * sec, 18 * sec, -1, [2]int{10, 1500}},
		{1 * sec, 9 * sec, 4 * sec, [2]int{10, 5}},
		{sec / 2, 4500 * time.Millisecond, 4500 * time.Millisecond, [2]int{10, 10}},
		{sec / 5, 1800 * time.Millisecond, 4800 * time.Millisecond, [2]int{10, 25}},
		{sec / 20, 450 * time.Millisecond, 4950 * time.Millisecond, [2]int{10, 100}},
		{sec / 100, 90 * time.Millisecond, 4990 * time.Millisecond, [2]int{10, 500}},
		{sec / 500, 18 * time.Millisecond, 4998 * time.Millisecond, [2]int{10, 2500}},
	} {
		for i, window := range []WindowConfig{
			{Kind: CountWindow, Calls: 20},
			{Kind: TimeWindow, Length: 10 * sec},
		} {
			r := mustRule(t, RuleConfig{Window: window, MinCalls: 10, FailureRate: 0.5})
			delay, bad := time.Duration(-1), 0
			for at := time.Duration(0); at < outage+3000*sec; at += tt.gap {
				if at >= outage {
					bad++
				}
				if r.Observe(at, at >= outage, false) {
					delay = at - outage
					break
				}
			}
			if want := []time.Duration{tt.count, tt.time}[i]; delay != want || bad != tt.bad[i] {
				t.Errorf("a call every %v, %s window: %v and %d bad calls, want %v and %d",
					tt.gap, window.Kind, delay, bad, want, tt.bad[i])
			}
		}
	}
}
