package policies

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// must returns what a constructor made, or ends the test.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// ten is the seed's bucket: a cap of 10, empty at first.
func ten(ratio float64) TokenConfig { return TokenConfig{Ratio: ratio, Cap: 10} }

func TestDecimal(t *testing.T) {
	for _, test := range []struct {
		x        float64
		num, den int64
	}{
		{0, 0, 1}, {1, 1, 1}, {0.1, 1, 10}, {0.2, 1, 5}, {0.25, 1, 4}, {0.07, 7, 100}, {1.6, 8, 5}, {1000, 1000, 1},
		{0.000000001, 1, 1e9}, {0.999999999, 999999999, 1e9}, {123456789.123456, 1929012330054, 15625},
	} {
		f, err := decimal(test.x)
		if err != nil || f.num != test.num || f.den != test.den {
			t.Errorf("%v is %v (%v), want %d/%d", test.x, f, err, test.num, test.den)
		}
	}
	for _, x := range []float64{-0.1, 1e9, math.NaN(), math.Inf(1), 1.0 / 3, 1e-10} {
		if f, err := decimal(x); err == nil {
			t.Errorf("%v is %v, want an error", x, f)
		}
	}
}

func TestDecimalIsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nano := rapid.Int64Range(0, 1e12).Draw(t, "billionths")
		text := fmt.Sprintf("%d.%09d", nano/1e9, nano%1e9)
		var x float64
		if _, err := fmt.Sscan(text, &x); err != nil {
			t.Fatal(err)
		}
		f, err := decimal(x)
		if want := big.NewRat(nano, 1e9); err != nil || big.NewRat(f.num, f.den).Cmp(want) != 0 {
			t.Fatalf("%s is %v (%v), want %v", text, f, err, want)
		}
	})
}

func TestUnlimitedAndEmpty(t *testing.T) {
	for _, held := range []bool{false, true} {
		if !(UnlimitedBudget{}).TryRetry(held) {
			t.Error("the unlimited budget refused")
		}
		if (EmptyBudget{}).TryRetry(held) {
			t.Error("the empty budget granted")
		}
	}
	for _, b := range []Budget{UnlimitedBudget{}, EmptyBudget{}} {
		b.Request()
		b.WaitDone()
		b.Done(true, true)
	}
}

func TestTokenConfigValidate(t *testing.T) {
	for _, test := range []struct {
		cfg  TokenConfig
		want string
	}{
		{ten(0.1), ""}, {ten(0), ""}, {ten(1), ""},
		{ten(1.1), "policies: token budget: ratio 1.1, want 0 to 1"},
		{ten(-0.1), "policies: token budget: ratio -0.1, want 0 to 1"},
		{ten(math.NaN()), "policies: token budget: ratio NaN, want 0 to 1"},
		{ten(1.0 / 3), "policies: token budget: ratio 0.3333333333333333, want at most 9 decimals"},
		{TokenConfig{Ratio: 0.1}, "policies: token budget: cap 0, want 1 to 1000000000"},
		{TokenConfig{Ratio: 0.1, Cap: maxTokens + 1}, "cap 1000000001, want 1 to"},
		{TokenConfig{Ratio: 0.1, Cap: 10, Initial: 10}, ""},
		{TokenConfig{Ratio: 0.1, Cap: 10, Initial: 11}, "policies: token budget: initial 11, want 0 to the cap 10"},
		{TokenConfig{Ratio: 0.1, Cap: 10, Initial: -1}, "initial -1, want"},
		{TokenConfig{Ratio: 0.1, Cap: 10, Credit: CreditSuccess}, ""},
		{TokenConfig{Ratio: 0.1, Cap: 10, Credit: "retry"}, `policies: token budget: credit "retry", want one of request, success`},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewTokenBudget(test.cfg)
		checkError(t, err, test.want)
		_, err = NewFloatTokenBudget(test.cfg)
		checkError(t, err, test.want)
	}
}

// A tokenBucket is either of the two.
type tokenBucket interface {
	Budget
	Tokens() float64
}

// Ten credits of a tenth are one token, unless they are added up as float64.
func TestTenthsOfATokenAddUp(t *testing.T) {
	exact, float := must(NewTokenBudget(ten(0.1))), must(NewFloatTokenBudget(ten(0.1)))
	for i := range 11 {
		for _, b := range []tokenBucket{exact, float} {
			if want := b == tokenBucket(exact) && i == 10; i == 10 && b.TryRetry(false) != want {
				t.Errorf("%T: with %d credits a retry was not %v", b, i, want)
			} else if i < 10 && b.TryRetry(false) {
				t.Errorf("%T: with %d credits a retry was granted", b, i)
			}
			b.Request()
		}
	}
	if !float.TryRetry(false) {
		t.Error("the float bucket refused after 11 credits")
	}
	if got, want := exact.Tokens(), 0.1; got != want {
		t.Errorf("exact bucket holds %v, want %v", got, want)
	}
}

func TestTokensStopAtTheCap(t *testing.T) {
	for _, credit := range []Credit{"", CreditRequest, CreditSuccess} {
		cfg := TokenConfig{Ratio: 0.3, Cap: 2, Initial: 1, Credit: credit}
		for _, b := range []tokenBucket{must(NewTokenBudget(cfg)), must(NewFloatTokenBudget(cfg))} {
			earn := b.Request
			if credit == CreditSuccess {
				earn = func() { b.Request(); b.Done(false, false); b.Done(false, true) }
			}
			for _, want := range []float64{1, 1.3, 1.6, 1.9, 2, 2, 2} {
				if got := b.Tokens(); math.Abs(got-want) > 1e-12 {
					t.Errorf("%T per %q: %v tokens, want %v", b, credit, got, want)
				}
				earn()
			}
			b.WaitDone()
			for i, want := range []bool{true, true, false} {
				if got := b.TryRetry(i > 0); got != want {
					t.Errorf("%T per %q: retry %d of a full bucket: %v, want %v", b, credit, i+1, got, want)
				}
			}
		}
	}
}

// Failures earn nothing per success, and successes nothing beyond the request
// itself per request.
func TestCredits(t *testing.T) {
	for credit, want := range map[Credit][2]float64{CreditRequest: {1, 1}, CreditSuccess: {0, 1}} {
		b := must(NewTokenBudget(TokenConfig{Ratio: 0.1, Cap: 10, Credit: credit}))
		for range 10 {
			b.Request()
			b.Done(false, false)
		}
		failed := b.Tokens()
		for range 10 {
			b.Request()
			b.Done(true, true)
		}
		if got := [2]float64{failed, b.Tokens() - failed}; got != want {
			t.Errorf("%s: %v tokens of ten failures and ten successes, want %v", credit, got, want)
		}
	}
}

// The exact bucket agrees with fractions, the float bucket with float64, and
// both keep what the configuration promises.
func TestTokensAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		billionths := rapid.Int64Range(0, 1e9).Draw(t, "ratio in 1e-9")
		cfg := TokenConfig{Ratio: float64(billionths) / 1e9, Cap: rapid.IntRange(1, 4).Draw(t, "cap")}
		if rapid.Bool().Draw(t, "round") {
			cfg.Ratio = rapid.SampledFrom([]float64{0, 0.1, 0.2, 0.3, 0.5, 0.7, 1}).Draw(t, "ratio")
			billionths = int64(math.Round(cfg.Ratio * 1e9))
		}
		cfg.Initial = rapid.IntRange(0, cfg.Cap).Draw(t, "initial")
		cfg.Credit = rapid.SampledFrom([]Credit{CreditRequest, CreditSuccess}).Draw(t, "credit")
		exact, float := must(NewTokenBudget(cfg)), must(NewFloatTokenBudget(cfg))
		one, ratio := big.NewRat(1, 1), big.NewRat(billionths, 1e9)
		most, level := big.NewRat(int64(cfg.Cap), 1), big.NewRat(int64(cfg.Initial), 1)
		floating := float64(cfg.Initial)
		credits, retries := int64(0), int64(0)
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			step := rapid.IntRange(0, 3).Draw(t, "step")
			credited := false
			switch step {
			case 0:
				exact.Request()
				float.Request()
				credited = cfg.Credit == CreditRequest
			case 1, 2:
				exact.Done(step == 1, step == 1)
				float.Done(step == 1, step == 1)
				credited = cfg.Credit == CreditSuccess && step == 1
			case 3:
				want := level.Cmp(one) >= 0
				if want {
					level.Sub(level, one)
					retries++
				}
				if got := exact.TryRetry(false); got != want {
					t.Fatalf("step %d: retry %v, want %v", i, got, want)
				}
				want = floating >= 1
				if want {
					floating--
				}
				if got := float.TryRetry(false); got != want {
					t.Fatalf("step %d: float retry %v, want %v", i, got, want)
				}
			}
			if credited {
				credits++
				if level.Add(level, ratio).Cmp(most) > 0 {
					level.Set(most)
				}
				floating = min(floating+cfg.Ratio, float64(cfg.Cap))
			}
			held := big.NewRat(exact.level.Load(), exact.one)
			if held.Cmp(level) != 0 || held.Sign() < 0 || held.Cmp(most) > 0 {
				t.Fatalf("step %d: %v tokens, want %v, within 0 and %v", i, held, level, most)
			}
			if got := float.Tokens(); got != floating || got < 0 || got > float64(cfg.Cap) {
				t.Fatalf("step %d: %v float tokens, want %v", i, got, floating)
			}
			bound := new(big.Rat).Mul(ratio, big.NewRat(credits, 1))
			if bound.Add(bound, big.NewRat(int64(cfg.Initial), 1)); big.NewRat(retries, 1).Cmp(bound) > 0 {
				t.Fatalf("step %d: %d retries, want at most %v", i, retries, bound)
			}
		}
	})
}

func TestCounterConfigValidate(t *testing.T) {
	for _, test := range []struct {
		cfg  CounterConfig
		want string
	}{
		{CounterConfig{0.1, 100, 10_000}, ""}, {CounterConfig{0, 0, 1}, ""}, {CounterConfig{1, 0, math.MaxInt32}, ""},
		{CounterConfig{2, 100, 10_000}, "policies: counter budget: ratio 2, want 0 to 1"},
		{CounterConfig{0.1, -1, 10_000}, "policies: counter budget: grace -1, want 0 or more"},
		{CounterConfig{0.1, 100, 100}, "policies: counter budget: reset at 100, want more than the grace 100, at most 2147483647"},
		{CounterConfig{0.1, 100, math.MaxInt32 + 1}, "reset at 2147483648, want"},
	} {
		checkError(t, test.cfg.Validate(), test.want)
		_, err := NewCounterBudget(test.cfg)
		checkError(t, err, test.want)
	}
}

// The counters of S3, at each of their edges. A row makes requests, then asks
// for retries until one is refused, or as many as it may.
func TestCounterTimeLine(t *testing.T) {
	b := must(NewCounterBudget(CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000}))
	for _, row := range []struct {
		name              string
		requests, ask     int
		granted           int
		wantTotal, wantRe int
	}{
		{"nothing yet", 0, 0, 0, 0, 0},
		{"100 seen: everything is granted", 100, 200, 200, 100, 200},
		{"101 seen", 1, 5, 0, 101, 200},
		{"200 of 1999 are too many", 1898, 5, 0, 1999, 200},
		{"200 of 2000 are 10 %, not more", 1, 5, 1, 2000, 201},
		{"201 of 2009 are too many", 9, 5, 0, 2009, 201},
		{"201 of 2010", 1, 5, 1, 2010, 202},
		{"9,999 seen", 7989, 2000, 798, 9999, 1000},
		{"the 10,000th empties the counters", 1, 0, 0, 0, 0},
		{"and anything goes again", 0, 50, 50, 0, 50},
		{"50 of 101", 101, 5, 0, 101, 50},
	} {
		for range row.requests {
			b.Request()
		}
		granted := 0
		for range row.ask {
			if !b.TryRetry(false) {
				break
			}
			granted++
			b.WaitDone()
			b.Done(true, true)
		}
		total, retries := b.Counts()
		if granted != row.granted || total != row.wantTotal || retries != row.wantRe {
			t.Errorf("%s: granted %d, counters %d and %d, want %d, %d and %d",
				row.name, granted, total, retries, row.granted, row.wantTotal, row.wantRe)
		}
	}
}

func TestCounterSaturates(t *testing.T) {
	b := must(NewCounterBudget(CounterConfig{Ratio: 0.1, Grace: 100, ResetAt: 10_000}))
	b.counts.Store(5<<32 | math.MaxUint32)
	if !b.TryRetry(false) {
		t.Error("refused within the grace")
	}
	if total, retries := b.Counts(); total != 5 || retries != math.MaxUint32 {
		t.Errorf("counters %d and %d, want 5 and %d", total, retries, uint32(math.MaxUint32))
	}
}

func TestCounterAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := CounterConfig{
			Ratio: rapid.SampledFrom([]float64{0, 0.1, 0.07, 0.3, 0.5, 1}).Draw(t, "ratio"),
			Grace: rapid.IntRange(0, 5).Draw(t, "grace"),
		}
		cfg.ResetAt = cfg.Grace + rapid.IntRange(1, 40).Draw(t, "reset after")
		b := must(NewCounterBudget(cfg))
		f := must(decimal(cfg.Ratio))
		total, retries := int64(0), int64(0)
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "request") {
				b.Request()
				if total++; total >= int64(cfg.ResetAt) {
					total, retries = 0, 0
				}
			} else {
				want := total <= int64(cfg.Grace) || big.NewRat(retries, total).Cmp(big.NewRat(f.num, f.den)) <= 0
				if want {
					retries++
				}
				if got := b.TryRetry(false); got != want {
					t.Fatalf("step %d: %v with %d of %d, want %v", i, got, retries, total, want)
				}
			}
			if gotTotal, gotRetries := b.Counts(); int64(gotTotal) != total || int64(gotRetries) != retries {
				t.Fatalf("step %d: counters %d and %d, want %d and %d", i, gotTotal, gotRetries, total, retries)
			}
		}
	})
}

// Of 20 others and the one that asks, 20 % are four places; of 19 others they
// are three, where the rule that counts the asker too has four.
func TestShareOfTheOthers(t *testing.T) {
	granted := func(active ActiveRule, requests int) (n int) {
		b, err := NewShareBudget(ShareConfig{Share: 0.2, Active: active})
		if err != nil {
			t.Fatal(err)
		}
		for range requests {
			b.Request()
		}
		for b.TryRetry(false) {
			b.WaitDone()
			n++
		}
		return n
	}
	for _, test := range []struct {
		requests, attempts, others int
	}{{1, 0, 0}, {5, 1, 0}, {6, 1, 1}, {20, 4, 3}, {21, 4, 4}, {500, 100, 99}} {
		if a, o := granted(ActiveAttempts, test.requests), granted(ActiveOthers, test.requests); a != test.attempts || o != test.others {
			t.Errorf("%d requests: %d places of all and %d of the others, want %d and %d", test.requests, a, o, test.attempts, test.others)
		}
	}
}
