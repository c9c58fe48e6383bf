package theory

import (
	"fmt"
	"math"
)

// ErlangB returns the share of calls lost by a loss system M/G/c/c: Poisson
// arrivals, no queue. load is arrival rate times mean service time, in
// erlangs, at least 0 (Erlang 1917; the recursion in c is stable).
func ErlangB(servers int, load float64) (float64, error) {
	if err := checkServers("Erlang B", servers); err != nil {
		return 0, err
	}
	if err := checkNotNegative("Erlang B", "load", load); err != nil {
		return 0, err
	}
	return erlangB(servers, load), nil
}

func erlangB(servers int, load float64) float64 {
	b := 1.0
	for c := 1; c <= servers; c++ {
		b = load * b / (float64(c) + load*b)
	}
	return b
}

func checkServers(what string, servers int) error {
	return checkAtLeast(what, "servers", int64(servers), 1)
}

// ErlangC returns the probability that a customer of an M/M/c queue has to
// wait. load is in erlangs and must be below servers (Erlang 1917).
func ErlangC(servers int, load float64) (float64, error) {
	if err := checkServers("Erlang C", servers); err != nil {
		return 0, err
	}
	if err := checkNotNegative("Erlang C", "load", load); err != nil {
		return 0, err
	}
	if load >= float64(servers) {
		return 0, fmt.Errorf("theory: Erlang C: load %v, want below the %d servers", load, servers)
	}
	b, idle := erlangB(servers, load), 1-load/float64(servers)
	return b / (idle + (1-idle)*b), nil
}

// An MMC is an M/M/c queue: Poisson arrivals, exponential service, some equal
// servers, one unbounded first-come first-served queue.
type MMC struct {
	ArrivalRPS float64 // customers per second, at least 0
	ServiceRPS float64 // customers per second that one busy server completes, above 0
	Servers    int     // at least 1
}

// Validate returns an error unless the fields are in range and the load is
// below the number of servers.
func (q MMC) Validate() error {
	if err := checkServers("M/M/c", q.Servers); err != nil {
		return err
	}
	if err := checkNotNegative("M/M/c", "arrivals per second", q.ArrivalRPS); err != nil {
		return err
	}
	if err := checkPositive("M/M/c", "services per second", q.ServiceRPS); err != nil {
		return err
	}
	if !(q.Utilization() < 1) {
		return fmt.Errorf("theory: M/M/c: utilization %v, want below 1", q.Utilization())
	}
	return nil
}

// Utilization is the share of time that a server is busy.
func (q MMC) Utilization() float64 {
	return q.ArrivalRPS / (float64(q.Servers) * q.ServiceRPS)
}

// WaitProbability returns the probability that a customer waits (Erlang C).
func (q MMC) WaitProbability() (float64, error) {
	if err := q.Validate(); err != nil {
		return 0, err
	}
	return ErlangC(q.Servers, q.ArrivalRPS/q.ServiceRPS)
}

// drain is the rate, per second, at which a full house works off its queue
// beyond what arrives.
func (q MMC) drain() float64 { return float64(q.Servers)*q.ServiceRPS - q.ArrivalRPS }

// MeanWait returns the mean time in the queue, in seconds (Kleinrock 1975,
// section 3.5).
func (q MMC) MeanWait() (float64, error) {
	wait, err := q.WaitProbability()
	if err != nil {
		return 0, err
	}
	return wait / q.drain(), nil
}

// WaitQuantile returns the time in the queue, in seconds, that a share prob of
// the customers does not exceed. Those who wait do so for an exponential time
// (Kleinrock 1975, section 3.5). prob is at least 0 and below 1.
func (q MMC) WaitQuantile(prob float64) (float64, error) {
	if !(prob >= 0 && prob < 1) {
		return 0, fmt.Errorf("theory: M/M/c: quantile %v, want at least 0 and below 1", prob)
	}
	wait, err := q.WaitProbability()
	if err != nil || 1-prob >= wait {
		return 0, err
	}
	return math.Log(wait/(1-prob)) / q.drain(), nil
}

// MG1Wait returns the mean time in the queue of an M/G/1 queue, in seconds,
// from the mean service time in seconds and the squared coefficient of
// variation of the service time: 1 for exponential service, 0 for constant
// (Pollaczek 1930, Khinchine 1932).
func MG1Wait(arrivalRPS, meanService, squaredCV float64) (float64, error) {
	if err := checkNotNegative("M/G/1", "arrivals per second", arrivalRPS); err != nil {
		return 0, err
	}
	if err := checkPositive("M/G/1", "mean service time", meanService); err != nil {
		return 0, err
	}
	if err := checkNotNegative("M/G/1", "squared coefficient of variation", squaredCV); err != nil {
		return 0, err
	}
	load := arrivalRPS * meanService
	if !(load < 1) {
		return 0, fmt.Errorf("theory: M/G/1: utilization %v, want below 1", load)
	}
	return load * meanService * (1 + squaredCV) / (2 * (1 - load)), nil
}

// MD1Wait returns the mean time in the queue of an M/D/1 queue, in seconds:
// [MG1Wait] for a constant service time.
func MD1Wait(arrivalRPS, service float64) (float64, error) {
	return MG1Wait(arrivalRPS, service, 0)
}

// MM1KBlocking returns the share of customers that an M/M/1/K queue turns
// away, for an offered load of arrival rate times mean service time, which may
// exceed 1, and at most capacity customers in the system, counting the one in
// service (Kleinrock 1975, section 3.6).
func MM1KBlocking(load float64, capacity int) (float64, error) {
	if err := checkNotNegative("M/M/1/K", "load", load); err != nil {
		return 0, err
	}
	if err := checkAtLeast("M/M/1/K", "capacity", int64(capacity), 1); err != nil {
		return 0, err
	}
	k := float64(capacity)
	switch {
	case load == 0:
		return 0, nil
	case load == 1:
		return 1 / (k + 1), nil
	case load < 1:
		log := math.Log(load)
		return math.Exp(k*log) * (1 - load) / -math.Expm1((k+1)*log), nil
	}
	// The same, seen from the free places, so that no power overflows.
	return (1 - 1/load) / -math.Expm1(-(k+1)*math.Log(load)), nil
}
