package experiments

import (
	"context"
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/model"
)

// LogTries returns the plan with every try of replication 0 told to log, in
// the order in which they ended; those that had not ended when the run did
// come last, and then done is called. Both are called while the plan runs,
// from one goroutine. The results stay the same. The error of a plan that has
// several runs to a replication, or whose run is not of one system, says so.
func (p *Plan) LogTries(log func(*model.Try), done func()) (*Plan, error) {
	e := *p.Experiment
	if e.Logs == nil {
		return nil, fmt.Errorf("experiments: %s has no log: it does not run one system of requests", e.Name)
	}
	if len(p.groups) > 1 {
		var several []string
		for _, f := range p.Factors {
			if n := len(f.Levels); n > 1 && !f.Panel {
				several = append(several, fmt.Sprintf("%s (has %d)", f.Name, n))
			}
		}
		return nil, fmt.Errorf("experiments: %s: a log is of one run and these levels make %d, want one level of each factor: set %s",
			e.Name, len(p.groups), strings.Join(several, ", "))
	}
	if c := p.Cells[0]; !e.Logs(c) {
		return nil, fmt.Errorf("experiments: %s has no log with %s: it does not run one system of requests then", e.Name, c)
	}
	e.Measure = func(ctx context.Context, j Job) ([][]float64, error) {
		if j.Replication > 0 {
			return p.Experiment.Measure(ctx, j)
		}
		j.Log = log
		rows, err := p.Experiment.Measure(ctx, j)
		if err == nil && ctx.Err() == nil {
			done()
		}
		return rows, err
	}
	logged := *p
	logged.Experiment = &e
	return &logged, nil
}
