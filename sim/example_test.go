package sim_test

import (
	"fmt"
	"time"

	"github.com/stormglass/stormglass/sim"
)

// A blinker reschedules itself.
type blinker struct{ period time.Duration }

func (b *blinker) Handle(e *sim.Engine, ev sim.Event) {
	fmt.Println(e.Now(), "blink", ev.Arg)
	e.After(b.period, b, sim.Event{Arg: ev.Arg + 1})
}

func Example() {
	e := sim.New()
	e.At(0, &blinker{period: time.Second}, sim.Event{})
	e.RunUntil(sim.Time(0).Add(3 * time.Second))
	fmt.Println(e.Now(), "end,", e.Pending(), "pending")
	// Output:
	// 0s blink 0
	// 1s blink 1
	// 2s blink 2
	// 3s end, 1 pending
}

// A caller waits for answers, each at most 50 ms.
type caller struct {
	patience *sim.Lane
	timeout  sim.Timer
}

const (
	call = iota
	answer
	giveUp
)

func (c *caller) Handle(e *sim.Engine, ev sim.Event) {
	switch ev.Kind {
	case call:
		c.timeout = c.patience.After(c, sim.Event{Kind: giveUp})
		e.After(time.Duration(ev.Arg)*time.Millisecond, c, sim.Event{Kind: answer})
	case answer:
		if e.Cancel(c.timeout) {
			fmt.Println(e.Now(), "answered")
		} else {
			fmt.Println(e.Now(), "too late")
		}
	case giveUp:
		fmt.Println(e.Now(), "gave up")
	}
}

func ExampleEngine_Lane() {
	e := sim.New()
	c := &caller{patience: e.Lane(50 * time.Millisecond)}
	e.At(0, c, sim.Event{Kind: call, Arg: 20})
	e.At(sim.Time(time.Second), c, sim.Event{Kind: call, Arg: 80})
	e.Run()
	// Output:
	// 20ms answered
	// 1.05s gave up
	// 1.08s too late
}

func ExampleEngine_AtFunc() {
	e := sim.New()
	for _, s := range []string{"first", "second"} {
		e.AtFunc(sim.Time(time.Minute), func() { fmt.Println(e.Now(), s) })
	}
	e.Run()
	// Output:
	// 1m0s first
	// 1m0s second
}
