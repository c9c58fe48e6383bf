package policies

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
)

// A Credit names what earns tokens.
type Credit string

// The credits. Per request, failing requests pay for retries, and an outage
// is answered with Ratio retries per request for as long as it lasts. Per
// success, an outage has what the bucket holds and no more.
const (
	CreditRequest Credit = "request" // each original request, when it starts
	CreditSuccess Credit = "success" // each request answered well, when it is done
)

// maxTokens bounds Cap, so that a level fits into 64 bits at 9 decimals.
const maxTokens = 1_000_000_000

// A TokenConfig describes a bucket of tokens. Each retry takes one token and
// is refused if there is less than one.
//
// With R credits the retries granted are at most Initial + Ratio*R, and in
// any stretch of time at most Cap more than Ratio times the credits in it.
type TokenConfig struct {
	Ratio   float64 // tokens for each credit, 0 to 1, with at most 9 decimals
	Cap     int     // most tokens held, 1 to 1,000,000,000; what is earned above is lost
	Initial int     // tokens at first, 0 to Cap
	Credit  Credit  // what earns tokens; empty means CreditRequest
}

// Validate reports the first field that makes no sense.
func (c TokenConfig) Validate() error {
	_, err := c.ratio()
	return err
}

func (c TokenConfig) ratio() (fraction, error) {
	f, err := ratioOf("token budget", "ratio", c.Ratio)
	if err != nil {
		return f, err
	}
	if c.Cap < 1 || c.Cap > maxTokens {
		return f, fmt.Errorf("policies: token budget: cap %d, want 1 to %d", c.Cap, maxTokens)
	}
	if c.Initial < 0 || c.Initial > c.Cap {
		return f, fmt.Errorf("policies: token budget: initial %d, want 0 to the cap %d", c.Initial, c.Cap)
	}
	switch c.Credit {
	case "", CreditRequest, CreditSuccess:
		return f, nil
	}
	known := strings.Join([]string{string(CreditRequest), string(CreditSuccess)}, ", ")
	return f, fmt.Errorf("policies: token budget: credit %q, want one of %s", c.Credit, known)
}

// A TokenBudget is a bucket that counts exactly: at a ratio of 0.1 ten
// credits are one token, as on paper. Compare [FloatTokenBudget].
type TokenBudget struct {
	level      atomic.Int64 // in units of 1/one
	one        int64        // a token
	credit     int64
	most       int64
	perSuccess bool
}

// NewTokenBudget returns a budget, or the error of Validate.
func NewTokenBudget(c TokenConfig) (*TokenBudget, error) {
	f, err := c.ratio()
	if err != nil {
		return nil, err
	}
	b := &TokenBudget{
		one: f.den, credit: f.num, most: int64(c.Cap) * f.den,
		perSuccess: c.Credit == CreditSuccess,
	}
	b.level.Store(int64(c.Initial) * f.den)
	return b, nil
}

// Request earns a credit with CreditRequest.
func (b *TokenBudget) Request() {
	if !b.perSuccess {
		b.earn()
	}
}

// Done earns a credit with CreditSuccess, if the request succeeded.
func (b *TokenBudget) Done(_, success bool) {
	if b.perSuccess && success {
		b.earn()
	}
}

// WaitDone does nothing.
func (b *TokenBudget) WaitDone() {}

// TryRetry takes a token, if there is one.
func (b *TokenBudget) TryRetry(bool) bool {
	for {
		level := b.level.Load()
		if level < b.one {
			return false
		}
		if b.level.CompareAndSwap(level, level-b.one) {
			return true
		}
	}
}

func (b *TokenBudget) earn() {
	for {
		level := b.level.Load()
		if level == b.most || b.level.CompareAndSwap(level, min(level+b.credit, b.most)) {
			return
		}
	}
}

// Tokens returns the tokens held now, to the nearest float64.
func (b *TokenBudget) Tokens() float64 { return float64(b.level.Load()) / float64(b.one) }

// A FloatTokenBudget is a TokenBudget that adds up its tokens as float64, as
// many implementations do. At a ratio of 0.1 ten credits to an empty bucket
// are 0.9999999999999999 tokens, and a retry has to wait for the eleventh.
type FloatTokenBudget struct {
	level      atomic.Uint64 // bits of a float64
	credit     float64
	most       float64
	perSuccess bool
}

// NewFloatTokenBudget returns a budget, or the error of Validate.
func NewFloatTokenBudget(c TokenConfig) (*FloatTokenBudget, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	b := &FloatTokenBudget{credit: c.Ratio, most: float64(c.Cap), perSuccess: c.Credit == CreditSuccess}
	b.level.Store(math.Float64bits(float64(c.Initial)))
	return b, nil
}

// Request earns a credit with CreditRequest.
func (b *FloatTokenBudget) Request() {
	if !b.perSuccess {
		b.earn()
	}
}

// Done earns a credit with CreditSuccess, if the request succeeded.
func (b *FloatTokenBudget) Done(_, success bool) {
	if b.perSuccess && success {
		b.earn()
	}
}

// WaitDone does nothing.
func (b *FloatTokenBudget) WaitDone() {}

// TryRetry takes a token, if there is one.
func (b *FloatTokenBudget) TryRetry(bool) bool {
	for {
		bits := b.level.Load()
		level := math.Float64frombits(bits)
		if level < 1 {
			return false
		}
		if b.level.CompareAndSwap(bits, math.Float64bits(level-1)) {
			return true
		}
	}
}

func (b *FloatTokenBudget) earn() {
	for {
		bits := b.level.Load()
		level := math.Float64frombits(bits)
		if level == b.most || b.level.CompareAndSwap(bits, math.Float64bits(min(level+b.credit, b.most))) {
			return
		}
	}
}

// Tokens returns the tokens held now.
func (b *FloatTokenBudget) Tokens() float64 { return math.Float64frombits(b.level.Load()) }
