package experiments

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

// maxBackoff is the longest base and cap of a back-off, s: 8760 h.
const maxBackoff = 8760 * 3600

func contention() *Experiment {
	return &Experiment{
		Name: "contention",
		Doc: `Which back-off gets clients that contend for one row done with the least work and time?
Every client wants to update the same row once, under optimistic concurrency: it
reads the row, then writes on condition that nobody else has written since.
After a conflict it waits and begins again. All begin at the same instant, and
each leg of the network takes a random time, the absolute value of a normal
number. The least time and the least work are not had together: no back-off is
done soonest (100 clients: 2.0 s, 2400 calls), full jitter makes the fewest
calls (800, in 4.9 s). Source: Brooker (2015), "Exponential Backoff And Jitter", AWS
Architecture Blog; the published values are those of its simulator.`,
		Factors: []Factor{
			whole("clients", "clients that begin together", 1, 10_000, 10, 50, 100),
			choice("backoff", "how a client waits after a conflict", []string{
				string(policies.NoBackoff), string(policies.ExponentialBackoff), string(policies.EqualJitter),
				string(policies.FullJitter), string(policies.DecorrelatedJitter), string(policies.FixedBackoff)}, 5),
			number("base_s", "wait that a back-off starts from, s", 1e-9, maxBackoff, 0.005),
			number("cap_s", "longest wait, s; a fixed wait is always base_s", 1e-9, maxBackoff, 2),
			whole("first_exponent", "the first wait is base_s × 2^first_exponent, before jitter; not of fixed and decorrelated", 0, 62, 1),
			number("network_mean_s", "mean of the normal number behind a leg of the network, s", 0, 1e6, 0.01),
			number("network_sd_s", "its standard deviation, s", 0, 1e6, 0.002),
		},
		Metrics: []Metric{
			{Name: "calls_count", Doc: "conditional writes that reach the row"},
			{Name: "completion_s", Doc: "start to the last client's success, s"},
		},
		Reps:    100,
		Check:   checkContention,
		Measure: measureContention,
		Exact:   exactContention,
		Report:  reportContention,
		Detail:  publishedContention,
	}
}

// contentionOf is the contention of a cell.
func contentionOf(c Cell) model.Contention {
	return model.Contention{
		Clients: int(c.Float("clients")),
		Backoff: policies.BackoffConfig{
			Kind:          policies.BackoffKind(c.Text("backoff")),
			Base:          seconds(c.Float("base_s")),
			Cap:           seconds(c.Float("cap_s")),
			FirstExponent: int(c.Float("first_exponent")),
		},
		LegMean: seconds(c.Float("network_mean_s")),
		LegSD:   seconds(c.Float("network_sd_s")),
	}
}

func checkContention(c Cell) error {
	longest := max(c.Float("base_s"), c.Float("cap_s"))
	switch policies.BackoffKind(c.Text("backoff")) {
	case policies.NoBackoff:
		longest = 0
	case policies.FixedBackoff:
		longest = c.Float("base_s")
	default:
		if c.Float("cap_s") < c.Float("base_s") {
			return fmt.Errorf("experiments: factor cap_s: %s, want at least base_s, %s", c.Text("cap_s"), c.Text("base_s"))
		}
	}
	// No client has more conflicts than there are others, and no normal number
	// that is drawn is 20 standard deviations from its mean.
	attempt := longest + 4*(c.Float("network_mean_s")+20*c.Float("network_sd_s"))
	if total := c.Float("clients") * attempt; total > maxSeconds {
		return fmt.Errorf("experiments: contention: clients × longest attempt = %s × %s s, want at most %s s in all",
			c.Text("clients"), formatNumber(attempt), formatNumber(maxSeconds))
	}
	return contentionOf(c).Validate()
}

func measureContention(ctx context.Context, j Job) ([][]float64, error) {
	row, err := model.NewContenders(contentionOf(j.Cells[0]), j.Seed, j.Replication)
	if err != nil {
		return nil, err
	}
	e := sim.New()
	row.Start(e)
	if err := runUntil(ctx, e, sim.MaxTime); err != nil {
		return nil, err
	}
	return [][]float64{{float64(row.Calls), row.Last.Seconds()}}, nil
}

// contentionPublished are means of 100 runs of the simulator that goes with the
// article (aws-samples/aws-arch-backoff-simulator), without their decimals:
// calls and completion in ms, by clients and kind of back-off.
var contentionPublished = []struct {
	clients, backoff string
	calls, ms        float64
}{
	{"10", "none", 50, 382}, {"10", "exponential", 51, 3590}, {"10", "equal", 42, 732}, {"10", "full", 38, 465}, {"10", "decorrelated", 37, 434},
	{"50", "none", 687, 1132}, {"50", "exponential", 624, 36237}, {"50", "equal", 347, 4303}, {"50", "full", 332, 2922}, {"50", "decorrelated", 376, 2164},
	{"100", "none", 2421, 2027}, {"100", "exponential", 1853, 62862}, {"100", "equal", 812, 6658}, {"100", "full", 797, 4879}, {"100", "decorrelated", 1002, 4530},
}

// publishedOf returns what is published of a cell, NaN if nothing is.
func publishedOf(c Cell) (calls, completion float64) {
	if likeArticle(contention(), c) {
		for _, p := range contentionPublished {
			if p.clients == c.Text("clients") && p.backoff == c.Text("backoff") {
				return p.calls, p.ms / 1000
			}
		}
	}
	return math.NaN(), math.NaN()
}

// publishedContention lists the published values of the plan's cells.
func publishedContention(_ context.Context, r *Result) ([]*table.Table, error) {
	t := table.New("contention_published", r.Plan.keyColumns(), []table.Column{
		{Name: "calls_count", Doc: "published mean of 100 runs, without its decimals"},
		{Name: "completion_s", Doc: "the same, to the ms, s"},
	})
	for i, c := range r.Plan.Cells {
		if calls, completion := publishedOf(c); !math.IsNaN(calls) {
			t.Append(r.Plan.keyCells(i), calls, completion)
		}
	}
	if len(t.Rows) == 0 {
		return nil, nil
	}
	return []*table.Table{t}, nil
}

func reportContention(r *Result) []table.Text {
	t := table.Text{
		Caption: "Clients that contend for one row: means of " + r.replications(),
		Header:  []string{"clients", "back-off", "calls", "published", "exact", "completion s", "published", "exact"},
		Left:    2,
	}
	published := false
	for i, c := range r.Plan.Cells {
		calls, completion := r.Stat(i, "calls_count"), r.Stat(i, "completion_s")
		theirCalls, theirTime := publishedOf(c)
		published = published || !math.IsNaN(theirCalls)
		t.Append(c.Text("clients"), c.Text("backoff")+r.Plan.varying(c, "clients", "backoff"),
			meanCI(calls, 1), fixed(theirCalls, 0), exact(calls, 1),
			meanCI(completion, 3), fixed(theirTime, 3), exact(completion, 3))
	}
	t.Notes = contentionNotes(r)
	if published {
		t.Notes = append(t.Notes, "Published: means of 100 runs, without their decimals, of the simulator that goes with the article (aws-samples/aws-arch-backoff-simulator).")
	}
	return []table.Text{t}
}

// contentionNotes say, at the most clients, which kind is done soonest and which
// makes the fewest calls, and compare the waits with jitter with those without.
func contentionNotes(r *Result) []string {
	notes := contentionBest(r)
	for i, c := range r.Plan.Cells {
		levels := r.Plan.level("clients")
		if c.Text("backoff") != string(policies.ExponentialBackoff) || c.Text("clients") != levels[len(levels)-1] {
			continue
		}
		others := r.Plan.varying(c, "clients", "backoff")
		plainCalls, plainTime := r.Stat(i, "calls_count").Mean, r.Stat(i, "completion_s").Mean
		var parts []string
		for k, d := range r.Plan.Cells {
			kind := policies.BackoffKind(d.Text("backoff"))
			if jittered(kind) && d.Text("clients") == c.Text("clients") && r.Plan.varying(d, "clients", "backoff") == others {
				parts = append(parts, fmt.Sprintf("%s jitter makes %s of the calls and takes %s of the time", kind,
					formatPercent(math.Round(100*r.Stat(k, "calls_count").Mean/plainCalls)/100),
					formatPercent(math.Round(100*r.Stat(k, "completion_s").Mean/plainTime)/100)))
			}
		}
		if len(parts) > 0 {
			notes = append(notes, fmt.Sprintf("At %s clients%s, compared with an exponential back-off without jitter: %s.", c.Text("clients"), others, strings.Join(parts, "; ")))
		}
	}
	return notes
}

// contentionBest names the kinds that are done soonest and that make the fewest
// calls, at the most clients.
func contentionBest(r *Result) []string {
	var notes []string
	levels := r.Plan.level("clients")
	for _, cells := range r.Plan.cellGroups("backoff") {
		c := r.Plan.Cells[cells[0]]
		if c.Text("clients") != levels[len(levels)-1] || len(cells) < 2 {
			continue
		}
		best := func(metric string) int {
			return slices.MinFunc(cells, func(a, b int) int {
				return cmp.Compare(r.Stat(a, metric).Mean, r.Stat(b, metric).Mean)
			})
		}
		say := func(i int) string {
			return fmt.Sprintf("%s (%s s, %s calls)", backoffWords[r.Plan.Cells[i].Text("backoff")],
				short(r.Stat(i, "completion_s").Mean, 1), short(r.Stat(i, "calls_count").Mean, 0))
		}
		soonest, fewest := best("completion_s"), best("calls_count")
		others := r.Plan.varying(c, "clients", "backoff")
		if soonest == fewest {
			notes = append(notes, fmt.Sprintf("At %s clients%s, done soonest and with the fewest calls: %s.", c.Text("clients"), others, say(soonest)))
			continue
		}
		notes = append(notes, fmt.Sprintf("At %s clients%s, done soonest: %s; fewest calls: %s.", c.Text("clients"), others, say(soonest), say(fewest)))
	}
	return notes
}
