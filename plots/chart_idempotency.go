package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["idempotency"] = drawIdempotency }

// harms are what can go wrong with an intent, in the order in which they are
// stacked.
var harms = []struct {
	metric, text string
	style        Style
}{
	{"click_duplicates_ratio", "twice: second click", Style{Color: CountWindow.Color(), Glyph: Box}},
	{"device_duplicates_ratio", "other device", Style{Color: BucketWindow.Color(), Glyph: Box}},
	{"client_duplicates_ratio", "client retry", Style{Color: Unlimited.Color(), Glyph: Box}},
	{"gateway_duplicates_ratio", "gateway retry", Style{Color: FixedRetry.Color(), Glyph: Box}},
	{"server_duplicates_ratio", "server retry", Style{Color: TimeWindow.Color(), Glyph: Box}},
	{"redelivery_duplicates_ratio", "redelivery", Style{Color: BudgetBreaker.Color(), Glyph: Box}},
	{"bypass_duplicates_ratio", "other writer", Style{Color: Neutral.Color(), Glyph: Box}},
	{"merged_intents_ratio", "never: merged", Style{Color: Budget.Color(), Glyph: Box}},
	{"lost_intents_ratio", "lost", Style{Glyph: Box}},
}

var keyPlaceNames = map[string]string{
	"operation": "client operation", "sdk": "client SDK", "gateway": "gateway, hash of body",
	"server": "server's first hop", "producer": "message producer", "consumer": "consumer",
}

var defenceNames = map[string]string{"none": "no defence", "dedup": "dedup table", "state": "state machine", "unique": "unique constraint", "all": "all three lines"}

// drawIdempotency shows what goes wrong by place of the key, a panel for each
// set of defences; and, if queries were varied, what they leave.
func drawIdempotency(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "key", "defences", "record", "query", "lag_s", "shards") {
		drawings = append(drawings, Drawing{g.suffix(), harmFigure(summary, g)})
		if f := queryFigure(summary, g); f != nil {
			drawings = append(drawings, Drawing{g.suffix() + "_query", f})
		}
	}
	return drawings, nil
}

// defenceSet names the defences of a row.
func defenceSet(summary *table.Table, r table.Row) string {
	set := summary.Key(r, "defences")
	text, ok := defenceNames[set]
	if !ok {
		for _, line := range strings.Split(set, "+") {
			if text != "" {
				text += ", "
			}
			text += defenceNames[line]
		}
	}
	levels := summary.Levels("record")
	if record := summary.Key(r, "record"); len(levels) > 1 && record != levels[0] {
		text += ", recorded " + record
	}
	if shards := summary.Key(r, "shards"); shards != "1" {
		if set == "unique" || set == "all" || strings.Contains(set, "unique") {
			text += ", " + shards + " shards"
		}
	}
	return text
}

// firstQuery reports whether a row has the first query and the first lag.
func firstQuery(summary *table.Table, r table.Row) bool {
	return summary.Key(r, "query") == summary.Levels("query")[0] && summary.Key(r, "lag_s") == summary.Levels("lag_s")[0]
}

func harmFigure(summary *table.Table, g group) *Figure {
	key := func(name string) string { return summary.Key(g.members[0], name) }
	f := &Figure{
		Title: harmTitle(summary, g),
		Subtitle: fmt.Sprintf("Of 1,000 intents, by place of the key: each leg loses %s %% of its messages, the consumer crashes after %s %% of its writes; "+
			"%s %% of the intents are clicked twice, %s %% submitted on another device, %s %% order the same again%s",
			percent(key("loss_ratio")), percent(key("crash_ratio")), percent(key("click_ratio")), percent(key("device_ratio")), percent(key("same_ratio")), g.title()),
		Note:   " · whiskers: 95 % intervals of the mean of all duplicates (Student t)",
		ShareX: true, ShareY: true,
	}
	var sets, rows []string
	var places []string
	for _, r := range g.members {
		if !firstQuery(summary, r) {
			continue
		}
		if s := defenceSet(summary, r); !slices.Contains(sets, s) {
			sets = append(sets, s)
		}
		if p := summary.Key(r, "key"); !slices.Contains(places, p) {
			places = append(places, p)
			rows = append(rows, keyPlaceNames[p])
		}
	}
	f.Columns = min(2, len(sets))
	lines := (len(sets) + f.Columns - 1) / f.Columns
	f.Height = 300 + lines*(90+38*len(rows))
	used := make([]bool, len(harms))
	for _, set := range sets {
		p := Panel{Title: capital(set), X: Axis{Label: "duplicate effects, and intents without one, per 1,000 intents"}, Y: Axis{Rows: rows}}
		var bars Bars
		total := Estimates{Label: "duplicates", Horizontal: true}
		for _, r := range g.members {
			if !firstQuery(summary, r) || defenceSet(summary, r) != set {
				continue
			}
			row, at := float64(slices.Index(places, summary.Key(r, "key"))), 0.0
			for i, h := range harms {
				v := 1000 * summary.Value(r, h.metric+"_mean")
				if !(v > 0) {
					continue
				}
				used[i] = true
				bars = append(bars, Bar{Row: row, From: at, To: at + v, Style: h.style})
				at += v
			}
			if math.IsNaN(summary.Value(r, "duplicate_effects_ratio_mean")) {
				continue
			}
			total.Points = append(total.Points, Estimate{At: row, Mean: 1000 * summary.Value(r, "duplicate_effects_ratio_mean"),
				Lo: 1000 * summary.Value(r, "duplicate_effects_ratio_ci95_lo"), Hi: 1000 * summary.Value(r, "duplicate_effects_ratio_ci95_hi"),
				Style: Style{Glyph: Tick, Size: 4}})
		}
		if len(bars) > 0 {
			p.Marks = append(p.Marks, bars)
		}
		p.Marks = append(p.Marks, total)
		f.Panels = append(f.Panels, p)
	}
	for i, h := range harms {
		if used[i] {
			f.Key = append(f.Key, KeyItem{KeyPoint, h.style, h.text})
		}
	}
	return f
}

// harmTitle compares the places of the key behind the last set of defences.
func harmTitle(summary *table.Table, g group) string {
	last := ""
	for _, r := range g.members {
		if firstQuery(summary, r) {
			last = defenceSet(summary, r)
			if summary.Key(r, "defences") == "all" {
				break
			}
		}
	}
	var best, worst, merging table.Row
	twice := func(r table.Row) float64 { return 1000 * summary.Value(r, "duplicate_effects_ratio_mean") }
	merged := func(r table.Row) float64 { return 1000 * summary.Value(r, "merged_intents_ratio_mean") }
	n := 0
	for _, r := range g.members {
		if !firstQuery(summary, r) || defenceSet(summary, r) != last || math.IsNaN(twice(r)) {
			continue
		}
		n++
		if merged(r) > 0 {
			merging = r
			continue
		}
		if best.Keys == nil || twice(r) < twice(best) {
			best = r
		}
		if worst.Keys == nil || twice(r) > twice(worst) {
			worst = r
		}
	}
	place := func(r table.Row) string { return "the " + keyPlaceNames[summary.Key(r, "key")] }
	where := "Behind the " + last
	switch {
	case last == defenceNames["none"]:
		where = "Without defence"
	case strings.HasPrefix(last, "all"):
		where = "Behind " + last
	}
	text := where
	switch {
	case n == 0:
		return "What becomes of intents that are submitted more than once"
	case best.Keys == nil:
		return fmt.Sprintf("%s a hash of the body merges %s of 1,000 intents and lets %s duplicate effects pass", where, compact(merged(merging), 1), compact(twice(merging), 1))
	case twice(best) == twice(worst):
		text += fmt.Sprintf(" %s effects are repeated per 1,000 intents", compact(twice(best), 1))
		if twice(best) == 0 {
			text = where + " no effect is repeated"
		}
		if n > 1 {
			text += ", wherever the key is made"
		}
	default:
		text += fmt.Sprintf(" a key made at %s lets %s duplicate effects pass per 1,000 intents, one made at %s %s",
			place(worst), compact(twice(worst), 1), place(best), compact(twice(best), 1))
	}
	if merging.Keys != nil {
		text += fmt.Sprintf("; a hash of the body merges %s", compact(merged(merging), 1))
	}
	return text
}

// queryFigure shows what is repeated blindly against the lag of the replica
// that is asked; nil if no lag was varied.
func queryFigure(summary *table.Table, g group) *Figure {
	first := func(name string, r table.Row) bool { return summary.Key(r, name) == summary.Levels(name)[0] }
	others := map[string]table.Row{}
	var replica []table.Row
	for _, r := range g.members {
		if !first("key", r) || !first("defences", r) || !first("record", r) || !first("shards", r) {
			continue
		}
		if q := summary.Key(r, "query"); q == "replica" {
			replica = append(replica, r)
		} else {
			others[q] = r
		}
	}
	if len(replica) < 2 {
		return nil
	}
	slices.SortStableFunc(replica, func(a, b table.Row) int {
		if number(summary.Key(a, "lag_s")) < number(summary.Key(b, "lag_s")) {
			return -1
		}
		return 1
	})
	f := &Figure{
		Title: queryTitle(summary, replica, others),
		Subtitle: fmt.Sprintf("A client asks before it repeats a submission; the effect is done %s s after the message comes (%s), %s; key at the %s%s",
			summary.Key(replica[0], "service_s"), summary.Key(replica[0], "service_law"), defenceSet(summary, replica[0]), keyPlaceNames[summary.Key(replica[0], "key")], g.title()),
		Note:    " · bands: 95 % intervals of the mean (Student t)",
		Columns: 2, ShareX: true,
	}
	lo, hi := number(summary.Key(replica[0], "lag_s")), number(summary.Key(replica[len(replica)-1], "lag_s"))
	closed := Style{Color: Neutral.Color(), Dashes: []float64{3, 4}, Width: 1.5}
	for _, m := range []struct{ metric, label string }{
		{"blind_repeats_ratio", "repeated although accepted, per 1,000 intents"},
		{"duplicate_effects_ratio", "duplicate effects per 1,000 intents"},
	} {
		p := Panel{X: Axis{Label: "lag of the replica, s"}, Y: Axis{Label: m.label}}
		line := Line{Label: "replica", Style: TimeWindow.Member(0), Points: true}
		theory := Line{Style: closed}
		for _, r := range replica {
			x := number(summary.Key(r, "lag_s"))
			line.X, theory.X = append(line.X, x), append(theory.X, x)
			line.Y = append(line.Y, 1000*summary.Value(r, m.metric+"_mean"))
			line.Lo = append(line.Lo, 1000*summary.Value(r, m.metric+"_ci95_lo"))
			line.Hi = append(line.Hi, 1000*summary.Value(r, m.metric+"_ci95_hi"))
			theory.Y = append(theory.Y, 1000*summary.Value(r, m.metric+"_exact"))
		}
		if !anyWidth(line.Lo, line.Hi) {
			line.Lo, line.Hi = nil, nil
		}
		p.Marks = append(p.Marks, line)
		if slices.ContainsFunc(theory.Y, finite) {
			p.Marks = append(p.Marks, theory)
			f.Key = []KeyItem{{KeyLine, closed, "closed form"}}
		}
		for _, o := range []struct {
			query, label string
			style        Style
		}{
			{"none", "not asked", Style{Color: Unlimited.Color(), Glyph: NoGlyph}},
			{"primary", "primary", Style{Color: Budget.Color(), Glyph: NoGlyph}},
			{"accepted", "accepted, primary", Style{Color: CountWindow.Color(), Dashes: []float64{10, 5}, Glyph: NoGlyph}},
		} {
			if r, ok := others[o.query]; ok {
				v := 1000 * summary.Value(r, m.metric+"_mean")
				p.Marks = append(p.Marks, Line{Label: o.label, X: []float64{lo, hi}, Y: []float64{v, v}, Style: o.style})
			}
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// queryTitle compares the smallest with the largest lag.
func queryTitle(summary *table.Table, replica []table.Row, others map[string]table.Row) string {
	repeats := func(r table.Row) string { return compact(1000*summary.Value(r, "blind_repeats_ratio_mean"), 2) }
	a, b := replica[0], replica[len(replica)-1]
	text := fmt.Sprintf("Asked on a replica, clients repeat %s accepted submissions per 1,000 intents at a lag of %s s and %s at %s s",
		repeats(a), summary.Key(a, "lag_s"), repeats(b), summary.Key(b, "lag_s"))
	var parts []string
	for _, o := range []struct{ query, text string }{{"none", "without asking"}, {"primary", "on the primary"}, {"accepted", "if it also shows what is accepted"}} {
		if r, ok := others[o.query]; ok {
			parts = append(parts, repeats(r)+" "+o.text)
		}
	}
	if len(parts) > 0 {
		text += "; " + strings.Join(parts, ", ")
	}
	return text
}
