package experiments

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/names"
)

// Limits that keep a mistyped sweep from filling the memory.
const (
	maxCells        = 100_000   // valid combinations
	maxCrossed      = 5_000_000 // combinations looked at
	maxReplications = 1_000_000
	maxValues       = 100_000_000 // cells × replications × metrics
)

// Options are a user's wishes for one experiment; zero values mean defaults.
type Options struct {
	Seed uint64
	Reps int               // replications per cell; 0 means the experiment's default
	Set  map[string]string // factor name → levels as written: v1,v2 or a:b:step
}

// A Plan is an experiment with its levels, seed and replications fixed.
type Plan struct {
	Experiment *Experiment
	Seed       uint64
	Reps       int
	Factors    []Factor // with the levels chosen
	Cells      []Cell   // in CSV order: the first factor varies slowest

	groups [][]int // indices into Cells of the cells that share a run
}

// NewPlan checks the options against the experiment's factors and lists the
// cells. Errors name the factor, the level and the rule.
func NewPlan(e *Experiment, o Options) (*Plan, error) {
	p := &Plan{Experiment: e, Seed: o.Seed, Reps: o.Reps, Factors: slices.Clone(e.Factors)}
	if err := p.setLevels(o.Set); err != nil {
		return nil, err
	}
	if p.Reps == 0 {
		p.Reps = e.Reps
		if slices.Contains(p.level("arrivals"), "poisson") {
			p.Reps = max(p.Reps, e.RandomReps)
		}
	}
	if p.Reps < 1 || p.Reps > maxReplications {
		return nil, fmt.Errorf("experiments: replications %d, want 1 to %d", p.Reps, maxReplications)
	}
	if err := p.cross(); err != nil {
		return nil, err
	}
	if n := float64(len(p.Cells)) * float64(p.Reps) * float64(len(e.Metrics)); n > maxValues {
		return nil, fmt.Errorf("experiments: %s: %d cells × %d replications × %d metrics, want at most %d values",
			e.Name, len(p.Cells), p.Reps, len(e.Metrics), maxValues)
	}
	return p, nil
}

func (p *Plan) setLevels(set map[string]string) error {
	factors := make([]string, len(p.Factors))
	for i := range p.Factors {
		factors[i] = p.Factors[i].Name
	}
	for _, name := range sortedKeys(set) {
		i := slices.Index(factors, name)
		if i < 0 {
			return fmt.Errorf("experiments: %s has no factor %q, %s", p.Experiment.Name, name, names.Known(name, factors))
		}
		levels, err := p.Factors[i].parse(set[name])
		if err != nil {
			return err
		}
		p.Factors[i].Levels = levels
	}
	return nil
}

// cross lists all valid combinations and groups those that share a run.
func (p *Plan) cross() error {
	total := 1
	for i := range p.Factors {
		total *= len(p.Factors[i].Levels)
		if total > maxCrossed {
			return fmt.Errorf("experiments: %s: more than %d combinations of levels", p.Experiment.Name, maxCrossed)
		}
	}
	group := map[string]int{}
	for i := range total {
		c := Cell{factors: p.Factors, levels: make([]string, len(p.Factors))}
		var shared strings.Builder
		rest := i
		for f := len(p.Factors) - 1; f >= 0; f-- {
			levels := p.Factors[f].Levels
			c.levels[f] = levels[rest%len(levels)]
			rest /= len(levels)
			if !p.Factors[f].Panel {
				shared.WriteString(c.levels[f] + "\x00")
			}
		}
		if p.Experiment.Valid != nil && !p.Experiment.Valid(c) {
			continue
		}
		if len(p.Cells) == maxCells {
			return fmt.Errorf("experiments: %s: more than %d combinations of levels", p.Experiment.Name, maxCells)
		}
		if p.Experiment.Check != nil {
			if err := p.Experiment.Check(c); err != nil {
				return err
			}
		}
		g, seen := group[shared.String()]
		if !seen {
			g = len(p.groups)
			group[shared.String()] = g
			p.groups = append(p.groups, nil)
		}
		p.groups[g] = append(p.groups[g], len(p.Cells))
		p.Cells = append(p.Cells, c)
	}
	if len(p.Cells) == 0 {
		return fmt.Errorf("experiments: %s: no valid combination of the levels given", p.Experiment.Name)
	}
	return nil
}

// Jobs is the number of jobs that Run starts.
func (p *Plan) Jobs() int { return len(p.groups) * p.Reps }

// job returns the i-th job and the indices of its cells. Replications vary
// slowest, so that an interrupted run holds whole replications of all cells.
func (p *Plan) job(i int) (Job, []int) {
	cells := p.groups[i%len(p.groups)]
	j := Job{Seed: p.Seed, Replication: uint64(i / len(p.groups)), Cells: make([]Cell, len(cells))}
	for k, c := range cells {
		j.Cells[k] = p.Cells[c]
	}
	return j, cells
}

// Job returns the job of one replication that holds the given cell, alone.
func (p *Plan) Job(cell int, replication uint64) Job {
	return Job{Seed: p.Seed, Replication: replication, Cells: []Cell{p.Cells[cell]}}
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// varying lists the levels of a cell in the factors that have several, without
// the named ones: " · rate_rps=50"; "" if there are none.
func (p *Plan) varying(c Cell, except ...string) string {
	var b strings.Builder
	for i, f := range p.Factors {
		if len(f.Levels) > 1 && !slices.Contains(except, f.Name) {
			b.WriteString(" · " + f.Name + "=" + c.levels[i])
		}
	}
	return b.String()
}

// level returns the levels chosen for the named factor.
func (p *Plan) level(name string) []string {
	for i := range p.Factors {
		if p.Factors[i].Name == name {
			return p.Factors[i].Levels
		}
	}
	return nil
}

// Notes says in words what the chosen levels do not do as they are written,
// such as a minimum above a count window.
func (p *Plan) Notes() []string {
	var notes []string
	for _, level := range p.level("policy") {
		s, err := parsePolicy(level)
		if err != nil {
			continue // a policy of another kind
		}
		for _, n := range s.rule.Notes() {
			notes = append(notes, "policy "+level+": "+n)
		}
	}
	return notes
}
