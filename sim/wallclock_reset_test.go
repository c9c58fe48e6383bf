package sim

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
)

// The library does not let a foreign clock define Reset. Until the instant at
// which the timer was due, a Reset is found out there.
func TestClockResetPanics(t *testing.T) {
	for _, c := range []struct {
		name string
		use  func(e *Engine, timer *clock.Timer)
	}{
		{"later", func(e *Engine, timer *clock.Timer) { timer.Reset(time.Hour) }},
		{"to the same delay", func(e *Engine, timer *clock.Timer) { timer.Reset(10 * time.Second) }},
		{"to nothing", func(e *Engine, timer *clock.Timer) { timer.Reset(0) }},
		{"after Stop", func(e *Engine, timer *clock.Timer) { timer.Stop(); timer.Reset(time.Hour) }},
		{"halfway", func(e *Engine, timer *clock.Timer) {
			e.AtFunc(Time(5*time.Second), func() { timer.Reset(time.Hour) })
		}},
		{"twice, stopped between", func(e *Engine, timer *clock.Timer) {
			timer.Reset(time.Hour)
			timer.Stop()
			timer.Reset(time.Hour)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := New()
			fired := false
			timer := e.Clock().AfterFunc(10*time.Second, func() { fired = true })
			c.use(e, timer)
			checkPanic(t, "sim: Timer.Reset is not supported", e.Run)
			timer.Stop()

			e = New()
			timer = e.Clock().Timer(10 * time.Second)
			c.use(e, timer)
			checkPanic(t, "sim: Timer.Reset is not supported", e.Run)
			timer.Stop()
			if fired || len(timer.C) > 0 {
				t.Error("the timer fired all the same")
			}
		})
	}
}

func TestClockResetInsideCallbackPanics(t *testing.T) {
	e := New()
	var timer *clock.Timer
	timer = e.Clock().AfterFunc(time.Second, func() { timer.Reset(time.Second) })
	checkPanic(t, "sim: Timer.Reset is not supported", e.Run)
}

// A timer that was Reset but is stopped when it would be due has nothing left
// to get wrong.
func TestClockResetThenStop(t *testing.T) {
	e := New()
	timer := e.Clock().AfterFunc(time.Second, func() { t.Error("fired") })
	timer.Reset(time.Hour)
	timer.Stop()
	e.Run()
}

// After the instant at which the timer was due only real time can find out a
// Reset, and ends the process. The test runs itself as that process.
func TestClockLateResetEndsProcess(t *testing.T) {
	const variable = "SIM_TEST_LATE_RESET"
	if os.Getenv(variable) != "" {
		e := New()
		timer := e.Clock().Timer(time.Second)
		e.Run()
		timer.Reset(time.Microsecond)
		time.Sleep(time.Minute)
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^TestClockLateResetEndsProcess$")
	command.Env = append(os.Environ(), variable+"=1")
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "panic: sim: Timer.Reset is not supported") {
		t.Errorf("got %v and %q, want a panic", err, out)
	}
}

func TestClockUnsupported(t *testing.T) {
	c := New().Clock()
	checkPanic(t, "sim: Clock.Sleep(1s)", func() { c.Sleep(time.Second) })
	checkPanic(t, "sim: Clock.Tick(2s)", func() { c.Tick(2 * time.Second) })
	checkPanic(t, "sim: Clock.Ticker(3s)", func() { c.Ticker(3 * time.Second) })
	if c.engine().Pending() != 0 {
		t.Error("something was scheduled all the same")
	}
}
