package experiments

import (
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// exactContention is known for one client, who meets nobody; for two on a
// network without variance, one of whom waits once; and for any number there
// who all wait alike: they stay in step, with one winner a round.
func exactContention(c Cell, metric string, _ int) (float64, bool) {
	cfg := contentionOf(c)
	alone, steady := cfg.Clients == 1, cfg.LegSD == 0
	if !alone && !steady || !alone && jittered(cfg.Backoff.Kind) && cfg.Clients > 2 {
		return 0, false
	}
	n := cfg.Clients
	if metric == "calls_count" {
		return float64(n) * float64(n+1) / 2, true
	}
	if !steady {
		return 4 * foldedNormalMean(c.Float("network_mean_s"), c.Float("network_sd_s")), true
	}
	wait, err := lastClientWaits(cfg)
	return (time.Duration(4*n)*cfg.LegMean + wait).Seconds(), err == nil
}

func jittered(kind policies.BackoffKind) bool {
	return kind == policies.FullJitter || kind == policies.EqualJitter || kind == policies.DecorrelatedJitter
}

// lastClientWaits is the sum of the waits of the last client of a contention
// in step; with jitter, where there are two clients, the mean of its only one.
func lastClientWaits(cfg model.Contention) (time.Duration, error) {
	b, err := policies.NewBackoff(cfg.Backoff)
	if err != nil {
		return 0, err
	}
	if jittered(cfg.Backoff.Kind) && cfg.Clients > 1 {
		return meanFirstWait(cfg.Backoff), nil
	}
	var sum, wait time.Duration
	for k := 1; k < cfg.Clients; k++ {
		wait = b.Delay(k, wait, 0)
		sum += wait
	}
	return sum, nil
}

// meanFirstWait is the mean of the first wait with jitter.
func meanFirstWait(c policies.BackoffConfig) time.Duration {
	base, limit := float64(c.Base), float64(c.Cap)
	if c.Kind == policies.DecorrelatedJitter { // min(cap, U[base, 3·base))
		cut := min(limit, 3*base)
		uncut := (cut*cut - base*base) / 2
		return time.Duration((uncut + cut*(3*base-cut)) / (2 * base))
	}
	longest := min(limit, base*math.Pow(2, float64(c.FirstExponent)))
	if c.Kind == policies.EqualJitter { // U[longest/2, longest)
		return time.Duration(longest * 3 / 4)
	}
	return time.Duration(longest / 2) // U[0, longest)
}

// foldedNormalMean is the mean of |N(m, s)|: s·√(2/π)·exp(-m²/2s²) + m·erf(m/(s√2))
// (Leone, Nelson and Nottingham, "The folded normal distribution",
// Technometrics 3, 1961).
func foldedNormalMean(m, s float64) float64 {
	return s*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*s*s)) + m*math.Erf(m/(s*math.Sqrt2))
}
