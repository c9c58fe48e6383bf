package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// The four measures by which retries are watched, the last of them in three
// columns. Every experiment that retries in a system ends its Metrics with
// these, and its rows with what measureRetries returns.
var retryMeasures = []Metric{
	{Name: "retry_ratio", Doc: "tries after the first of a call ÷ all tries; a try is an attempt, or what the caller's own breaker or cap refused in its place"},
	{Name: "retry_success_ratio", Doc: "share of the tries after the first that succeeded; below 0.1 they are load and nothing else"},
	{Name: "most_attempts_count", Doc: "most tries of one call"},
	{Name: "breaker_openings_count", Doc: "openings of all breakers, those after probes included"},
	{Name: "breaker_open_s", Doc: "time that breakers were open, all together, s"},
	{Name: "open_tries_count", Doc: "tries that met an open breaker: the fourth figure of the article's query"},
}

// measureRetries returns the measures of a run.
func measureRetries(l *model.Ledger) []float64 {
	m := l.Measures()
	return []float64{m.RetryRatio(), m.RetrySuccessRatio(), float64(m.MostAttempts), float64(m.Openings), m.OpenTime.Seconds(), float64(m.RefusedOpen)}
}

// ofTheRun are the metrics of panels whose rows all have those of their run.
func ofTheRun(all []Metric) []Metric {
	all = slices.Clone(all)
	for i := range all {
		all[i].Doc += "; of the whole run, in each of its rows"
	}
	return all
}

// withMeasures is a row of metrics with the measures of its run behind it.
func withMeasures(l *model.Ledger, row ...float64) []float64 {
	return append(row, measureRetries(l)...)
}

// uselessBelow is the retry success ratio below which the article on retry
// governance says to switch retries off.
const uselessBelow = 0.1

// MeasuresTable renders the four measures of each run, and says where retries
// are of no use; ok is false if the experiment has none.
func (r *Result) MeasuresTable() (t table.Text, ok bool) {
	e := r.Plan.Experiment
	if !e.has("retry_success_ratio") || !e.has("retry_ratio") {
		return t, false
	}
	t = table.Text{
		Caption: "Four measures of retries: means of " + r.replications(),
		Header:  []string{"cell", "retry ratio", "retries good", "most attempts", "openings", "open s", "met open"},
		Left:    1,
	}
	var panels []string
	for _, f := range r.Plan.Factors {
		if f.Panel {
			panels = append(panels, f.Name)
		}
	}
	const most = 16 // cells that a terminal shows
	useless, retrying, more := 0, 0, 0
	for _, cells := range r.Plan.groups {
		i := cells[0] // panels share the measures of their run
		ratio, good, attempts := r.Stat(i, "retry_ratio"), r.Stat(i, "retry_success_ratio"), r.Stat(i, "most_attempts_count")
		if !attempts.Applies() {
			continue // no system
		}
		if ratio.Mean > 0 {
			retrying++
			if good.Mean < uselessBelow {
				useless++
			}
		}
		if len(t.Rows) == most {
			more++
			continue
		}
		name := strings.TrimPrefix(r.Plan.varying(r.Plan.Cells[i], panels...), " · ")
		if name == "" {
			name = e.Name
		}
		t.Append(name, short(ratio.Mean, 3), short(good.Mean, 3), short(attempts.Mean, 1),
			short(r.Stat(i, "breaker_openings_count").Mean, 1), short(r.Stat(i, "breaker_open_s").Mean, 1),
			short(r.Stat(i, "open_tries_count").Mean, 1))
	}
	if more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more cells are in the CSV.", more))
	}
	if useless > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Warning: in %d of %d cells that retry, less than %.0f %% of the retries succeed: there they are load and nothing else, and should be off.",
			useless, retrying, 100*uselessBelow))
	}
	t.Notes = append(t.Notes, "Tries are attempts, and what the caller's own breaker or cap refused in their place; met open: tries that an open breaker refused.")
	return t, len(t.Rows) > 0
}

// has reports whether the experiment has a metric.
func (e *Experiment) has(metric string) bool {
	for _, m := range e.Metrics {
		if m.Name == metric {
			return true
		}
	}
	return false
}

// undefinedMeasures are the measures of a cell without a system: none is defined.
func undefinedMeasures() []float64 {
	row := make([]float64, len(retryMeasures))
	for i := range row {
		row[i] = math.NaN()
	}
	return row
}
