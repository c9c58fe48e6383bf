// Package sim is a discrete-event simulator: a virtual clock, an exact event
// queue and named random streams.
//
// It decides when things happen, and nothing else. What happens is up to the
// handlers: nodes, requests and policies live in other packages.
//
// Time is a whole number of nanoseconds since the run began. Events due at the
// same instant run in the order they were scheduled, whichever way they were
// scheduled, so a program with the same seeds gives the same run to the byte.
// Intervals are half-open: RunUntil(end) runs what is due before end.
//
// An engine and everything scheduled on it belong to one goroutine; run
// replications in parallel by giving each its own engine.
//
//	type blinker struct{ period time.Duration }
//
//	func (b *blinker) Handle(e *sim.Engine, ev sim.Event) {
//		fmt.Println(e.Now(), "blink", ev.Arg)
//		e.After(b.period, b, sim.Event{Arg: ev.Arg + 1})
//	}
//
//	e := sim.New()
//	e.At(0, &blinker{period: time.Second}, sim.Event{})
//	e.RunUntil(sim.Time(0).Add(3 * time.Second)) // blinks at 0s, 1s, 2s
package sim
