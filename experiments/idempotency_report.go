package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// duplicateCauses are the metrics of why effects were repeated.
var duplicateCauses = []struct{ metric, text string }{
	{"click_duplicates_ratio", "second clicks"},
	{"device_duplicates_ratio", "other devices"},
	{"client_duplicates_ratio", "client retries"},
	{"gateway_duplicates_ratio", "gateway retries"},
	{"server_duplicates_ratio", "server retries"},
	{"redelivery_duplicates_ratio", "redeliveries"},
	{"bypass_duplicates_ratio", "other writers"},
}

// defenceGaps says what each line of defence cannot stop.
var defenceGaps = map[string]string{
	defenceDedup: "it stops no copy with another key, none that comes while the first is at work, none whose first was done " +
		"but not recorded when the consumer crashed, and nobody who does not look into it",
	defenceState:  "it stops no copy with another key, none of a first that the state it reads does not show yet, and no write that leaves the state out",
	defenceUnique: "it stops no copy with another key, and none in another shard",
}

// perThousand renders a ratio in units of 1/1000.
func perThousand(ratio float64) string { return short(1000*ratio, 2) }

// defenceName names the defences of a cell: "dedup table, recorded before".
func defenceName(c Cell) string {
	text := defenceWords[c.Text("defences")]
	if defends(c, defenceDedup) && !c.single("record") && !c.first("record") {
		text += ", recorded " + c.Text("record")
	}
	if defends(c, defenceUnique) && c.Text("shards") != "1" {
		text += ", " + c.Text("shards") + " shards"
	}
	return text
}

func reportIdempotency(r *Result) []table.Text {
	var texts []table.Text
	for _, cells := range r.Plan.cellGroups("key", "defences", "record", "query", "lag_s", "shards") {
		g := groupDefences(r.Plan, cells)
		texts = append(texts, g.outcomes(r), g.lines(r))
		if len(g.keys) > 1 {
			texts = append(texts, g.places(r))
		}
		if len(r.Plan.level("query")) > 1 || len(r.Plan.level("lag_s")) > 1 {
			texts = append(texts, queryTable(r, cells))
		}
	}
	return texts
}

// A defenceGroup arranges cells by key and defences, at the first level of
// query and lag.
type defenceGroup struct {
	keys, defences []string // defences by their names
	cells          map[[2]string]int
	others         string // levels that all cells share, if there are several
}

func groupDefences(p *Plan, cells []int) defenceGroup {
	g := defenceGroup{cells: map[[2]string]int{}, others: p.varying(p.Cells[cells[0]], "key", "defences", "record", "query", "lag_s", "shards")}
	for _, i := range cells {
		c := p.Cells[i]
		if !c.first("query") || !c.first("lag_s") {
			continue
		}
		name := defenceName(c)
		if !slices.Contains(g.defences, name) {
			g.defences = append(g.defences, name)
		}
		if !slices.Contains(g.keys, c.Text("key")) {
			g.keys = append(g.keys, c.Text("key"))
		}
		g.cells[[2]string{c.Text("key"), name}] = i
	}
	return g
}

// outcomes has the keys down and the defences across.
func (g *defenceGroup) outcomes(r *Result) table.Text {
	t := table.Text{
		Caption: "Per 1,000 intents, by place of the key and lines of defence: means of " + r.replications() + " ± half of the 95 % interval" + g.others,
		Header:  append([]string{"key made at", ""}, g.defences...), Left: 2,
	}
	for _, key := range g.keys {
		name := keyWords[key]
		for n, row := range []struct{ name, metric string }{
			{"duplicate effects", "duplicate_effects_ratio"},
			{"merged intents", "merged_intents_ratio"},
			{"lost intents", "lost_intents_ratio"},
		} {
			values, forms := []string{name, row.name}, []string{"", "closed form"}
			some, known := n == 0, false // whether to show the values, the closed forms
			for _, d := range g.defences {
				value, form := Blank, Blank
				if i, ok := g.cells[[2]string{key, d}]; ok {
					s := r.Stat(i, row.metric)
					some, known = some || s.Mean > 0, known || !math.IsNaN(s.Exact) && (n == 0 || perThousand(s.Exact) != "0")
					value, form = perThousandCI(s), perThousandExact(s)
				}
				values, forms = append(values, value), append(forms, form)
			}
			if !some {
				continue
			}
			t.Append(values...)
			name = ""
			if known {
				t.Append(forms...)
			}
		}
	}
	t.Notes = append(t.Notes, "z: standard errors between mean and closed form. All cells see the same submissions and losses, so that their means are off together, to the same side.")
	return t
}

// causes is a table of what repeats effects in some cells, one a row.
func causes(caption, head string) table.Text {
	t := table.Text{Caption: caption, Header: []string{head}, Left: 1}
	for _, d := range duplicateCauses {
		t.Header = append(t.Header, d.text)
	}
	t.Header = append(t.Header, "merged", "lost")
	return t
}

func causeRow(r *Result, name string, cell int) []string {
	row := []string{name}
	for _, d := range duplicateCauses {
		row = append(row, perThousandCI(r.Stat(cell, d.metric)))
	}
	return append(row, perThousandCI(r.Stat(cell, "merged_intents_ratio")), perThousandCI(r.Stat(cell, "lost_intents_ratio")))
}

// lines says what slips past each set of defences, for the first key.
func (g *defenceGroup) lines(r *Result) table.Text {
	key := g.keys[0]
	t := causes(fmt.Sprintf("What slips past each line, per 1,000 intents: duplicate effects by what repeated them; key at the %s%s", keyWords[key], g.others), "defences")
	for _, d := range g.defences {
		if i, ok := g.cells[[2]string{key, d}]; ok {
			t.Append(causeRow(r, d, i)...)
			if d != defenceWords[defenceNone] {
				t.Notes = append(t.Notes, slipNote(r, i))
			}
		}
	}
	return t
}

// slips lists what repeated effects in a cell, most first: "other devices, other
// writers"; "" if nothing did.
func slips(r *Result, cell int) string {
	type slip struct {
		share float64
		text  string
	}
	var all []slip
	for _, d := range duplicateCauses {
		if v := r.Stat(cell, d.metric).Mean; v > 0 {
			all = append(all, slip{v, d.text})
		}
	}
	slices.SortStableFunc(all, func(a, b slip) int { return cmp.Compare(b.share, a.share) })
	var texts []string
	for _, s := range all {
		texts = append(texts, s.text)
	}
	return strings.Join(texts, ", ")
}

// slipNote says in words what passes the defences of a cell.
func slipNote(r *Result, cell int) string {
	c := r.Plan.Cells[cell]
	text := "Past the " + defenceName(c)
	if c.Text("defences") == defenceAll {
		text = "Past " + defenceName(c)
	}
	switch what := slips(r, cell); {
	case math.IsNaN(r.Stat(cell, "duplicate_effects_ratio").Mean):
		return text + ": nothing was measured."
	case what == "":
		text += " slips nothing"
	default:
		text += " slip " + what
	}
	if gap, ok := defenceGaps[c.Text("defences")]; ok && c.first("shards") && c.first("record") {
		text += ": " + gap
	}
	if c.Text("record") == model.RecordBefore && r.Stat(cell, "lost_intents_ratio").Mean > 0 {
		text += "; and a crash between the record and the effect leaves a key without an effect, so that the intent is lost"
	}
	return text + "."
}

// places compares the places of the key behind all three lines, or the last
// set of defences there is.
func (g *defenceGroup) places(r *Result) table.Text {
	defences := g.defences[len(g.defences)-1]
	if all := defenceWords[defenceAll]; slices.Contains(g.defences, all) {
		defences = all
	}
	t := causes(fmt.Sprintf("What the key leaves behind %s, per 1,000 intents%s", defences, g.others), "key made at")
	var merging []string
	for _, key := range g.keys {
		if i, ok := g.cells[[2]string{key, defences}]; ok {
			t.Append(causeRow(r, keyWords[key], i)...)
			if r.Stat(i, "merged_intents_ratio").Mean > 0 {
				merging = append(merging, keyWords[key])
			}
		}
	}
	t.Notes = append(t.Notes, "A line of defence compares keys. What was copied before the key was made has a key of its own, and passes all of them. "+
		"A business number belongs to the intent on whatever device; without one the key is random.")
	if len(merging) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Two intents look like one to %s: the second is answered as done, and never is.", strings.Join(merging, ", ")))
	}
	if note := g.spared(r); note != "" {
		t.Notes = append(t.Notes, note)
	}
	return t
}

// spared says what the other lines add to a constraint that holds.
func (g *defenceGroup) spared(r *Result) string {
	var stopped, work float64
	for _, key := range g.keys {
		one, ok := g.cells[[2]string{key, defenceWords[defenceUnique]}]
		all, ok2 := g.cells[[2]string{key, defenceWords[defenceAll]}]
		if !ok || !ok2 || r.Plan.Cells[one].Text("shards") != "1" {
			return ""
		}
		for _, m := range []string{"duplicate_effects_ratio", "merged_intents_ratio", "lost_intents_ratio"} {
			if r.Stat(one, m).Mean != r.Stat(all, m).Mean {
				return ""
			}
		}
		early := r.Stat(all, "stopped_dedup_ratio").Mean
		stopped += early
		work += early + r.Stat(all, "stopped_state_ratio").Mean + r.Stat(all, "stopped_unique_ratio").Mean
	}
	return fmt.Sprintf("Beside a constraint that holds, dedup table and state machine change no outcome at any place of the key; the table spares the work of %s of the copies that are stopped.",
		formatPercent(math.Round(100*quotient(stopped, work))/100))
}

// queryTable shows what clients find that ask before they repeat.
func queryTable(r *Result, cells []int) table.Text {
	p := r.Plan
	t := table.Text{Left: 1, Header: []string{"asked before a repetition", "lag s", "queries", "repeated although accepted", "closed form", "duplicate effects", "closed form"}}
	for _, i := range cells {
		c := p.Cells[i]
		if !c.first("key") || !c.first("defences") || !c.first("record") || !c.first("shards") {
			continue
		}
		if t.Caption == "" {
			t.Caption = fmt.Sprintf("Per 1,000 intents, with %s and the key at the %s%s", defenceName(c), keyWords[c.Text("key")],
				p.varying(c, "key", "defences", "record", "query", "lag_s", "shards"))
		}
		lag := Blank
		if c.Text("query") == model.QueryReplica {
			lag = c.Text("lag_s")
		}
		repeats, effects := r.Stat(i, "blind_repeats_ratio"), r.Stat(i, "duplicate_effects_ratio")
		t.Append(queryWords[c.Text("query")], lag, perThousandCI(r.Stat(i, "queries_ratio")), perThousandCI(repeats), perThousandExact(repeats),
			perThousandCI(effects), perThousandExact(effects))
	}
	client, _, _ := clientWait(p.Cells[cells[0]])
	t.Notes = append(t.Notes, fmt.Sprintf("A client repeats %s s after it sent. It finds an effect that a replica got less than its lag before as little as one that is still to come, "+
		"and to execute again what was not found repeats both; only what is accepted and not yet done, read where it is written, tells the two from a lost request.",
		short(client, 3)))
	return t
}

// clientWait is the time from an attempt of the client to its repetition, s.
func clientWait(c Cell) (client, gateway, server float64) {
	every := effectTheoryOf(c).every
	return every[0], every[1], every[2]
}

// queryWords says what a client asks.
var queryWords = map[string]string{
	model.QueryNone:     "nothing",
	model.QueryReplica:  "effect, on a replica",
	model.QueryPrimary:  "effect, on the primary",
	model.QueryAccepted: "effect or accepted message, on the primary",
}
