package plots

import (
	"fmt"

	"github.com/stormglass/stormglass/table"
)

// deliveryPlaces are where a message may be, in the order in which it gets
// there.
var deliveryPlaces = []struct {
	metric, label string
	style         Style
}{
	{"waiting_count", "waiting for a consumer", NoRetry.Member(0)},
	{"delayed_count", "in the delay queue", FixedRetry.Member(0)},
	{"letters_count", "dead letters", Unlimited.Member(0)},
}

// deliveryTimes shows where messages are over time, and the effects that are
// missing or come twice.
func deliveryTimes(series *table.Table) []Drawing {
	var drawings []Drawing
	for _, g := range groups(series, "guarantee", "dedup", "owner_every_s", "t_s") {
		first := g.members[0]
		key := func(name string) string { return series.Key(first, name) }
		start := number(key("outage_at_s"))
		end := start + number(key("outage_s"))
		owner := "nobody reads dead letters"
		if number(key("owner_every_s")) > 0 {
			owner = "dead letters are replayed every " + key("owner_every_s") + "\u00a0s, but not in the outage"
		}
		f := &Figure{
			Title: deliveryTimesTitle(series, g),
			Subtitle: fmt.Sprintf("%s intents/s for %s\u00a0s; outage of %s\u00a0s; %s attempts at once, %s delays from %s\u00a0s; %s%s",
				key("rate_rps"), key("publish_s"), key("outage_s"), key("attempts"), key("delays"), key("delay_s"), owner, g.title()),
			Note:   " · replication 0",
			Key:    []KeyItem{{KeySpan, Style{}, "outage"}},
			ShareX: true, Height: 760,
		}
		x := Axis{Label: "time, s"}
		where := Panel{Title: "Where messages are", X: x, Y: Axis{Label: "messages"}, Marks: []Mark{Spans{{From: start, To: end}}}}
		for _, p := range deliveryPlaces {
			where.Marks = append(where.Marks, timeLine(series, g, p.metric, p.label, p.style))
		}
		effects := Panel{Title: "Effects", X: x, Y: Axis{Label: "intents, effects"}, Marks: []Mark{Spans{{From: start, To: end}},
			timeLine(series, g, "without_effect_count", "without effect yet", Budget.Member(0)),
			timeLine(series, g, "duplicates_count", "done once too often (not idempotent)", TimeWindow.Member(0))}}
		if l := series.Label(first, "dedup"); series.Key(first, "dedup") != "none" {
			effects.Marks[2] = timeLine(series, g, "duplicates_count", "done once too often ("+l+")", TimeWindow.Member(0))
		}
		f.Panels = []Panel{where, effects}
		drawings = append(drawings, Drawing{"_timeline" + g.suffix(), f})
	}
	return drawings
}

func timeLine(t *table.Table, g group, metric, label string, style Style) Line {
	line := Line{Label: label, Style: style}
	for _, r := range g.members {
		line.X = append(line.X, number(t.Key(r, "t_s")))
		line.Y = append(line.Y, t.Value(r, metric))
	}
	return line
}

// deliveryTimesTitle says how many messages died and what replay did.
func deliveryTimesTitle(series *table.Table, g group) string {
	most, at := 0.0, ""
	for _, r := range g.members {
		if v := series.Value(r, "letters_count"); v > most {
			most, at = v, series.Key(r, "t_s")
		}
	}
	last := g.members[len(g.members)-1]
	left, twice := series.Value(last, "without_effect_count"), series.Value(last, "duplicates_count")
	if most == 0 {
		return fmt.Sprintf("The delay queue outlasts the outage: no dead letters; %s effects come once too often", compact(twice, 0))
	}
	rest := "replay leaves no intent without effect"
	if left > 0 {
		rest = compact(left, 0) + " intents stay without effect"
	}
	return fmt.Sprintf("%s messages are dead letters by %s s; %s, and %s effects come once too often",
		compact(most, 0), compact(number(at), 0), rest, compact(twice, 0))
}
