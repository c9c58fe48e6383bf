package policies

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A tester is what *testing.T, *testing.B and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(...any)
}

func mustBackoff(t tester, c BackoffConfig) *Backoff {
	t.Helper()
	b, err := NewBackoff(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// lastU is the largest number that a generator of 53 bits draws.
const lastU = 1 - 0x1p-53

// Each row gives the waits before the first retries at one random number. The
// previous wait is the one before.
func TestBackoffSequences(t *testing.T) {
	for _, test := range []struct {
		name string
		cfg  BackoffConfig
		u    float64
		want []time.Duration
	}{
		{"zero value", BackoffConfig{}, 0.5, []time.Duration{0, 0, 0}},
		{"none", BackoffConfig{Kind: NoBackoff, Base: sec}, 0.5, []time.Duration{0, 0, 0}},
		{"fixed", BackoffConfig{Kind: FixedBackoff, Base: 100 * ms}, 0.5, []time.Duration{100 * ms, 100 * ms, 100 * ms}},
		{"fixed ignores the cap", BackoffConfig{Kind: FixedBackoff, Base: 100 * ms, Cap: ms}, 0.5, []time.Duration{100 * ms, 100 * ms}},
		{"fixed, least", BackoffConfig{Kind: FixedBackoff, Base: 100 * ms, Jitter: 0.3}, 0, []time.Duration{70 * ms, 70 * ms}},
		{"fixed, middle", BackoffConfig{Kind: FixedBackoff, Base: 100 * ms, Jitter: 0.3}, 0.5, []time.Duration{100 * ms, 100 * ms}},
		{"fixed, most", BackoffConfig{Kind: FixedBackoff, Base: 100 * ms, Jitter: 0.3}, lastU, []time.Duration{130*ms - 1, 130*ms - 1}},
		{"doubling", BackoffConfig{Kind: ExponentialBackoff, Base: 100 * ms, Cap: 500 * ms}, 0.9, []time.Duration{100 * ms, 200 * ms, 400 * ms, 500 * ms, 500 * ms}},
		{"from exponent 1", BackoffConfig{Kind: ExponentialBackoff, Base: 100 * ms, FirstExponent: 1, Cap: 500 * ms}, 0, []time.Duration{200 * ms, 400 * ms, 500 * ms}},
		{"by 1.1", BackoffConfig{Kind: ExponentialBackoff, Base: 100 * ms, Multiplier: 1.1}, 0, []time.Duration{100 * ms, 110 * ms, 121 * ms, 133100 * time.Microsecond}},
		{"by 1.5, rounded down once", BackoffConfig{Kind: ExponentialBackoff, Base: 3, Multiplier: 1.5}, 0, []time.Duration{3, 4, 6, 10, 15, 22}},
		{"by 1", BackoffConfig{Kind: ExponentialBackoff, Base: 3, Multiplier: 1}, 0, []time.Duration{3, 3, 3}},
		{"S2, least", BackoffConfig{Kind: ExponentialBackoff, Base: 120 * ms, Jitter: 0.3}, 0, []time.Duration{84 * ms, 168 * ms, 336 * ms}},
		{"S3, least", BackoffConfig{Kind: ExponentialBackoff, Base: 200 * ms, Jitter: 0.5}, 0, []time.Duration{100 * ms, 200 * ms}},
		{"S3, most", BackoffConfig{Kind: ExponentialBackoff, Base: 200 * ms, Jitter: 0.5}, lastU, []time.Duration{300*ms - 1, 600*ms - 1}},
		{"jitter after the cap", BackoffConfig{Kind: ExponentialBackoff, Base: sec, Cap: sec, Jitter: 0.2}, lastU, []time.Duration{1200*ms - 1}},
		{"cap after the jitter", BackoffConfig{Kind: ExponentialBackoff, Base: sec, Cap: sec, Jitter: 0.2, CapLast: true}, lastU, []time.Duration{sec}},
		{"full, least", BackoffConfig{Kind: FullJitter, Base: 100 * ms, Cap: 300 * ms}, 0, []time.Duration{0, 0, 0}},
		{"full, middle", BackoffConfig{Kind: FullJitter, Base: 100 * ms, Cap: 300 * ms}, 0.5, []time.Duration{50 * ms, 100 * ms, 150 * ms, 150 * ms}},
		{"full, most", BackoffConfig{Kind: FullJitter, Base: 100 * ms, Cap: 300 * ms}, lastU, []time.Duration{100*ms - 1, 200*ms - 1, 300*ms - 1}},
		{"full of the blog's simulator", BackoffConfig{Kind: FullJitter, Base: 5 * ms, Cap: 2 * sec, FirstExponent: 1}, 0.5, []time.Duration{5 * ms, 10 * ms, 20 * ms}},
		{"equal, least", BackoffConfig{Kind: EqualJitter, Base: 100 * ms}, 0, []time.Duration{50 * ms, 100 * ms, 200 * ms}},
		{"equal, most", BackoffConfig{Kind: EqualJitter, Base: 100 * ms}, lastU, []time.Duration{100*ms - 1, 200*ms - 1, 400*ms - 1}},
		{"equal of an odd wait", BackoffConfig{Kind: EqualJitter, Base: 3, Multiplier: 1}, 0.5, []time.Duration{2, 2}},
		{"decorrelated, least", BackoffConfig{Kind: DecorrelatedJitter, Base: 100 * ms, Cap: sec}, 0, []time.Duration{100 * ms, 100 * ms}},
		{"decorrelated, middle", BackoffConfig{Kind: DecorrelatedJitter, Base: 100 * ms, Cap: sec}, 0.5, []time.Duration{200 * ms, 350 * ms, 575 * ms, 912500 * time.Microsecond, sec, sec}},
	} {
		b := mustBackoff(t, test.cfg)
		var previous time.Duration
		for i, want := range test.want {
			previous = b.Delay(i+1, previous, test.u)
			if previous != want {
				t.Errorf("%s: wait %d is %v, want %v", test.name, i+1, previous, want)
			}
		}
	}
}

func TestBackoffSaturates(t *testing.T) {
	for _, kind := range []BackoffKind{ExponentialBackoff, FullJitter, EqualJitter, DecorrelatedJitter} {
		b := mustBackoff(t, BackoffConfig{Kind: kind, Base: sec, FirstExponent: 62, Multiplier: 1000})
		for _, attempts := range []int{1, 2, 100, math.MaxInt} {
			for _, u := range []float64{0, 0.5, lastU} {
				if got := b.Delay(attempts, math.MaxInt64, u); got < 0 {
					t.Errorf("%s: wait after %d attempts at %v is %v, want 0 or more", kind, attempts, u, got)
				}
			}
		}
	}
	b := mustBackoff(t, BackoffConfig{Kind: ExponentialBackoff, Base: sec, FirstExponent: 62, Jitter: 1})
	if got := b.Delay(1, 0, lastU); got != math.MaxInt64 {
		t.Errorf("longest wait %d, want %d", got, int64(math.MaxInt64))
	}
	if got := b.Delay(9, 0, 0.5); got < math.MaxInt64-1 {
		t.Errorf("middle wait %d, want about %d", got, int64(math.MaxInt64))
	}
}

// Three times a wait does not fit into 64 bits.
func TestDecorrelatedSaturates(t *testing.T) {
	b := mustBackoff(t, BackoffConfig{Kind: DecorrelatedJitter, Base: sec})
	for _, previous := range []time.Duration{math.MaxInt64 / 3, math.MaxInt64/3 + 1, math.MaxUint64/3 + 1, math.MaxInt64} {
		if got := b.Delay(9, previous, lastU); got < math.MaxInt64-2048 {
			t.Errorf("longest wait after %d is %d, want about %d", previous, got, int64(math.MaxInt64))
		}
		if got := b.Delay(9, previous, 0); got != sec {
			t.Errorf("least wait after %d is %v, want %v", previous, got, sec)
		}
	}
}

// What only a caller's mistake brings about has a defined result.
func TestBackoffTakesAnything(t *testing.T) {
	b := mustBackoff(t, BackoffConfig{Kind: FullJitter, Base: 100 * ms})
	for _, test := range []struct {
		attempts int
		u        float64
		want     time.Duration
	}{
		{0, 0.5, 50 * ms}, {math.MinInt, 0.5, 50 * ms},
		{1, -1, 0}, {1, math.Inf(-1), 0}, {1, math.NaN(), 0}, {1, 5e-324, 0},
		{1, 1, 100*ms - 1}, {1, 2, 100*ms - 1}, {1, math.Inf(1), 100*ms - 1},
	} {
		if got := b.Delay(test.attempts, 0, test.u); got != test.want {
			t.Errorf("wait after %d attempts at %v is %v, want %v", test.attempts, test.u, got, test.want)
		}
	}
	d := mustBackoff(t, BackoffConfig{Kind: DecorrelatedJitter, Base: 100 * ms})
	if got := d.Delay(1, -sec, lastU); got != 300*ms-1 {
		t.Errorf("decorrelated wait after %v is %v, want %v", -sec, got, 300*ms-1)
	}
}

func TestBackoffValidate(t *testing.T) {
	valid := BackoffConfig{Kind: ExponentialBackoff, Base: ms}
	for _, test := range []struct {
		change func(*BackoffConfig)
		want   string
	}{
		{func(c *BackoffConfig) {}, ""},
		{func(c *BackoffConfig) { *c = BackoffConfig{Jitter: 7} }, ""},
		{func(c *BackoffConfig) { c.Kind = "linear" }, `policies: backoff kind "linear", want one of none, fixed, exponential, full, equal, decorrelated`},
		{func(c *BackoffConfig) { c.Base = 0 }, "policies: exponential backoff: base 0s, want 1ns to 8760h0m0s"},
		{func(c *BackoffConfig) { c.Base = maxLength }, ""},
		{func(c *BackoffConfig) { c.Base = maxLength + 1 }, "base 8760h0m0.000000001s, want 1ns to"},
		{func(c *BackoffConfig) { c.Cap = ms - 1 }, "cap 999.999µs, want 0s for none or at least the base 1ms"},
		{func(c *BackoffConfig) { c.Cap = -1 }, "cap -1ns, want"},
		{func(c *BackoffConfig) { c.Cap = ms }, ""},
		{func(c *BackoffConfig) { c.Kind, c.Cap = DecorrelatedJitter, 1 }, "policies: decorrelated backoff: cap 1ns, want"},
		{func(c *BackoffConfig) { c.Kind, c.Multiplier = DecorrelatedJitter, -1 }, ""},
		{func(c *BackoffConfig) { c.Multiplier = 0.5 }, "multiplier 0.5, want 1, or 1.01 to 1000, or 0 for 2"},
		{func(c *BackoffConfig) { c.Multiplier = 1.001 }, "multiplier 1.001, want"},
		{func(c *BackoffConfig) { c.Multiplier = 1001 }, "multiplier 1001, want"},
		{func(c *BackoffConfig) { c.Multiplier = math.NaN() }, "multiplier NaN, want"},
		{func(c *BackoffConfig) { c.Multiplier = 4.0 / 3 }, "multiplier 1.3333333333333333, want at most 9 decimals"},
		{func(c *BackoffConfig) { c.Multiplier = 1.01 }, ""},
		{func(c *BackoffConfig) { c.FirstExponent = -1 }, "first exponent -1, want 0 to 62"},
		{func(c *BackoffConfig) { c.FirstExponent = 63 }, "first exponent 63, want 0 to 62"},
		{func(c *BackoffConfig) { c.Jitter = 1.5 }, "policies: exponential backoff: jitter 1.5, want 0 to 1"},
		{func(c *BackoffConfig) { c.Kind, c.Jitter = FixedBackoff, math.NaN() }, "policies: fixed backoff: jitter NaN, want 0 to 1"},
		{func(c *BackoffConfig) { c.Kind, c.Jitter = FullJitter, 7 }, ""},
	} {
		cfg := valid
		test.change(&cfg)
		checkError(t, cfg.Validate(), test.want)
		_, err := NewBackoff(cfg)
		checkError(t, err, test.want)
	}
}

// The slowest growth fills the longest table.
func TestBackoffTable(t *testing.T) {
	b := mustBackoff(t, BackoffConfig{Kind: ExponentialBackoff, Base: 1, Multiplier: 1.01})
	if n := len(b.steps); n > 4400 {
		t.Errorf("%d steps, want at most 4400", n)
	}
	if got := b.Delay(math.MaxInt, 0, 0); got != math.MaxInt64 {
		t.Errorf("last wait %d, want the longest", got)
	}
}

func drawBackoff(t *rapid.T) BackoffConfig {
	cfg := BackoffConfig{
		Kind:          rapid.SampledFrom(backoffKinds).Draw(t, "kind"),
		Base:          time.Duration(rapid.Int64Range(1, int64(10*sec)).Draw(t, "base")),
		Multiplier:    rapid.SampledFrom([]float64{0, 1, 1.01, 1.1, 1.5, 1.6, 2, 3, 10, 999.999999999}).Draw(t, "multiplier"),
		FirstExponent: rapid.IntRange(0, 5).Draw(t, "first exponent"),
		Jitter:        rapid.SampledFrom([]float64{0, 0.1, 0.3, 0.5, 0.123456789, 1}).Draw(t, "jitter"),
		CapLast:       rapid.Bool().Draw(t, "cap last"),
	}
	if rapid.Bool().Draw(t, "capped") {
		cfg.Cap = cfg.Base + time.Duration(rapid.Int64Range(0, int64(100*sec)).Draw(t, "above base"))
	}
	return cfg
}

// backoffTwin returns the interval of a wait by the formulas of the kinds, in
// exact fractions where the policy has a table.
func backoffTwin(c BackoffConfig, attempts int, previous time.Duration) (low, high *big.Rat) {
	frac := func(x float64) *big.Rat { // the decimal as written
		f, err := decimal(x)
		if err != nil {
			panic(err)
		}
		return big.NewRat(f.num, f.den)
	}
	base, most := new(big.Rat).SetInt64(int64(c.Base)), new(big.Rat).SetInt64(int64(c.cap()))
	smaller := func(a, b *big.Rat) *big.Rat {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}
	t := new(big.Rat).Set(base)
	if c.Kind != FixedBackoff {
		m := big.NewRat(2, 1)
		if c.Multiplier != 0 {
			m = frac(c.Multiplier)
		}
		for range c.FirstExponent + attempts - 1 {
			t.Mul(t, m)
		}
		t = smaller(t, most)
	}
	jitter := frac(c.Jitter)
	jitter.Mul(jitter, t)
	switch c.Kind {
	case FixedBackoff, ExponentialBackoff:
		low, high = new(big.Rat).Sub(t, jitter), new(big.Rat).Add(t, jitter)
		if c.Kind == ExponentialBackoff && c.CapLast {
			high = smaller(high, most)
		}
	case FullJitter:
		low, high = new(big.Rat), t
	case EqualJitter:
		low, high = new(big.Rat).Quo(t, big.NewRat(2, 1)), t
	case DecorrelatedJitter:
		low, high = base, smaller(new(big.Rat).SetInt64(3*max(int64(previous), int64(c.Base))), most)
	default:
		low, high = new(big.Rat), new(big.Rat)
	}
	return low, high
}

// Every wait lies in the interval of its kind, and the ends of the random
// numbers reach the ends of the interval, but for what rounding takes.
func TestBackoffBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawBackoff(t)
		b := mustBackoff(t, cfg)
		attempts := rapid.IntRange(1, 8).Draw(t, "attempts")
		previous := time.Duration(rapid.Int64Range(0, int64(cfg.cap()/3)).Draw(t, "previous") % int64(1000*sec))
		low, high := backoffTwin(cfg, attempts, previous)
		longest := new(big.Rat).SetInt64(math.MaxInt64)
		if high.Cmp(longest) > 0 {
			high = longest
		}
		slack := big.NewRat(5, 1) // ns; the table, the spread twice and the draw are each rounded down
		within := func(d time.Duration, from, to *big.Rat) bool {
			x := new(big.Rat).SetInt64(int64(d))
			return x.Cmp(new(big.Rat).Sub(from, slack)) >= 0 && x.Cmp(new(big.Rat).Add(to, big.NewRat(1, 1))) <= 0
		}
		u := rapid.Float64Range(0, lastU).Draw(t, "u")
		least, some, most := b.Delay(attempts, previous, 0), b.Delay(attempts, previous, u), b.Delay(attempts, previous, lastU)
		if !within(least, low, low) {
			t.Fatalf("least wait %d, want %v", least, low.FloatString(3))
		}
		span := new(big.Rat).Sub(high, low)
		rest := new(big.Rat).Mul(span, big.NewRat(1, 1<<52)) // one step of u, and a capped span has less
		if !within(most, new(big.Rat).Sub(high, rest), high) {
			t.Fatalf("longest wait %d, want %v", most, high.FloatString(3))
		}
		exact := cfg.Kind == ExponentialBackoff && cfg.Jitter == 0
		if floor := new(big.Int).Quo(low.Num(), low.Denom()); exact && low.Cmp(longest) < 0 && int64(some) != floor.Int64() {
			t.Fatalf("wait %d, want %v", some, floor)
		}
		if some < least || some > most {
			t.Fatalf("wait %d at %v, want %d to %d", some, u, least, most)
		}
		if span.Sign() > 0 && cfg.Kind == FullJitter && new(big.Rat).SetInt64(int64(most)).Cmp(high) >= 0 {
			t.Fatalf("longest wait %d, want below %v", most, high.FloatString(3))
		}
	})
}

// The product of a random number and a width is exact.
func TestSpanAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := span{
			low:   rapid.Uint64Range(0, math.MaxInt64).Draw(t, "low"),
			width: rapid.Uint64Range(0, math.MaxInt64).Draw(t, "width"),
		}
		share := rapid.Uint64Range(0, 1<<53-1).Draw(t, "share")
		want := new(big.Int).SetUint64(s.width)
		want.Mul(want, new(big.Int).SetUint64(share)).Rsh(want, 53)
		want.Add(want, new(big.Int).SetUint64(s.low))
		if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
			want.SetInt64(math.MaxInt64)
		}
		if got := s.at(float64(share) * 0x1p-53); got != want.Uint64() {
			t.Fatalf("%d at %d/2^53, want %v", got, share, want)
		}
	})
}

func TestUniform(t *testing.T) {
	u, twin := NewUniform(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	sum := 0.0
	const n = 10_000
	for range n {
		x := u.Next()
		if want := float64(twin.Uint64()>>11) / (1 << 53); x != want {
			t.Fatalf("drew %v, want %v", x, want)
		}
		sum += x
	}
	if mean := sum / n; math.Abs(mean-0.5) > 0.015 { // five standard errors
		t.Errorf("mean %v, want about 0.5", mean)
	}
	if a, b := NewUniform(nil), NewUniform(nil); a.Next() == b.Next() && a.Next() == b.Next() {
		t.Error("two generators with seeds of their own draw the same")
	}
}

func TestUniformIsShared(t *testing.T) {
	u := NewUniform(nil)
	var group sync.WaitGroup
	for range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			for range 1000 {
				if x := u.Next(); x < 0 || x >= 1 {
					t.Errorf("drew %v, want [0, 1)", x)
				}
			}
		}()
	}
	group.Wait()
}
