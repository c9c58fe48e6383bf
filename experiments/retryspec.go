package experiments

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/names"
	"github.com/stormglass/stormglass/policies"
)

// retryGrammar is how a retry policy is written on the command line.
const retryGrammar = "none, retry-ATTEMPTS, or one of budget-PERCENT[-cap-TOKENS][-full][-success][-float], " +
	"share-PERCENT-floor-RETRIES, cap-RETRIES, counter-PERCENT, each with [-attempts-N], such as budget-10 or share-20-floor-3"

// What a retry policy has unless it says otherwise.
const (
	defaultAttempts = 3
	defaultTokens   = 10 // cap of a bucket
)

// retryHeads are the first words of the policies.
var retryHeads = []string{"none", "retry", "budget", "share", "cap", "counter"}

// A retrySpec is a retry policy as written:
//
//	none              one attempt
//	retry-3           at most 3 attempts, and nothing else bounds them
//	budget-10         a bucket that gets 10 % of a token for each request, empty at first, of at most 10 tokens
//	share-20-floor-3  retries in progress of at most 20 % of the requests in flight, but 3 always
//	cap-3             at most 3 retries in progress
//	counter-10        retries of at most 10 % of the requests counted, the first 100 of each 10,000 free
//
// All but the first two make at most 3 attempts unless they say -attempts-N.
// A bucket may have another -cap-TOKENS, be -full at first, be credited for a
// -success instead of a request, and add its tokens up in -float.
type retrySpec struct {
	attempts int
	budget   policies.BudgetConfig // zero if nothing but attempts bounds the retries
}

// parseRetry reads a retrySpec, see retryGrammar.
func parseRetry(text string) (retrySpec, error) {
	head, rest, more := strings.Cut(text, "-")
	s := retrySpec{attempts: defaultAttempts}
	var err error
	switch head {
	case "none":
		s.attempts = 1
		if more {
			err = fmt.Errorf("%q after none", rest)
		}
	case "retry":
		s.attempts, err = strconv.Atoi(rest)
		if err != nil {
			err = fmt.Errorf("attempts %q is no whole number", rest)
		}
	case "budget", "share", "cap", "counter":
		err = s.parseBudget(head, strings.Split(rest, "-"))
	default:
		return s, fmt.Errorf("retry policy %q: %s; want %s", text, names.Known(head, retryHeads), retryGrammar)
	}
	if err != nil {
		return s, fmt.Errorf("retry policy %q: %w; want %s", text, err, retryGrammar)
	}
	if err := (policies.RetryConfig{Attempts: s.attempts}).Validate(); err != nil {
		return s, fmt.Errorf("retry policy %q: %w", text, err)
	}
	if err := s.budget.Validate(); err != nil {
		return s, fmt.Errorf("retry policy %q: %w", text, err)
	}
	return s, nil
}

// parseBudget reads what follows the first word of a policy with a budget.
func (s *retrySpec) parseBudget(head string, fields []string) (err error) {
	b := &s.budget
	number, options := fields[0], fields[1:]
	switch head {
	case "budget":
		b.Kind = policies.BudgetTokens
		b.Tokens.Cap = defaultTokens
		b.Tokens.Ratio, err = parsePercent(number)
	case "share":
		b.Kind = policies.BudgetShare
		b.Share.Unshared = true // a simulation has one thread
		b.Share.Share, err = parsePercent(number)
		if err == nil && (len(options) == 0 || options[0] != "floor") {
			err = fmt.Errorf("no floor")
		}
	case "cap":
		b.Kind = policies.BudgetConcurrent
		if b.Concurrent, err = strconv.Atoi(number); err != nil {
			err = fmt.Errorf("retries %q is no whole number", number)
		}
	case "counter":
		b.Kind = policies.BudgetCounter
		b.Counter.Grace, b.Counter.ResetAt = 100, 10_000
		b.Counter.Ratio, err = parsePercent(number)
	}
	seen := map[string]bool{}
	full := false
	for err == nil && len(options) > 0 {
		option := options[0]
		options = options[1:]
		if seen[option] {
			return fmt.Errorf("%s given twice", option)
		}
		seen[option] = true
		var value *int
		switch {
		case option == "attempts":
			value = &s.attempts
		case option == "floor" && head == "share":
			value = &b.Share.Floor
		case option == "cap" && head == "budget":
			value = &b.Tokens.Cap
		case option == "full" && head == "budget":
			full = true
		case option == "success" && head == "budget":
			b.Tokens.Credit = policies.CreditSuccess
		case option == "float" && head == "budget":
			b.Kind = policies.BudgetFloatTokens
		default:
			return fmt.Errorf("%q is no option of %s", option, head)
		}
		if value == nil {
			continue
		}
		if len(options) == 0 {
			return fmt.Errorf("no number after %s", option)
		}
		if *value, err = strconv.Atoi(options[0]); err != nil {
			return fmt.Errorf("%s %q is no whole number", option, options[0])
		}
		options = options[1:]
	}
	if full {
		b.Tokens.Initial = b.Tokens.Cap
	}
	return err
}

// retries reports whether there can be any retry.
func (s retrySpec) retries() bool { return s.attempts > 1 }

// bucket reports whether tokens bound the retries.
func (s retrySpec) bucket() bool {
	return s.budget.Kind == policies.BudgetTokens || s.budget.Kind == policies.BudgetFloatTokens
}

// layer is the policy as a layer of a stack with no back-off, nil if it never
// retries.
func (s retrySpec) layer() *model.RetryLayer {
	if !s.retries() {
		return nil
	}
	l := &model.RetryLayer{RetryConfig: policies.RetryConfig{Attempts: s.attempts}}
	if s.budget.Kind != "" {
		budget := s.budget
		l.Budget = &budget
	}
	return l
}

// stack is a stack of the policy alone, empty if it never retries.
func (s retrySpec) stack() model.Stack {
	if l := s.layer(); l != nil {
		return model.Stack{{Retry: l}}
	}
	return nil
}

// retryFactor declares retry policies.
func retryFactor(name string, levels ...string) Factor {
	f := Factor{
		Name: name,
		Doc:  "retry policy: " + retryGrammar,
		label: func(text string) string {
			s, err := parseRetry(text)
			if err != nil {
				return text
			}
			return s.String()
		},
		check: func(text string) (string, error) {
			s, err := parseRetry(text)
			return s.name(), err
		},
	}
	f.Levels = append(f.Levels, levels...)
	return f
}

// retry returns the parsed retry policy in the named factor of a cell.
func (c Cell) retry(name string) retrySpec { return mustParseRetry(c.Text(name)) }

// mustParseRetry reads a level that its factor's check has accepted.
func mustParseRetry(level string) retrySpec {
	s, err := parseRetry(level)
	if err != nil {
		panic(err)
	}
	return s
}
