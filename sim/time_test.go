package sim

import (
	"math"
	"testing"
	"time"
)

func TestTimeAdd(t *testing.T) {
	for _, c := range []struct {
		t    Time
		d    time.Duration
		want Time
	}{
		{0, 0, 0},
		{5, 7, 12},
		{5, -7, -2},
		{MaxTime, 0, MaxTime},
		{MaxTime - 1, 1, MaxTime},
		{MaxTime, 1, MaxTime},
		{MaxTime - 5, math.MaxInt64, MaxTime},
		{1, math.MaxInt64, MaxTime},
		{MaxTime, -1, MaxTime - 1},
		{-1, math.MaxInt64, MaxTime - 1},
		{0, math.MinInt64, minTime},
		{-1, math.MinInt64, minTime},
		{minTime, -1, minTime},
	} {
		if got := c.t.Add(c.d); got != c.want {
			t.Errorf("(%d).Add(%d) = %d, want %d", c.t, c.d, got, c.want)
		}
	}
}

func TestTimeSub(t *testing.T) {
	for _, c := range []struct {
		t, u Time
		want time.Duration
	}{
		{12, 5, 7},
		{5, 12, -7},
		{MaxTime, 0, math.MaxInt64},
		{MaxTime, -1, math.MaxInt64},
		{MaxTime, minTime, math.MaxInt64},
		{minTime, 1, math.MinInt64},
		{minTime, MaxTime, math.MinInt64},
		{-1, MaxTime, math.MinInt64},
		{minTime, minTime, 0},
		{0, MaxTime, -math.MaxInt64},
	} {
		if got := c.t.Sub(c.u); got != c.want {
			t.Errorf("(%d).Sub(%d) = %d, want %d", c.t, c.u, got, c.want)
		}
	}
}

func TestTimeFormats(t *testing.T) {
	at := Time(90 * time.Second)
	if at.String() != "1m30s" || at.Seconds() != 90 {
		t.Errorf("got %v, %v s", at, at.Seconds())
	}
	if MaxTime.String() != "never" || Time(0).String() != "0s" {
		t.Errorf("got %v and %v", MaxTime, Time(0))
	}
}
