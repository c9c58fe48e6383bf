package presets

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

const sec = time.Second

// A cluster is a detector under a clock that is set by hand. Its drill is that
// of the first host.
type cluster struct {
	*drill
	d       *OutlierDetector
	changes []string
}

func newCluster(t testing.TB, hosts int, change func(*EnvoyOutlierConfig)) *cluster {
	t.Helper()
	c := EnvoyOutlierDefaults()
	c.MaxEjectionPercent = 100
	if change != nil {
		change(&c)
	}
	s := &cluster{drill: &drill{TB: t, now: drillStart}}
	d, err := NewOutlierDetector(c, hosts, policies.Host{Clock: s.drill}, func(host int, c policies.Change) {
		s.changes = append(s.changes, fmt.Sprintf("%d %v %v", host, c.To, c.At.Sub(drillStart)))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.d, s.b = d, d.Host(0)
	return s
}

// answers lets a host answer calls with an error or nil, also while it is out.
func (s *cluster) answers(host, n int, err error) {
	for range n {
		s.d.Host(host).Record(policies.MakePermit(0), policies.Outcome{Err: err})
	}
}

func TestEnvoyOutlierDefaults(t *testing.T) {
	same(t, "defaults", EnvoyOutlierDefaults(), EnvoyOutlierConfig{
		Consecutive5xx: 5, ConsecutiveGatewayFailure: 5, Interval: 10 * sec,
		BaseEjectionTime: 30 * sec, MaxEjectionTime: 300 * sec, MaxEjectionPercent: 10,
		SuccessRateMinimumHosts: 5, SuccessRateRequestVolume: 100, SuccessRateStdevFactor: 1900,
		FailurePercentageThreshold: 85, FailurePercentageMinimumHosts: 5, FailurePercentageRequestVolume: 50,
		EnforcingConsecutive5xx: 100, EnforcingSuccessRate: 100,
	})
	d := newDrill(t, EnvoyOutlierDefaults())
	d.at(3 * sec).run("----+----ic-")
	d.want(policies.Open)
	d.at(40*sec - 1).refused() // 33 s, and the end of an interval
	d.at(40 * sec).allow()
	same(t, "open time", d.b.Stats().OpenTime, 37*sec)
}

func TestEnvoyOutlierBadConfigs(t *testing.T) {
	for field, change := range map[string]func(*EnvoyOutlierConfig){
		"consecutive 5xx":                   func(c *EnvoyOutlierConfig) { c.Consecutive5xx = -1 },
		"interval":                          func(c *EnvoyOutlierConfig) { c.Interval = 0 },
		"base ejection time":                func(c *EnvoyOutlierConfig) { c.BaseEjectionTime = sec + 1 },
		"max ejection time":                 func(c *EnvoyOutlierConfig) { c.MaxEjectionTime = sec },
		"max jitter":                        func(c *EnvoyOutlierConfig) { c.MaxJitter = -sec },
		"max ejection percent":              func(c *EnvoyOutlierConfig) { c.MaxEjectionPercent = 101 },
		"enforcing success rate":            func(c *EnvoyOutlierConfig) { c.EnforcingSuccessRate = -1 },
		"failure percentage minimum hosts":  func(c *EnvoyOutlierConfig) { c.FailurePercentageMinimumHosts = -1 },
		"hosts":                             func(c *EnvoyOutlierConfig) { c.Hosts = -1 },
		"failure percentage request volume": func(c *EnvoyOutlierConfig) { c.FailurePercentageRequestVolume = -1 },
	} {
		c := EnvoyOutlierDefaults()
		change(&c)
		badConfig(t, c, field)
	}
	if _, err := NewOutlierDetector(EnvoyOutlierDefaults(), 0, policies.Host{}, nil); err == nil {
		t.Error("a detector of no hosts")
	}
	c := EnvoyOutlierDefaults()
	c.MaxEjectionTime, c.BaseEjectionTime = 0, 400*sec
	same(t, "longest by default", c.longest(), 400*sec)
}

// What each error counts as.
func TestEnvoyOutlierAnswers(t *testing.T) {
	for err, want := range map[error]outlierAnswer{
		nil: answerGood, policies.ErrorCode(404): answerGood, policies.ErrorCode(499): answerGood,
		policies.ErrorCode(500): answerBad, policies.ErrorCode(501): answerBad, policies.ErrOther: answerBad,
		policies.ErrorCode(502): answerGateway, policies.ErrorCode(503): answerGateway, policies.ErrorCode(504): answerGateway,
		policies.ErrTimeout: answerGateway, policies.ErrReset: answerGateway, policies.ErrConnect: answerGateway,
		policies.ErrLimit: answerNone, policies.ErrLeft: answerNone, policies.ErrBreakerOpen: answerNone,
	} {
		same(t, fmt.Sprint(err), answerOf(policies.Outcome{Err: err}, policies.Success, false), want)
	}
	same(t, "a good 503", answerOf(policies.Outcome{Err: policies.ErrorCode(503)}, policies.Success, true), answerGood)
	same(t, "a bad 404", answerOf(policies.Outcome{Err: policies.ErrorCode(404)}, policies.Failure, true), answerBad)
	same(t, "a bad 503", answerOf(policies.Outcome{Err: policies.ErrorCode(503)}, policies.Failure, true), answerGateway)
	same(t, "ignored", answerOf(policies.Outcome{Err: policies.ErrTimeout}, policies.Ignored, true), answerNone)
}

// How many of the hosts can be out at a time.
func TestEnvoyOutlierCap(t *testing.T) {
	for _, tt := range []struct {
		hosts, percent int
		before, always bool
		want           int
	}{
		{hosts: 9, percent: 10, want: 0},
		{hosts: 10, percent: 10, want: 1},
		{hosts: 19, percent: 10, want: 1},
		{hosts: 20, percent: 10, want: 2},
		{hosts: 9, percent: 10, always: true, want: 1},
		{hosts: 20, percent: 10, always: true, want: 2},
		{hosts: 3, percent: 0, always: true, want: 1},
		{hosts: 1, percent: 10, before: true, want: 1},
		{hosts: 10, percent: 10, before: true, want: 1},
		{hosts: 11, percent: 10, before: true, want: 2},
		{hosts: 3, percent: 0, before: true, want: 0},
		{hosts: 3, percent: 100, want: 3},
	} {
		s := newCluster(t, tt.hosts, func(c *EnvoyOutlierConfig) {
			c.MaxEjectionPercent, c.Before128, c.AlwaysEjectOneHost = tt.percent, tt.before, tt.always
		})
		for i := range tt.hosts {
			s.answers(i, 5, policies.ErrorCode(500))
		}
		same(t, fmt.Sprintf("%+v: ejected", tt), s.d.Ejected(), tt.want)
		same(t, fmt.Sprintf("%+v: overflows", tt), s.d.Overflows(), uint64(tt.hosts-tt.want))
	}
}

// A run that was found starts again, ejected or not; that of a host that is out
// goes on until it comes back.
func TestEnvoyOutlierRuns(t *testing.T) {
	s := newCluster(t, 1, func(c *EnvoyOutlierConfig) { c.MaxEjectionPercent = 0 })
	s.answers(0, 9, policies.ErrorCode(500))
	same(t, "found in 9", s.d.Overflows(), 1)
	s.answers(0, 1, policies.ErrorCode(500))
	same(t, "found in 10", s.d.Overflows(), 2)

	s = newCluster(t, 1, nil)
	s.answers(0, 5+4, policies.ErrorCode(500))
	s.at(30 * sec)
	s.want(policies.Closed)
	s.answers(0, 4, policies.ErrorCode(500))
	s.want(policies.Closed)
	s.answers(0, 1, policies.ErrorCode(500))
	s.want(policies.Open)

	s = newCluster(t, 1, func(c *EnvoyOutlierConfig) { c.EnforcingConsecutiveGatewayFailure, c.Consecutive5xx = 100, 0 })
	s.answers(0, 4, policies.ErrTimeout)
	s.answers(0, 1, policies.ErrorCode(500)) // no gateway failure
	s.answers(0, 4, policies.ErrorCode(503))
	s.want(policies.Closed)
	s.answers(0, 1, policies.ErrReset)
	s.want(policies.Open)
}

// The multiplier grows with each ejection up to the maximum, and falls at each
// end of an interval at which the host is well.
func TestEnvoyOutlierMultiplier(t *testing.T) {
	s := newCluster(t, 1, nil)
	at := time.Duration(0)
	eject := func(want time.Duration) {
		t.Helper()
		s.at(at).want(policies.Closed)
		s.answers(0, 5, policies.ErrorCode(500))
		s.at(at + want - 1).want(policies.Open)
		at += want
		s.at(at).want(policies.Closed)
	}
	for i := 1; i <= 10; i++ {
		eject(time.Duration(i) * 30 * sec)
	}
	eject(300 * sec) // the multiplier is 11 now
	at += 20 * sec   // 9
	eject(300 * sec) // 10
	at += 30 * sec   // 7
	eject(240 * sec)
	at += time.Hour
	eject(30 * sec)
}

func TestEnvoyOutlierSuccessRate(t *testing.T) {
	for _, tt := range []struct {
		what   string
		change func(*EnvoyOutlierConfig)
		volume int
		want   int
	}{
		{"52 is the lowest", func(c *EnvoyOutlierConfig) {}, 100, 1},
		{"50 is the lowest, and not below itself", func(c *EnvoyOutlierConfig) { c.SuccessRateStdevFactor = 2000 }, 100, 0},
		{"too few answers", func(c *EnvoyOutlierConfig) {}, 98, 0},
		{"too few hosts", func(c *EnvoyOutlierConfig) { c.SuccessRateMinimumHosts = 6 }, 100, 0},
		{"not enforced", func(c *EnvoyOutlierConfig) { c.EnforcingSuccessRate = 0 }, 100, 0},
	} {
		s := newCluster(t, 5, tt.change)
		for range tt.volume / 2 {
			s.answers(0, 1, nil)
			s.answers(0, 1, policies.ErrorCode(500))
		}
		for i := 1; i < 5; i++ {
			s.answers(i, tt.volume, nil)
		}
		s.at(10*sec - 1)
		same(t, tt.what+": before the end", s.d.Ejected(), 0)
		s.at(10 * sec)
		same(t, tt.what, s.d.Ejected(), tt.want)
		same(t, "success rate", s.d.Host(0).SuccessRate(), 50)
		s.at(20 * sec)
		same(t, "success rate of silence", s.d.Host(0).SuccessRate(), -1)
	}
}

func TestEnvoyOutlierFailurePercentage(t *testing.T) {
	c := EnvoyOutlierDefaults()
	c.EnforcingFailurePercentage, c.FailurePercentageMinimumHosts, c.Consecutive5xx = 100, 1, 0
	for good, want := range map[int]policies.State{15: policies.Open, 16: policies.Closed} {
		d := newDrill(t, c)
		for i := range 100 {
			if i < good {
				d.run("+")
			} else {
				d.run("-")
			}
		}
		if at, ok := d.b.NextDeadline(); !ok || !at.Equal(drillStart.Add(10*sec)) {
			t.Errorf("next deadline %v, %v", at, ok)
		}
		d.at(10 * sec).want(want)
	}
}

// A host that each look finds below the others stays out longer each time, but
// not in the older version.
func TestEnvoyOutlierRepeatedLooks(t *testing.T) {
	for before, want := range map[bool]time.Duration{false: 60 * sec, true: 30 * sec} {
		s := newCluster(t, 5, func(c *EnvoyOutlierConfig) { c.Before128, c.Consecutive5xx = before, 0 })
		look := func() {
			s.answers(0, 100, policies.ErrorCode(500))
			for i := 1; i < 5; i++ {
				s.answers(i, 100, nil)
			}
		}
		look()
		s.at(10 * sec).want(policies.Open)
		s.at(40 * sec).want(policies.Closed)
		look()
		s.at(50 * sec).want(policies.Open)
		s.at(50*sec + want - 1).want(policies.Open)
		s.at(50*sec + want).want(policies.Closed)
	}
}

// A random script gives the same whether the detector is woken at the end of
// each interval, at its deadlines, or not at all.
func TestEnvoyOutlierLazy(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		hosts := 1 + r.IntN(7)
		c := EnvoyOutlierDefaults()
		c.Interval, c.BaseEjectionTime, c.MaxEjectionTime = 2*sec, 5*sec, 16*sec
		c.SuccessRateRequestVolume, c.FailurePercentageRequestVolume, c.SuccessRateMinimumHosts = 3, 5, 1+r.IntN(5)
		c.EnforcingFailurePercentage, c.FailurePercentageMinimumHosts = r.IntN(2)*100, r.IntN(3)
		c.MaxEjectionPercent, c.AlwaysEjectOneHost, c.Before128 = 10*r.IntN(11), r.IntN(2) == 0, r.IntN(3) == 0
		start := func() *cluster { return newCluster(t, hosts, func(d *EnvoyOutlierConfig) { *d = c }) }
		lazy, busy, woken := start(), start(), start()
		now := time.Duration(0)
		for range 400 {
			step := time.Duration(r.IntN(800)) * time.Millisecond
			if r.IntN(30) == 0 {
				step = time.Duration(r.IntN(60)) * sec
			}
			for range int(step / (100 * time.Millisecond)) {
				now += 100 * time.Millisecond
				busy.at(now).b.Advance()
				for i := range hosts {
					if at, ok := woken.d.Host(i).NextDeadline(); ok && !at.After(drillStart.Add(now)) {
						woken.at(now).b.Advance()
					}
					same(t, "seen without asking", woken.d.hosts[i].ejected, busy.d.hosts[i].ejected)
				}
			}
			for range r.IntN(8) {
				host, o := r.IntN(hosts), policies.Outcome{}
				if r.IntN(hosts) >= host && r.IntN(2) == 0 {
					o.Err = policies.ErrTimeout
				}
				for _, s := range []*cluster{lazy, busy, woken} {
					s.at(now)
					if p, ok := s.d.Host(host).Allow(); ok {
						s.d.Host(host).Record(p, o)
					}
				}
			}
		}
		for _, s := range []*cluster{lazy, busy, woken} {
			s.at(now).b.Advance()
			same(t, "changes", fmt.Sprint(s.changes), fmt.Sprint(lazy.changes))
			same(t, "overflows", s.d.Overflows(), lazy.d.Overflows())
			for i := range hosts {
				same(t, "stats", s.d.Host(i).Stats(), lazy.d.Host(i).Stats())
				same(t, "multiplier", s.d.hosts[i].multiplier, lazy.d.hosts[i].multiplier)
			}
		}
	}
}

// Jitter and shares that are enforced are drawn.
func TestEnvoyOutlierDraws(t *testing.T) {
	c := EnvoyOutlierDefaults()
	c.MaxJitter, c.EnforcingConsecutive5xx = 10*sec, 30
	for u, want := range map[float64]time.Duration{0: 30 * sec, 0.299: 40 * sec, 0.3: 0} {
		d := &drill{TB: t, now: drillStart}
		b, err := c.NewCircuitBreaker(policies.Host{Clock: d, Uniform: constant(u)})
		if err != nil {
			t.Fatal(err)
		}
		d.b = b
		d.run("-----")
		d.at(time.Hour)
		same(t, "time out", b.Stats().OpenTime, want)
	}
}

type constant float64

func (c constant) Next() float64 { return float64(c) }

func TestEnvoyOutlierTogether(t *testing.T) {
	c := EnvoyOutlierDefaults()
	c.Interval, c.BaseEjectionTime, c.MaxEjectionPercent = time.Millisecond, time.Millisecond, 50
	d, err := NewOutlierDetector(c, 8, policies.Host{}, func(int, policies.Change) {})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 2000 {
				h := d.Host((g + i) % 8)
				if p, ok := h.Allow(); ok {
					h.Record(p, policies.Outcome{Err: policies.ErrTimeout})
				}
				h.Stats()
				h.NextDeadline()
			}
		})
	}
	wait.Wait()
	if n := d.Ejected(); n > 4 {
		t.Errorf("%d of 8 hosts out, want at most 4", n)
	}
}

func TestEnvoyOutlierAllocations(t *testing.T) {
	c := EnvoyOutlierDefaults()
	c.Interval, c.BaseEjectionTime = sec, sec
	noAllocations(t, c)
}
