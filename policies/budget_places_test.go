package policies

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wantPanic runs f and checks what it panics with.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q in it", got, want)
		}
	}()
	f()
}

func TestConcurrentBudget(t *testing.T) {
	for _, most := range []int{-1, math.MaxInt32 + 1} {
		_, err := NewConcurrentBudget(most)
		checkError(t, err, "policies: concurrent budget: retries")
	}
	none := must(NewConcurrentBudget(0))
	if none.TryRetry(false) {
		t.Error("granted with room for none")
	}
	b := must(NewConcurrentBudget(2))
	for i, want := range []bool{true, true, false} {
		b.Request()
		if got := b.TryRetry(false); got != want {
			t.Errorf("retry %d: %v, want %v", i+1, got, want)
		}
	}
	b.Done(false, false) // the one that was refused
	for range 5 {
		b.WaitDone() // changes nothing: the place is held
		if b.TryRetry(false) {
			t.Error("granted while both places are held")
		}
		if !b.TryRetry(true) {
			t.Error("a request that holds a place was refused")
		}
	}
	if got := b.Retries(); got != 2 {
		t.Errorf("%d retries in progress, want 2", got)
	}
	b.Done(true, false)
	if !b.TryRetry(false) {
		t.Error("refused with a place free")
	}
	b.Done(true, true)
	b.Done(true, true)
	if got := b.Retries(); got != 0 {
		t.Errorf("%d retries in progress, want 0", got)
	}
	wantPanic(t, "concurrent budget: Done(held) with 0 retries in progress", func() { b.Done(true, false) })
}

func TestShareConfigValidate(t *testing.T) {
	for _, test := range []struct {
		cfg  ShareConfig
		want string
	}{
		{ShareConfig{}, ""}, {ShareConfig{Share: 0.2, Floor: 3}, ""}, {ShareConfig{Share: 1, Active: ActiveRequests}, ""},
		{ShareConfig{Share: 1.2}, "policies: share budget: share 1.2, want 0 to 1"},
		{ShareConfig{Share: math.NaN()}, "share NaN, want 0 to 1"},
		{ShareConfig{Floor: -1}, "policies: share budget: floor -1, want 0 to 2147483647"},
		{ShareConfig{Floor: math.MaxInt32 + 1}, "floor 2147483648, want"},
		{ShareConfig{Active: "calls"}, `policies: share budget: active "calls", want one of requests, attempts`},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewShareBudget(test.cfg)
		checkError(t, err, test.want)
	}
}

// The limit is reached exactly: 20 % of 14 requests are 2.8 and below the
// floor of 3, of 19 are 3.8, and of 20 are 4.
func TestShareLimits(t *testing.T) {
	for active, want := range map[int]int{0: 3, 1: 3, 14: 3, 15: 3, 19: 3, 20: 4, 24: 4, 25: 5, 500: 100} {
		b := must(NewShareBudget(ShareConfig{Share: 0.2, Floor: 3}))
		for range active {
			b.Request()
		}
		granted := 0
		for granted <= 500 && b.TryRetry(false) {
			granted++
		}
		if granted != want {
			t.Errorf("%d active: %d retries, want %d", active, granted, want)
		}
		if gotActive, retries := b.Counts(); gotActive != active || retries != granted {
			t.Errorf("%d active: counts %d and %d, want %d and %d", active, gotActive, retries, active, granted)
		}
	}
}

// Ten requests, half of which may retry: those that wait count under one rule
// and not under the other, where each granted retry lowers the limit.
func TestShareWhileRetriesWait(t *testing.T) {
	for rule, want := range map[ActiveRule][3]int{
		ActiveRequests: {5, 5, 10},
		ActiveAttempts: {3, 5, 7}, // before the retries are sent, after, and active before
	} {
		b := must(NewShareBudget(ShareConfig{Share: 0.5, Active: rule}))
		for range 10 {
			b.Request()
		}
		var got [3]int
		for b.TryRetry(false) {
			got[0]++
		}
		got[2], _ = b.Counts()
		for range got[0] {
			b.WaitDone()
		}
		got[1] = got[0]
		for b.TryRetry(false) {
			b.WaitDone()
			got[1]++
		}
		if got != want {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
}

// A place is given back before it is asked for again, so a request keeps it
// while the limit stands and loses it when the limit has sunk.
func TestShareHeldPlace(t *testing.T) {
	b := must(NewShareBudget(ShareConfig{Share: 0.5}))
	for range 4 {
		b.Request()
	}
	for i, want := range []bool{true, true, false} {
		if got := b.TryRetry(false); got != want {
			t.Errorf("retry %d: %v, want %v", i+1, got, want)
		}
	}
	b.WaitDone()
	b.WaitDone()
	if !b.TryRetry(true) {
		t.Error("the place was lost although the limit stands")
	}
	b.WaitDone()
	b.Done(false, true)
	if b.TryRetry(true) {
		t.Error("2 retries granted to 3 requests, want 1")
	}
	if active, retries := b.Counts(); active != 3 || retries != 1 {
		t.Errorf("counts %d and %d, want 3 and 1", active, retries)
	}
	b.Done(false, false)
	b.Done(true, true)
	b.Done(false, true)
	if active, retries := b.Counts(); active != 0 || retries != 0 {
		t.Errorf("counts %d and %d in the end, want none", active, retries)
	}
}

func TestShareMisuse(t *testing.T) {
	fresh := func() *ShareBudget { return must(NewShareBudget(ShareConfig{Share: 1, Floor: 1})) }
	wantPanic(t, "share budget: TryRetry(held) with 0 retries in progress", func() { fresh().TryRetry(true) })
	wantPanic(t, "share budget: WaitDone with 0 retries waiting", func() { fresh().WaitDone() })
	wantPanic(t, "share budget: Done(held false) left -1 requests", func() { fresh().Done(false, false) })
	wantPanic(t, "left 0 requests, -1 retries in progress", func() {
		b := fresh()
		b.Request()
		b.Done(true, false)
	})
}

// A requestTwin is a request as its caller sees it.
type requestTwin struct{ held, waiting bool }

// Both budgets of places agree with a recount of the requests, and the
// retries in progress never exceed the limit when one is granted.
func TestPlacesAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := ShareConfig{
			Share:  rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.3, 0.5, 1}).Draw(t, "share"),
			Floor:  rapid.IntRange(0, 3).Draw(t, "floor"),
			Active: rapid.SampledFrom([]ActiveRule{"", ActiveRequests, ActiveAttempts}).Draw(t, "active"),

			Unshared: rapid.Bool().Draw(t, "unshared"),
		}
		most := rapid.IntRange(0, 4).Draw(t, "most")
		share, capped := must(NewShareBudget(cfg)), must(NewConcurrentBudget(most))
		fraction := must(decimal(cfg.Share))
		var requests [2][]requestTwin // of each budget
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			step := rapid.IntRange(0, 5).Draw(t, "step")
			pick := rapid.IntRange(0, 1<<20).Draw(t, "request")
			for k, b := range []Budget{share, capped} {
				list := requests[k]
				if step <= 1 || len(list) == 0 {
					b.Request()
					requests[k] = append(list, requestTwin{})
					continue
				}
				r := &list[pick%len(list)]
				if r.waiting {
					b.WaitDone()
					r.waiting = false
					continue
				}
				if step == 5 {
					b.Done(r.held, pick%2 == 0)
					*r = list[len(list)-1]
					requests[k] = list[:len(list)-1]
					continue
				}
				others, active := int64(0), int64(len(list))
				for j := range list {
					if list[j].held && &list[j] != r {
						others++
					}
					if list[j].waiting && cfg.Active == ActiveAttempts {
						active--
					}
				}
				want := others < int64(most)
				if k == 0 {
					limit := big.NewRat(fraction.num*active, fraction.den)
					if floor := big.NewRat(int64(cfg.Floor), 1); floor.Cmp(limit) > 0 {
						limit = floor
					}
					want = big.NewRat(others+1, 1).Cmp(limit) <= 0
				}
				if got := b.TryRetry(r.held); got != want {
					t.Fatalf("step %d: %T: %v with %d others of %d, want %v", i, b, got, others, active, want)
				}
				r.held, r.waiting = want, want
			}
			var held [2]int
			for k := range requests {
				for _, r := range requests[k] {
					if r.held {
						held[k]++
					}
				}
			}
			_, retries := share.Counts()
			if retries != held[0] || capped.Retries() != held[1] || held[1] > most {
				t.Fatalf("step %d: %d and %d retries in progress, want %d and %d", i, retries, capped.Retries(), held[0], held[1])
			}
		}
	})
}
