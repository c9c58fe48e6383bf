package experiments

import (
	"context"
	"math"
	"slices"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
	"github.com/stormglass/stormglass/table"
)

func reportLateAnswers(r *Result) []table.Text {
	var texts []table.Text
	for _, cells := range r.Plan.cellGroups("breaker") {
		c := r.Plan.Cells[cells[0]]
		t := table.Text{
			Caption: "Settings " + c.Text("settings") + ", " + r.Plan.words("scenario", c.Text("scenario")) + ": means of " + r.replications() +
				r.Plan.varying(c, "breaker", "settings", "scenario"),
			Header: []string{"breaker", "late answers", "that change the state", "runs they matter in", "wrong closings [95 %]", "reopenings after [95 %]",
				"recovers after s", "good calls refused"},
			Left: 1,
		}
		for _, i := range cells {
			get := func(m string) Stat { return r.Stat(i, m) }
			if !get("good_refused_count").Applies() {
				continue
			}
			t.Append(r.Plan.Cells[i].Text("breaker"), short(get("late_answers_count").Mean, 1), short(get("late_changes_count").Mean, 2), percentage(get("late_effect_ratio").Mean),
				meanCI(get("wrong_closings_count"), 2), meanCI(get("late_reopenings_count"), 2),
				lateRecovery(r, i), short(get("good_refused_count").Mean, 1))
		}
		if len(t.Rows) > 0 {
			t.DropEmpty(Blank)
			t.Notes = lateNotes(r, cells)
			texts = append(texts, t)
		}
	}
	return texts
}

// lateRecovery renders a recovery; a breaker that never opened has none.
func lateRecovery(r *Result, cell int) string {
	if r.Stat(cell, "unnoticed_ratio").Mean == 1 {
		return "never opened"
	}
	return recovers(r.Stat(cell, "recovery_s"), r.Plan.Cells[cell])
}

// lateAnswersStates is the states of the breakers over time in replication 0,
// and the late answers.
func lateAnswersStates(ctx context.Context, r *Result) ([]*table.Table, error) {
	p := r.Plan
	keys := append(p.keyColumns(), table.Column{Name: "replication"}, table.Column{Name: "what", Doc: "state of the breaker, or late-success or late-failure: an answer to a call let through before the last change of state"})
	t := table.New("late-answers_states", keys, []table.Column{
		{Name: "from_s", Doc: "start of the state, or instant of the answer, after the start of the outage, s"},
		{Name: "to_s", Doc: "its end, s"},
		{Name: "changes_count", Doc: "changes of state that the answer made; empty: it is a state"},
	})
	for i, c := range p.Cells {
		if presetMaker(c) == nil {
			continue
		}
		run, err := newLateRun(p.Job(i, 0), c, false)
		if err != nil {
			return nil, err
		}
		run.keep = true
		if err := run.run(ctx); err != nil {
			return nil, err
		}
		start := run.outage.from.Seconds()
		add := func(what string, from, to, changes float64) {
			t.Append(append(slices.Clone(p.keyCells(i)), "0", what), wholeNanos(from-start), wholeNanos(to-start), changes)
		}
		state, from := policies.Closed, 0.0
		for _, ch := range run.changes {
			at := sim.Time(ch.At.UnixNano()).Sub(0).Seconds()
			add(state.String(), from, at, math.NaN())
			state, from = ch.To, at
		}
		add(state.String(), from, run.outage.end.Seconds(), math.NaN())
		for _, l := range run.lateAt {
			at, what := l.at.Sub(0).Seconds(), "late-success"
			if l.failed {
				what = "late-failure"
			}
			add(what, at, at, float64(l.changes))
		}
	}
	return []*table.Table{t}, nil
}
