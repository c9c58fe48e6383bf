package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestGobreakerDefaults(t *testing.T) {
	same(t, "defaults", GobreakerDefaults(), GobreakerConfig{MaxRequests: 1, Timeout: 60 * time.Second, ReadyToTrip: "consecutive_failures > 5"})
	for _, c := range []GobreakerConfig{{}, GobreakerDefaults()} {
		d := newDrill(t, c)
		d.run("-----+-----")
		d.want(policies.Closed)
		d.run("-")
		d.want(policies.Open)
		d.at(60 * time.Second).refused()
		d.at(60*time.Second + 1).allow()
		d.want(policies.HalfOpen)
		d.refused()
	}
}

func TestGobreakerBadConfigs(t *testing.T) {
	badConfig(t, GobreakerConfig{MaxRequests: -1}, "max requests")
	badConfig(t, GobreakerConfig{Interval: -1}, "interval")
	badConfig(t, GobreakerConfig{BucketPeriod: -1}, "bucket period")
	badConfig(t, GobreakerConfig{Interval: time.Hour, BucketPeriod: 1}, "bucket period")
	badConfig(t, GobreakerConfig{Timeout: -1}, "timeout")
	for _, text := range []string{
		" ", "consecutive_failures", "consecutive_failures < 3", "consecutive_failures == 3", "failures > 3",
		"consecutive_failures > 2.5", "consecutive_failures > -1", "consecutive_failures > NaN", "consecutive_failures > 1 2",
		"total_failures/requests >= 50", "total_failures/total_successes > 0.5", "requests >= 10 &&", "requests >= 1 || requests >= 2",
		"requests >= 10 & total_failures/requests >= 0.5", "requests => 10", "requests >> 10", "requests >= 10 and requests >= 2",
	} {
		badConfig(t, GobreakerConfig{ReadyToTrip: text}, "ready to trip")
	}
}

func TestGobreakerReadyToTrip(t *testing.T) {
	c := GobreakerCounts{Requests: 10, TotalFailures: 5, ConsecutiveFailures: 3}
	for text, want := range map[string]bool{
		"consecutive_failures > 2":                                          true,
		"consecutive_failures > 3":                                          false,
		"consecutive_failures>=3":                                           true,
		"requests >= 10 && total_failures/requests >= 0.5":                  true,
		"requests > 10 && total_failures/requests >= 0.5":                   false,
		"requests >= 10 && total_failures / requests > 0.5":                 false,
		"requests >= 11 && total_failures/requests >= 0.5":                  false,
		"total_failures > 4 && requests >= 10 && consecutive_failures >= 3": true,
	} {
		trip, err := parseGobreakerTrip(text)
		if err != nil {
			t.Fatal(err)
		}
		same(t, text, trip.met(c), want)
		same(t, text+" of nothing", trip.met(GobreakerCounts{}), false)
	}
}

// Calls that have not ended are among the requests of a ratio.
func TestGobreakerCallsUnderWay(t *testing.T) {
	d := newDrill(t, GobreakerConfig{ReadyToTrip: "requests >= 4 && total_failures/requests >= 0.5"})
	late := d.allow()
	d.allow()
	d.run("--")
	d.want(policies.Open)
	d.end(late, '+')
	same(t, "counts", d.b.(*Gobreaker).Counts(), GobreakerCounts{})
	s := d.b.Stats()
	same(t, "openings", s.Openings, 1)
}

func TestGobreakerFixedWindow(t *testing.T) {
	d := newDrill(t, GobreakerConfig{Interval: time.Second})
	b := d.b.(*Gobreaker)
	late := d.allow()
	d.at(time.Second).run("-")
	same(t, "failures at the end", b.Counts().TotalFailures, 1)
	d.at(3 * time.Second)
	same(t, "failures before a look at the state", b.Counts().TotalFailures, 1)
	d.want(policies.Closed) // a new window starts at 3 s
	same(t, "requests after it", b.Counts().Requests, 0)
	d.end(late, '-')
	same(t, "failures of an older window", b.Counts().TotalFailures, 0)
	d.at(4 * time.Second).run("-")
	same(t, "requests at the end of it", b.Counts().Requests, 1)
	d.at(4*time.Second + 1).run("-")
	same(t, "requests after the end of it", b.Counts().Requests, 1)
}

func TestGobreakerRollingWindow(t *testing.T) {
	d := newDrill(t, GobreakerConfig{Interval: 5 * time.Second, BucketPeriod: 2 * time.Second, ReadyToTrip: "total_failures/requests >= 0.6"})
	b := d.b.(*Gobreaker)
	late := d.allow()
	d.run("+++")
	d.at(2 * time.Second).run("-")
	d.at(4 * time.Second).run("-")
	d.at(6*time.Second - 1).run("+")
	same(t, "in three buckets", b.Counts().Requests, 7)
	d.at(6 * time.Second)
	d.want(policies.Closed)
	same(t, "when the oldest left", b.Counts(), GobreakerCounts{Requests: 3, TotalSuccesses: 1, TotalFailures: 2, ConsecutiveSuccesses: 1})
	d.end(late, '-') // is dropped, and asks whether to trip nevertheless
	d.want(policies.Open)
}

// Consecutive failures are cut only when they fill the window.
func TestGobreakerConsecutiveCut(t *testing.T) {
	d := newDrill(t, GobreakerConfig{Interval: 2 * time.Second, BucketPeriod: time.Second})
	b := d.b.(*Gobreaker)
	d.run("--")
	d.at(time.Second).run("-")
	d.at(2 * time.Second).run("-")
	same(t, "without a success", b.Counts().ConsecutiveFailures, 2)
	d.run("+--")
	d.at(3 * time.Second).run("-")
	same(t, "after a success", b.Counts().ConsecutiveFailures, 3)
	d.at(time.Hour).run("-")
	same(t, "after an hour", b.Counts().ConsecutiveFailures, 1)
}

func TestGobreakerHalfOpen(t *testing.T) {
	d := newDrill(t, GobreakerConfig{MaxRequests: 2, Timeout: time.Second, ReadyToTrip: "consecutive_failures > 0"})
	before := d.allow()
	d.run("-")
	d.at(time.Second + 1).run("ic")
	d.end(before, '-')
	d.want(policies.HalfOpen)
	first, second := d.allow(), d.allow()
	d.refused()
	d.end(first, '+')
	d.refused() // in all, not at a time
	d.end(second, '+')
	d.want(policies.Closed)
	d.run("-")
	if at, ok := d.b.NextDeadline(); !ok || !at.Equal(d.now.Add(time.Second+1)) {
		t.Errorf("next deadline %v, %v", at, ok)
	}
	d.at(time.Minute).run("-")
	d.want(policies.Open)
	same(t, "reopenings", d.b.Stats().Reopenings, 1)
}

// Excluded and cancelled calls count as exclusions, and end no run.
func TestGobreakerExclusions(t *testing.T) {
	d := newDrill(t, GobreakerConfig{Interval: 2 * time.Second, BucketPeriod: time.Second})
	b := d.b.(*Gobreaker)
	d.run("-ic-")
	same(t, "counts", b.Counts(), GobreakerCounts{Requests: 4, TotalFailures: 2, TotalExclusions: 2, ConsecutiveFailures: 2})
	d.at(time.Second).run("+")
	d.at(2 * time.Second).want(policies.Closed)
	same(t, "counts without them", b.Counts(), GobreakerCounts{Requests: 1, TotalSuccesses: 1, ConsecutiveSuccesses: 1})
}

func TestGobreakerAllocations(t *testing.T) {
	noAllocations(t, GobreakerConfig{Interval: time.Second, Timeout: time.Second})
	noAllocations(t, GobreakerConfig{Interval: time.Second, BucketPeriod: 100 * time.Millisecond, Timeout: time.Second})
}
