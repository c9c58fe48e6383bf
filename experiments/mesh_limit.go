package experiments

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// othersSuffix marks a share of the requests in flight besides the one that asks.
const othersSuffix = "-others"

// limitFactor is a bound on the retries in progress.
func limitFactor(levels ...string) Factor {
	return Factor{
		Name:   "limit",
		Doc:    "bound on the retries in progress",
		Levels: levels,
		check: func(text string) (string, error) {
			s, others, err := parseLimit(text)
			if err != nil {
				return "", err
			}
			if others {
				return s.name() + othersSuffix, nil
			}
			return s.name(), nil
		},
		label: func(level string) string {
			s, others, err := parseLimit(level)
			switch {
			case err != nil:
				return level
			case others:
				return strings.Replace(s.String(), " %", " % of the others", 1)
			}
			return s.String()
		},
	}
}

// parseLimit reads the limit of a cell: a retry policy with a cap or a share.
func parseLimit(text string) (s retrySpec, others bool, err error) {
	plain, others := strings.CutSuffix(text, othersSuffix)
	if s, err = parseRetry(plain); err != nil {
		return s, false, err
	}
	switch s.budget.Kind {
	case policies.BudgetConcurrent:
		if others {
			return s, false, fmt.Errorf("%q: a cap with %s, want it on a share", text, othersSuffix)
		}
	case policies.BudgetShare:
		s.budget.Share.Active = policies.ActiveAttempts
		if others {
			s.budget.Share.Active = policies.ActiveOthers
		}
	default:
		return s, false, fmt.Errorf("%q: no bound on the retries in progress, want cap-N or share-PERCENT-floor-N[%s]", text, othersSuffix)
	}
	return s, others, nil
}

// limitLayer is the proxy's retry under the limit of a cell.
func limitLayer(c Cell) (model.Layer, error) {
	s, _, err := parseLimit(c.Text("limit"))
	if err != nil {
		return model.Layer{}, err
	}
	l := s.layer()
	if l == nil {
		return model.Layer{}, fmt.Errorf("limit %q: 1 attempt, want at least 2", c.Text("limit"))
	}
	l.Errors = meshErrors
	l.Backoff = envoyBackoff(milliseconds(c.Float("backoff_ms")))
	return model.Layer{Retry: l}, nil
}
