package policies

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDecimals is the most digits after the point of a number that is taken
// as the fraction it was written as.
const maxDecimals = 9

// A fraction is a number num/den in lowest terms. Den divides 10^9.
type fraction struct{ num, den int64 }

// decimal returns the fraction that is written as x: 1/10 for 0.1, although
// the float64 of that is a little more. The number must be in [0, 1e9) and
// have at most 9 decimals.
func decimal(x float64) (fraction, error) {
	if !(x >= 0 && x < 1e9) { // true for NaN
		return fraction{}, fmt.Errorf("want 0 to 1e9")
	}
	text := strconv.FormatFloat(x, 'f', -1, 64)
	whole, digits, _ := strings.Cut(text, ".")
	if len(digits) > maxDecimals {
		return fraction{}, fmt.Errorf("want at most %d decimals", maxDecimals)
	}
	num, err := strconv.ParseInt(whole+digits, 10, 64)
	if err != nil {
		return fraction{}, err
	}
	den := int64(math.Pow10(len(digits)))
	if num == 0 {
		return fraction{0, 1}, nil
	}
	shared := new(big.Int).GCD(nil, nil, big.NewInt(num), big.NewInt(den)).Int64()
	return fraction{num / shared, den / shared}, nil
}

// ratioOf is decimal for a share, in [0, 1]. The error names the policy and
// the field.
func ratioOf(policy, field string, x float64) (fraction, error) {
	if !(x >= 0 && x <= 1) { // true for NaN
		return fraction{}, fmt.Errorf("policies: %s: %s %v, want 0 to 1", policy, field, x)
	}
	f, err := decimal(x)
	if err != nil {
		return fraction{}, fmt.Errorf("policies: %s: %s %v, %w", policy, field, x, err)
	}
	return f, nil
}
