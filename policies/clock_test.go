package policies

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestStopwatch(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start time.Time
		slice time.Duration
		want  int64 // first reading
	}{
		{"no slice", testStart.Add(123), 0, 0},
		{"whole second", testStart, sec, 0},
		{"off a second", testStart.Add(250 * ms), sec, int64(250 * ms)},
		{"off a minute", testStart.Add(59*sec + 1), 60 * sec, int64(59*sec + 1)},
		{"before 1970", time.Unix(-1, 0), 10 * sec, int64(9 * sec)},
		{"just before 1970", time.Unix(0, -1), 10 * sec, int64(10*sec - 1)},
		{"the zero time", time.Time{}, 60 * sec, 0},
		{"the zero time and a bit", time.Time{}.Add(7), 60 * sec, 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := &handClock{now: tt.start}
			s := NewStopwatch(clock, tt.slice)
			if got := s.Read(); got != tt.want {
				t.Errorf("reads %d, want %d", got, tt.want)
			}
			clock.add(-hour)
			if got := s.Read(); got != tt.want {
				t.Errorf("an hour before its start it reads %d, want %d", got, tt.want)
			}
			clock.add(2 * hour)
			reading := s.Read()
			if want := tt.want + int64(hour); reading != want {
				t.Errorf("an hour later %d, want %d", reading, want)
			}
			if got := s.Time(reading); !got.Equal(clock.now) {
				t.Errorf("stands for %v, want %v", got, clock.now)
			}
		})
	}
}

// The remainder agrees with arithmetic on numbers of any size.
func TestUnixRemainder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds")
		ns := rapid.Int64Range(0, int64(sec)-1).Draw(t, "ns")
		slice := rapid.Int64Range(1, int64(maxLength)).Draw(t, "slice")
		want := new(big.Int).Mul(big.NewInt(seconds), big.NewInt(int64(sec)))
		want.Add(want, big.NewInt(ns)).Mod(want, big.NewInt(slice))
		if got := unixRemainder(time.Unix(seconds, ns), time.Duration(slice)); got != want.Int64() {
			t.Fatalf("%d s and %d ns modulo %d: %d, want %d", seconds, ns, slice, got, want)
		}
	})
}

// A reading beyond the range stays at its end.
func TestStopwatchSaturates(t *testing.T) {
	clock := &handClock{now: testStart.Add(999 * ms)}
	s := NewStopwatch(clock, sec)
	clock.now = clock.now.AddDate(1000, 0, 0)
	if got := s.Read(); got != math.MaxInt64 {
		t.Errorf("reads %d, want the largest", got)
	}
}

// Nil is the real clock, and it runs.
func TestNilClock(t *testing.T) {
	before := time.Now()
	b := mustBreaker(t, BreakerConfig{Rule: countRule(1), OpenFor: ms, Probes: 1}, nil)
	var opened time.Time
	b.onChange = func(c Change) {
		if c.To == Open {
			opened = c.At
		}
	}
	attempt(t, b, bad)
	if opened.Before(before) || opened.After(time.Now()) {
		t.Errorf("opened at %v, want between %v and now", opened, before)
	}
	time.Sleep(2 * ms)
	attempt(t, b, good)
	wantState(t, b, Closed)
}
