package experiments

import (
	"context"
	"math"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// runSystem runs one replication of a system to its horizon.
func runSystem(ctx context.Context, j Job, c model.Config) (*model.System, error) {
	s, err := newSystem(j, c)
	if err != nil {
		return nil, err
	}
	if err := s.Run(ctx); err != nil {
		return s, err
	}
	logPending(j, s)
	return s, nil
}

// newSystem prepares a system for those that run it in steps. When they have
// ended well, logPending has the tries that have not.
func newSystem(j Job, c model.Config) (*model.System, error) {
	s, err := model.New(c, j.Seed, j.Replication)
	if err == nil && j.Log != nil {
		s.Observe(j.Log)
	}
	return s, err
}

// logPending logs the tries of a run that have not ended.
func logPending(j Job, s *model.System) {
	if j.Log != nil {
		s.Pending(j.Log)
	}
}

// everyCell is the Logs of an experiment whose jobs all run one system.
func everyCell(Cell) bool { return true }

// calls is a step of one call.
func calls(c model.Call) []model.Step { return []model.Step{{Calls: []model.Call{c}}} }

// failingServer is a server without limits that fails a share of its attempts,
// each at random, with the given code, after the time it takes for any.
func failingServer(name string, service time.Duration, ratio float64, code policies.ErrorCode) model.Node {
	n := model.Node{Name: name, Workers: model.Unlimited, Service: model.Law{Mean: service}}
	if ratio > 0 {
		n.Faults = []model.Fault{{Kind: model.FaultError, Ratio: ratio, Code: code}}
	}
	return n
}

// serviceName names the service at a depth of a chain: A, B, C, ….
func serviceName(depth int) string { return string(rune('A' + depth - 1)) }

// quotient is a ÷ b; NaN if there is nothing to divide by.
func quotient[A, B ~int64 | ~uint64 | ~float64](a A, b B) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}
