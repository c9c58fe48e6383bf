package experiments

import (
	"strconv"

	"github.com/stormglass/stormglass/policies"
)

// name is the policy as it is written, in its shortest form.
func (s retrySpec) name() string {
	text, attempts := "", s.attempts
	b := s.budget
	switch b.Kind {
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		text = "budget-" + percentText(b.Tokens.Ratio)
	case policies.BudgetShare:
		text = "share-" + percentText(b.Share.Share) + "-floor-" + strconv.Itoa(b.Share.Floor)
	case policies.BudgetConcurrent:
		text = "cap-" + strconv.Itoa(b.Concurrent)
	case policies.BudgetCounter:
		text = "counter-" + percentText(b.Counter.Ratio)
	default:
		if attempts == 1 {
			return "none"
		}
		return "retry-" + strconv.Itoa(attempts)
	}
	if attempts != defaultAttempts {
		text += "-attempts-" + strconv.Itoa(attempts)
	}
	if s.bucket() {
		if b.Tokens.Cap != defaultTokens {
			text += "-cap-" + strconv.Itoa(b.Tokens.Cap)
		}
		if b.Tokens.Initial > 0 {
			text += "-full"
		}
		if b.Tokens.Credit == policies.CreditSuccess {
			text += "-success"
		}
		if b.Kind == policies.BudgetFloatTokens {
			text += "-float"
		}
	}
	return text
}

// String says the policy in words: "budget 10 %, full".
func (s retrySpec) String() string {
	var text string
	b := s.budget
	switch b.Kind {
	case policies.BudgetTokens, policies.BudgetFloatTokens:
		text = "budget " + percentText(b.Tokens.Ratio) + " %"
	case policies.BudgetShare:
		text = "share " + percentText(b.Share.Share) + " %, at least " + strconv.Itoa(b.Share.Floor)
	case policies.BudgetConcurrent:
		text = "cap " + strconv.Itoa(b.Concurrent)
	case policies.BudgetCounter:
		text = "counter " + percentText(b.Counter.Ratio) + " %"
	default:
		if s.attempts == 1 {
			return "no retry"
		}
		return "unlimited " + strconv.Itoa(s.attempts)
	}
	if s.bucket() {
		if b.Tokens.Credit == policies.CreditSuccess {
			text += " per success"
		}
		if b.Tokens.Cap != defaultTokens {
			text += ", cap " + strconv.Itoa(b.Tokens.Cap)
		}
		if b.Tokens.Initial > 0 {
			text += ", full"
		}
		if b.Kind == policies.BudgetFloatTokens {
			text += ", float"
		}
	}
	if s.attempts != defaultAttempts {
		text += ", " + strconv.Itoa(s.attempts) + " attempts"
	}
	return text
}

// percentText is the shortest decimal of a ratio in percent: 0.07 is "7".
func percentText(ratio float64) string {
	v, err := strconv.ParseFloat(strconv.FormatFloat(ratio, 'f', -1, 64)+"e2", 64)
	if err != nil {
		panic(err) // no such number exists
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
