package sim

import (
	"math"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"pgregory.net/rapid"
)

func TestClockSinceAgreesWithSub(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		e.RunUntil(Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "now")))
		c := e.Clock()
		seconds := rapid.OneOf(
			rapid.Int64Range(-1e10, 1e10),
			rapid.Int64Range(maxSeconds-2, maxSeconds+3),
			rapid.Int64Range(-maxSeconds-3, -maxSeconds+2),
			rapid.Int64Range(-6e10, 2e11),
		).Draw(t, "seconds")
		u := time.Unix(epochUnix+seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds"))
		if got, want := c.Since(u), c.Now().Sub(u); got != want {
			t.Fatalf("Since(%v) at %v is %v, Now.Sub gives %v", u, e.Now(), got, want)
		}
	})
}

func TestClockAgainstSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		c := e.Clock()
		delays := rapid.SliceOfN(rapid.IntRange(0, 20), 1, 40).Draw(t, "delays")
		stops := rapid.SliceOfN(rapid.IntRange(-1, 20), len(delays), len(delays)).Draw(t, "stops")
		var got, want []int
		for i, d := range delays {
			timer := c.AfterFunc(time.Duration(2*d), func() { got = append(got, i) })
			if stops[i] >= 0 {
				// An odd instant, so that no stop falls on an expiry.
				stop, in := Time(2*stops[i]+1), stops[i] < d
				e.AtFunc(stop, func() {
					if timer.Stop() != in {
						t.Errorf("timer for %d stopped at %v: Stop returned %v", 2*d, stop, !in)
					}
				})
			}
		}
		for at := range 21 {
			for i, d := range delays {
				if d == at && (stops[i] < 0 || stops[i] >= d) {
					want = append(want, i)
				}
			}
		}
		e.Run()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("fired %v, want %v", got, want)
		}
	})
}

func TestClockAgreesWithMock(t *testing.T) {
	script := func(c clock.Clock, advance func(time.Duration)) (log []time.Duration) {
		start := c.Now()
		timers := []*clock.Timer{c.Timer(30), c.Timer(10), c.Timer(20), c.Timer(50)}
		for step := range 8 {
			if step == 2 && timers[0].Stop() {
				log = append(log, -1)
			}
			if step == 7 && timers[1].Stop() {
				log = append(log, -2)
			}
			advance(9)
			for _, timer := range timers {
				select {
				case at := <-timer.C:
					log = append(log, at.Sub(start))
				default:
				}
			}
			log = append(log, c.Since(start))
		}
		return log
	}
	e := New()
	got := script(e.Clock(), func(d time.Duration) { e.RunUntil(e.Now().Add(d)) })
	mock := clock.NewMock()
	want := script(mock, mock.Add)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("engine %v\nmock   %v", got, want)
	}
}

func TestClocksInParallel(t *testing.T) {
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			e := New()
			c := e.Clock()
			fired := 0
			for i := range 500 {
				timer := c.AfterFunc(time.Duration(i), func() { fired++ })
				if i%2 == 0 {
					timer.Stop()
				}
				c.After(time.Duration(i))
			}
			e.Run()
			if fired != 250 {
				t.Errorf("fired %d, want 250", fired)
			}
		})
	}
	wg.Wait()
	checkGoroutines(t, before)
}

func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
