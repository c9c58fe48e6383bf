package theory

import (
	"fmt"
	"math"
)

// checkProbability accepts 0 to 1.
func checkProbability(what, field string, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("theory: %s: %s %v, want 0 to 1", what, field, p)
	}
	return nil
}

// checkPositive accepts finite numbers above 0.
func checkPositive(what, field string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("theory: %s: %s %v, want above 0 and finite", what, field, v)
	}
	return nil
}

// checkNotNegative accepts finite numbers from 0 on.
func checkNotNegative(what, field string, v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("theory: %s: %s %v, want at least 0 and finite", what, field, v)
	}
	return nil
}

// checkAtLeast accepts whole numbers from least on.
func checkAtLeast(what, field string, v, least int64) error {
	if v < least {
		return fmt.Errorf("theory: %s: %s %d, want at least %d", what, field, v, least)
	}
	return nil
}
