package theory_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/stormglass/stormglass/theory"
)

func ExampleBinomialTail() {
	p, err := theory.BinomialTail(20, 0.3, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("P[Bin(20, 0.3) >= 10] = %.6f\n", p)
	// Output: P[Bin(20, 0.3) >= 10] = 0.047962
}

func ExampleOutage() {
	outage := theory.Outage{RateRPS: 5, Start: 20 * time.Second}
	count, err := outage.CountWindow(theory.CountRule{Calls: 20, MinCalls: 10, FailureRate: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	timed, err := outage.TimeWindow(10*time.Second, 10, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("last 20 calls:", count.Delay, "after", count.FailedCalls, "failures")
	fmt.Println("last 10 s:", timed.Delay, "after", timed.FailedCalls, "failures")
	// Output:
	// last 20 calls: 1.8s after 10 failures
	// last 10 s: 4.8s after 25 failures
}

func ExampleCountChain_Glitches() {
	// Six hours at 50 calls per second, 18 glitches of 5 s.
	trace := theory.GlitchTrace{
		TotalCalls: 1_080_000, BaselineP: 0.02,
		Glitches: 18, GlitchCalls: 250, GlitchP: 0.3,
	}
	for _, rate := range []float64{0.2, 0.5} {
		rule := theory.CountRule{Calls: 20, MinCalls: 20, FailureRate: rate}
		chain, err := theory.NewCountChain(rule, theory.DefaultMaxStates)
		if err != nil {
			fmt.Println(err)
			return
		}
		trips, err := chain.Glitches(trace)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v: %.2f trips, %.2f of them for each glitch\n", rate, trips.Mean, trips.PerGlitch)
	}
	// Output:
	// 0.2: 330.99 trips, 12.32 of them for each glitch
	// 0.5: 29.62 trips, 1.65 of them for each glitch
}

func ExampleNewCountChain() {
	rule := theory.CountRule{Calls: 100, MinCalls: 100, FailureRate: 0.2}
	_, err := theory.NewCountChain(rule, theory.DefaultMaxStates)
	if !errors.Is(err, theory.ErrTooManyStates) {
		fmt.Println(err)
		return
	}
	bound, err := theory.ExpectedTripsUpperBound(rule, 1_080_000, 0.02)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("at most %.1e trips\n", bound)
	// Output: at most 2.4e-09 trips
}

func ExampleMMC() {
	queue := theory.MMC{ArrivalRPS: 450, ServiceRPS: 50, Servers: 10}
	mean, err := queue.MeanWait()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mean wait %.1f ms\n", mean*1e3)
	// Output: mean wait 13.4 ms
}
