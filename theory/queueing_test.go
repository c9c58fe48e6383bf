package theory

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMMCPublished(t *testing.T) {
	for _, test := range []struct {
		servers                 int
		load                    float64 // per server
		wait, mean, q99, losses float64
	}{
		{1, 0.9, 0.9, 9.000, 44.998, 0.47368},
		{2, 0.9, 0.85263, 4.26316, 22.229, 0.36652},
		{5, 0.7, 0.37784, 0.25189, 2.421, 0.15411},
		{10, 0.8, 0.40918, 0.20459, 1.856, 0.12166},
		{10, 0.9, 0.66873, 0.66873, 4.203, 0.16796},
		{50, 0.9, 0.36386, 0.07277, 0.719, 0.05410},
	} {
		q := MMC{ArrivalRPS: test.load * float64(test.servers), ServiceRPS: 1, Servers: test.servers}
		near(t, "wait probability", sure(q.WaitProbability()), test.wait, 2e-5)
		near(t, "mean wait", sure(q.MeanWait()), test.mean, 1e-4)
		near(t, "99 % wait", sure(q.WaitQuantile(0.99)), test.q99, 5e-4)
		near(t, "Erlang B", sure(ErlangB(test.servers, q.ArrivalRPS)), test.losses, 1e-4)
	}
}

func TestSingleServerPublished(t *testing.T) {
	for _, test := range []struct{ load, constant, varied float64 }{{0.7, 1.1667, 5.8333}, {0.9, 4.5, 22.5}} {
		near(t, "M/D/1", sure(MD1Wait(test.load, 1)), test.constant, 1e-4)
		near(t, "M/G/1", sure(MG1Wait(test.load, 1, 4)), test.varied, 1e-4)
		exponential := MMC{ArrivalRPS: test.load, ServiceRPS: 1, Servers: 1}
		near(t, "M/M/1", sure(MG1Wait(test.load, 1, 1)), sure(exponential.MeanWait()), 1e-14)
		near(t, "time scale", sure(MG1Wait(test.load*50, 0.02, 4)), test.varied*0.02, 1e-4)
	}
	for _, test := range []struct{ load, want float64 }{{0.9, 0.05081}, {1.2, 0.19259}, {2, 0.50024}} {
		near(t, "M/M/1/10", sure(MM1KBlocking(test.load, 10)), test.want, 1e-4)
	}
}

// TestErlangAgainstSums uses the textbook sums of states.
func TestErlangAgainstSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 30).Draw(t, "servers")
		load := rapid.Float64Range(0.01, 0.99).Draw(t, "utilization") * float64(servers)
		sum, term := 0.0, 1.0 // of load^i/i!
		for i := range servers {
			sum += term
			term *= load / float64(i+1)
		}
		near(t, "Erlang B", sure(ErlangB(servers, load)), term/(sum+term), 1e-12)
		queued := term / (1 - load/float64(servers))
		near(t, "Erlang C", sure(ErlangC(servers, load)), queued/(sum+queued), 1e-11)
	})
}

func TestMM1KAgainstSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 60).Draw(t, "capacity")
		load := rapid.OneOf(rapid.Float64Range(0.01, 5), rapid.SampledFrom([]float64{1, 1 - 1e-9, 1 + 1e-9})).Draw(t, "load")
		sum := 0.0
		for i := range capacity + 1 {
			sum += math.Pow(load, float64(i-capacity))
		}
		near(t, "blocking", sure(MM1KBlocking(load, capacity)), 1/sum, 1e-7)
		if load < 0.999 || load > 1.001 {
			near(t, "blocking", sure(MM1KBlocking(load, capacity)), 1/sum, 1e-11)
		}
	})
}

func TestQueueingEdges(t *testing.T) {
	idle := MMC{ArrivalRPS: 0, ServiceRPS: 1, Servers: 3}
	near(t, "idle", sure(idle.WaitProbability()), 0, 0)
	near(t, "idle", sure(idle.MeanWait()), 0, 0)
	near(t, "idle", sure(idle.WaitQuantile(0.99)), 0, 0)
	q := MMC{ArrivalRPS: 1, ServiceRPS: 1, Servers: 2} // P(wait) = 1/3
	near(t, "quantile of those who do not wait", sure(q.WaitQuantile(0.6)), 0, 0)
	near(t, "quantile", sure(q.WaitQuantile(0.99)), math.Log(100.0/3), 1e-12)
	near(t, "overload loses the excess", sure(ErlangB(10, 1e9)), 1-1e-8, 1e-9)
	near(t, "no load", sure(ErlangB(10, 0)), 0, 0)
	near(t, "no load", sure(MM1KBlocking(0, 10)), 0, 0)
	near(t, "balanced", sure(MM1KBlocking(1, 9)), 0.1, 1e-15)
	near(t, "overload", sure(MM1KBlocking(2, 1e6)), 0.5, 1e-15)
	near(t, "no arrivals", sure(MG1Wait(0, 1, 4)), 0, 0)
}

func TestQueueingErrors(t *testing.T) {
	for _, test := range []struct {
		q    MMC
		part string
	}{
		{MMC{1, 1, 0}, "servers 0"},
		{MMC{-1, 1, 1}, "arrivals per second -1"},
		{MMC{1, 0, 1}, "services per second 0"},
		{MMC{2, 1, 2}, "utilization 1, want below 1"},
		{MMC{math.NaN(), 1, 2}, "arrivals per second NaN"},
	} {
		_, err := test.q.WaitProbability()
		wantError(t, err, "M/M/c", test.part)
		v, err := test.q.MeanWait()
		wantError(t, err, test.part)
		near(t, "value beside an error", v, 0, 0)
		_, err = test.q.WaitQuantile(0.5)
		wantError(t, err, test.part)
	}
	_, err := MMC{1, 2, 1}.WaitQuantile(1)
	wantError(t, err, "quantile 1", "below 1")
	_, err = ErlangB(0, 1)
	wantError(t, err, "Erlang B", "servers 0")
	_, err = ErlangB(1, -1)
	wantError(t, err, "load -1")
	_, err = ErlangC(0, 1)
	wantError(t, err, "Erlang C", "servers 0")
	_, err = ErlangC(2, 2)
	wantError(t, err, "load 2", "below the 2 servers")
	_, err = ErlangC(2, math.NaN())
	wantError(t, err, "load NaN")
	_, err = MG1Wait(1, 1, 0)
	wantError(t, err, "M/G/1", "utilization 1")
	_, err = MG1Wait(-1, 1, 0)
	wantError(t, err, "arrivals per second -1")
	_, err = MG1Wait(1, 0, 0)
	wantError(t, err, "mean service time 0")
	_, err = MG1Wait(1, 0.5, -1)
	wantError(t, err, "squared coefficient of variation -1")
	_, err = MD1Wait(3, 0.5)
	wantError(t, err, "utilization 1.5")
	_, err = MM1KBlocking(-1, 3)
	wantError(t, err, "M/M/1/K", "load -1")
	_, err = MM1KBlocking(1, 0)
	wantError(t, err, "capacity 0")
}

// simulateWaits serves customers in order of arrival, each by the server that
// is free first, and returns their waits after a warm-up.
func simulateWaits(r *rand.Rand, arrivalRPS float64, servers, customers int, service func() float64) []float64 {
	free := make([]float64, servers) // when each server is, in order
	now, warmUp := 0.0, customers/10
	var waits []float64
	for i := range customers {
		now += r.ExpFloat64() / arrivalRPS
		wait := max(free[0]-now, 0)
		free[0] = now + wait + service()
		slices.Sort(free)
		if i >= warmUp {
			waits = append(waits, wait)
		}
	}
	return waits
}

// checkMean compares with the mean of batches, which are nearly independent.
func checkMean(t *testing.T, what string, values []float64, want float64) {
	t.Helper()
	const batches = 30
	var means []float64
	for batch := range slices.Chunk(values, len(values)/batches) {
		mean, _ := MeanSD(batch)
		means = append(means, mean)
	}
	mean, sd := MeanSD(means)
	if z := ZScore(len(means), mean, sd, want); !(math.Abs(z) < 3.5) {
		t.Errorf("%s: simulated %v, exact %v, z %v", what, mean, want, z)
	}
}

func TestQueuesAgainstSimulation(t *testing.T) {
	const customers = 300_000
	r := rand.New(rand.NewPCG(5, 6))
	for _, servers := range []int{1, 3} {
		q := MMC{ArrivalRPS: 7 * float64(servers), ServiceRPS: 10, Servers: servers}
		waits := simulateWaits(r, q.ArrivalRPS, servers, customers, func() float64 { return r.ExpFloat64() / 10 })
		checkMean(t, "M/M/c mean wait", waits, sure(q.MeanWait()))
		share := func(above float64) []float64 {
			list := make([]float64, len(waits))
			for i, w := range waits {
				list[i] = indicator(w > above)
			}
			return list
		}
		checkMean(t, "M/M/c share that waits", share(0), sure(q.WaitProbability()))
		checkMean(t, "M/M/c above the 90 % quantile", share(sure(q.WaitQuantile(0.9))), 0.1)
	}
	constant := simulateWaits(r, 7, 1, customers, func() float64 { return 0.1 })
	checkMean(t, "M/D/1 mean wait", constant, sure(MD1Wait(7, 0.1)))
	// Service of 0.02 s or 0.5 s: mean 0.1 s, squared coefficient of variation
	// (5/6·0.02² + 1/6·0.5²)/0.1² - 1 = 3.2.
	mixed := simulateWaits(r, 7, 1, customers, func() float64 {
		if r.IntN(6) == 0 {
			return 0.5
		}
		return 0.02
	})
	checkMean(t, "M/G/1 mean wait", mixed, sure(MG1Wait(7, 0.1, 3.2)))
}
