package sim

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The engine and its streams against queueing theory: a service station is
// built on the public API, and what it shows is compared with the closed forms
// by a 99.9 % confidence interval over replications. The mean service takes
// one second, so that rounding to nanoseconds does not matter.

// A queueModel is a station with Poisson arrivals and one waiting line.
type queueModel struct {
	rate    float64 // arrivals per second
	servers int
	room    int                   // most customers in the station, 0 means no limit
	service func(r *Rand) float64 // seconds, mean 1
	tail    float64               // seconds of waiting that tailShare counts beyond
}

// queueResult holds the means of one replication after warm-up.
type queueResult struct {
	wait      float64 // seconds, of those admitted
	waited    float64 // share of those admitted who waited
	tailShare float64 // share of those admitted who waited longer than tail
	blocked   float64 // share of arrivals turned away
	number    float64 // customers in the station, over time
}

// A station is one replication of a queueModel in progress.
type station struct {
	queueModel
	arrivals, services *Rand
	left               int    // arrivals still to come
	warm               int    // arrivals still to be ignored
	line               []Time // instants of arrival of those who wait
	head               int
	busy               int

	seen, refused, admitted, late, later int
	waiting, sojourn                     time.Duration
	area                                 time.Duration // ∫ customers in the station dt
	changed, from                        Time
	measuring                            bool
	areaFrom                             time.Duration
}

const (
	arrive uint32 = iota
	depart        // Arg is the instant of arrival
)

func (s *station) Handle(e *Engine, ev Event) {
	s.area += time.Duration(s.inside()) * e.Now().Sub(s.changed)
	s.changed = e.Now()
	switch ev.Kind {
	case arrive:
		s.arrived(e)
	case depart:
		s.sojourn += e.Now().Sub(Time(ev.Arg))
		s.busy--
		if s.head < len(s.line) {
			s.start(e, s.line[s.head])
			s.head++
		}
	}
}

func (s *station) inside() int { return s.busy + len(s.line) - s.head }

func (s *station) arrived(e *Engine) {
	if s.left--; s.left > 0 {
		e.After(seconds(s.arrivals.ExpFloat64()/s.rate), s, Event{Kind: arrive})
	}
	if s.warm--; s.warm < 0 {
		if !s.measuring {
			s.measuring, s.from, s.areaFrom = true, e.Now(), s.area
		}
		s.seen++
	}
	switch {
	case s.room > 0 && s.inside() == s.room:
		if s.measuring {
			s.refused++
		}
	case s.busy < s.servers:
		s.start(e, e.Now())
	default:
		s.line = append(s.line, e.Now())
	}
}

func (s *station) start(e *Engine, arrived Time) {
	s.busy++
	e.After(seconds(s.service(s.services)), s, Event{Kind: depart, Arg: uint64(arrived)})
	if !s.measuring || arrived < s.from {
		return
	}
	s.admitted++
	wait := e.Now().Sub(arrived)
	s.waiting += wait
	if wait > 0 {
		s.late++
	}
	if wait > seconds(s.tail) {
		s.later++
	}
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// replicate runs customers arrivals through the model, the first tenth of them
// as warm-up, until the station is empty again.
func (m queueModel) replicate(t *testing.T, replication uint64, customers int) queueResult {
	e := New()
	s := &station{
		queueModel: m,
		arrivals:   Stream(1, replication, "arrivals"),
		services:   Stream(1, replication, "services"),
		left:       customers,
		warm:       customers / 10,
	}
	e.At(0, s, Event{Kind: arrive})
	e.Run()
	// Little's law holds to the nanosecond from empty to empty: the time that
	// customers spent here is the area under their number.
	if s.area != s.sojourn || s.inside() != 0 {
		t.Errorf("area under the number of customers %v, sum of sojourn times %v, %d left", s.area, s.sojourn, s.inside())
	}
	return queueResult{
		wait:      s.waiting.Seconds() / float64(s.admitted),
		waited:    float64(s.late) / float64(s.admitted),
		tailShare: float64(s.later) / float64(s.admitted),
		blocked:   float64(s.refused) / float64(s.seen),
		number:    float64(s.area-s.areaFrom) / float64(e.Now().Sub(s.from)),
	}
}

// checkInterval compares want with the mean of a 99.9 % Student interval. The interval
// must also be narrow, or the test would prove nothing.
func checkInterval(t *testing.T, what string, x []float64, want, narrow float64) {
	t.Helper()
	mean, sd := stat.MeanStdDev(x, nil)
	n := float64(len(x))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.9995) * sd / math.Sqrt(n)
	if math.Abs(mean-want) > half {
		t.Errorf("%s: %.5g ± %.2g, want %.5g", what, mean, half, want)
	}
	if half > narrow*want {
		t.Errorf("%s: %.5g ± %.2g is too wide to tell, want within %g of %.5g", what, mean, half, narrow, want)
	}
}

func exponential(r *Rand) float64 { return r.ExpFloat64() }
func constant(*Rand) float64      { return 1 }

// hyperexponential has squared coefficient of variation 4: two exponential
// laws with balanced means.
func hyperexponential(r *Rand) float64 {
	p := (1 + math.Sqrt(3.0/5)) / 2
	if r.Float64() >= p {
		p = 1 - p
	}
	return r.ExpFloat64() / (2 * p)
}

// The values are those of the textbook formulas: Erlang B and C; Pollaczek and
// Khinchine for general service; the M/M/1/K stationary law.
func TestQueueingTheory(t *testing.T) {
	if raceDetector {
		t.Skip("one goroutine per replication and minutes under the race detector")
	}
	const none = -1
	for _, c := range []struct {
		name                  string
		model                 queueModel
		customers             int
		wait, waited, blocked float64 // none: not compared
	}{
		{"M/M/1 load .9", queueModel{0.9, 1, 0, exponential, 44.998}, 150_000, 9, .9, 0},
		{"M/M/2 load .9", queueModel{1.8, 2, 0, exponential, 22.229}, 150_000, 4.26316, .85263, 0},
		{"M/M/5 load .7", queueModel{3.5, 5, 0, exponential, 2.421}, 40_000, .25189, .37784, 0},
		{"M/M/10 load .8", queueModel{8, 10, 0, exponential, 1.856}, 40_000, .20459, .40918, 0},
		{"M/M/10 load .9", queueModel{9, 10, 0, exponential, 4.203}, 150_000, .66873, .66873, 0},
		{"M/D/1 load .7", queueModel{0.7, 1, 0, constant, 0}, 40_000, 7.0 / 6, .7, 0},
		{"M/D/1 load .9", queueModel{0.9, 1, 0, constant, 0}, 100_000, 4.5, .9, 0},
		{"M/G/1 load .7", queueModel{0.7, 1, 0, hyperexponential, 0}, 60_000, 35.0 / 6, .7, 0},
		{"M/G/1 load .9", queueModel{0.9, 1, 0, hyperexponential, 0}, 200_000, 22.5, .9, 0},
		{"M/M/1/10 load .9", queueModel{0.9, 1, 10, exponential, 0}, 40_000, none, none, .05081},
		{"M/M/1/10 load 1.2", queueModel{1.2, 1, 10, exponential, 0}, 40_000, none, none, .19259},
		{"M/M/1/10 load 2", queueModel{2, 1, 10, exponential, 0}, 40_000, none, none, .50024},
		{"Erlang B, 1 server", queueModel{0.9, 1, 1, exponential, 0}, 20_000, 0, 0, .47368},
		{"Erlang B, 2 servers", queueModel{1.8, 2, 2, exponential, 0}, 20_000, 0, 0, .36652},
		{"Erlang B, 5 servers", queueModel{3.5, 5, 5, exponential, 0}, 40_000, 0, 0, .15411},
		{"Erlang B, 10 servers, load .8", queueModel{8, 10, 10, exponential, 0}, 40_000, 0, 0, .12166},
		{"Erlang B, 10 servers, load .9", queueModel{9, 10, 10, exponential, 0}, 40_000, 0, 0, .16796},
		// Blocking does not depend on the law of the service.
		{"Erlang B, constant service", queueModel{3.5, 5, 5, constant, 0}, 40_000, 0, 0, .15411},
		{"Erlang B, variable service", queueModel{3.5, 5, 5, hyperexponential, 0}, 40_000, 0, 0, .15411},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const replications = 20
			var wait, waited, tail, blocked, number []float64
			for i := range uint64(replications) {
				r := c.model.replicate(t, i, c.customers)
				wait = append(wait, r.wait)
				waited = append(waited, r.waited)
				tail = append(tail, r.tailShare)
				blocked = append(blocked, r.blocked)
				number = append(number, r.number)
			}
			for _, m := range []struct {
				name   string
				got    []float64
				want   float64
				narrow float64
			}{
				{"mean wait", wait, c.wait, .08},
				{"share that waits", waited, c.waited, .03},
				{"share turned away", blocked, c.blocked, .05},
			} {
				if m.want != none {
					checkInterval(t, m.name, m.got, m.want, m.narrow)
				}
			}
			if c.model.tail > 0 {
				checkInterval(t, fmt.Sprintf("share that waits longer than %gs", c.model.tail), tail, .01, .5)
			}
			if c.wait != none {
				// Little's law again, now with the theory on the right-hand side.
				checkInterval(t, "mean number", number, c.model.rate*(1-c.blocked)*(c.wait+1), .08)
			}
		})
	}
}
