package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["delivery"] = drawDelivery }

// deliveryPanels are what the figure shows of each way to deliver.
var deliveryPanels = []struct{ metric, title, axis string }{
	{"duplicate_ratio", "Done once too often", "effects per 1,000 intents"},
	{"lost_ratio", "Lost", "intents per 1,000"},
	{"dead_ratio", "Dead letters that nobody reads", "intents per 1,000"},
}

// deliveryDodge sets the lengths of the outage within a row apart, px, so far
// that the text of one stands clear of the markers of the next.
const deliveryDodge = 20

// outageStyle tells runs with an outage, by its length, from those without.
func outageStyle(outage string, levels []string) Style {
	if number(outage) == 0 {
		return Budget.Member(0)
	}
	member := 1
	for _, level := range levels[:max(0, slices.Index(levels, outage))] {
		if number(level) > 0 {
			member++
		}
	}
	return Unlimited.Member(member)
}

// drawDelivery shows what is done twice, lost and left, for each way to
// deliver, and where messages are over time; of several visibility timeouts it
// shows what these repeat instead.
func drawDelivery(summary *table.Table, details []*table.Table) ([]Drawing, error) {
	if drawings := deliveryVisibility(summary); drawings != nil {
		return drawings, nil
	}
	var drawings []Drawing
	for _, g := range groups(summary, "guarantee", "dedup", "owner_every_s", "outage_s") {
		key := func(name string) string { return summary.Key(g.members[0], name) }
		f := &Figure{
			Title: deliveryTitle(summary, g),
			Subtitle: fmt.Sprintf("%s intents/s for %s s; acknowledgements lost: %s %% to the producer, %s %% to the queue; visibility timeout %s s, work of %s s on average, commits every %s s, %s consumers leave an hour%s",
				key("rate_rps"), key("publish_s"), percent(key("ack_loss_ratio")), percent(key("consumer_ack_loss_ratio")), key("visibility_s"), key("processing_s"),
				key("commit_every_s"), key("leaves_per_hour"), g.title()),
			Note:    " · means, 95 % intervals (Student t)",
			Columns: len(deliveryPanels), ShareY: true,
		}
		var rows []string
		for i, m := range deliveryPanels {
			p := Panel{Title: m.title, X: Axis{Label: m.axis}}
			for k, outage := range summary.Levels("outage_s") {
				e := Estimates{Label: m.metric + " " + outage, Horizontal: true}
				for _, r := range g.rows("outage_s", outage) {
					at := indexOf(&rows, deliveryRow(summary, r))
					v := 1e3 * summary.Value(r, m.metric+"_mean")
					e.Points = append(e.Points, Estimate{At: at, Mean: v, Style: outageStyle(outage, summary.Levels("outage_s")), Text: compact(v, 1),
						Lo: 1e3 * summary.Value(r, m.metric+"_ci95_lo"), Hi: 1e3 * summary.Value(r, m.metric+"_ci95_hi")})
				}
				if len(e.Points) == 0 {
					continue
				}
				if levels := len(summary.Levels("outage_s")); levels > 1 {
					e.Dodge = deliveryDodge * (float64(levels-1)/2 - float64(k))
				}
				p.Marks = append(p.Marks, e)
				if i == 0 {
					text := "no outage"
					if number(outage) > 0 {
						text = fmt.Sprintf("outage of %s s, in which %s %% of the intents come", outage, percent(outageShare(key("outage_at_s"), outage, key("publish_s"))))
					}
					f.Key = append(f.Key, KeyItem{KeyPoint, outageStyle(outage, summary.Levels("outage_s")), text})
				}
			}
			f.Panels = append(f.Panels, p)
		}
		for i := range f.Panels {
			f.Panels[i].Y.Rows = rows
		}
		if levels := len(summary.Levels("outage_s")); levels > 2 {
			f.Height = min(330+len(rows)*(levels*deliveryDodge+10), largestSide)
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	for _, t := range details {
		if t.Name == "delivery_series" {
			drawings = append(drawings, deliveryTimes(t)...)
		}
	}
	return drawings, nil
}

// outageShare is the share of the time of publishing that an outage takes.
func outageShare(at, length, publish string) string {
	inside := math.Min(number(at)+number(length), number(publish)) - number(at)
	return strconv.FormatFloat(math.Max(0, inside)/number(publish), 'g', 2, 64)
}

// deliveryRow names a way to deliver.
func deliveryRow(summary *table.Table, r table.Row) string {
	if summary.Key(r, "guarantee") == "at-most-once" {
		return "at most once\nno retries"
	}
	owner := "dead letters read every " + summary.Key(r, "owner_every_s") + " s"
	if number(summary.Key(r, "owner_every_s")) == 0 {
		owner = "nobody reads dead letters"
	}
	return strings.Replace(summary.Label(r, "dedup"), "queue's", "by the queue's", 1) + "\n" + owner
}

// deliveryTitle says what at most once loses, what at least once does twice and
// what is left with idempotent consumers and an owner, where all is worst.
func deliveryTitle(summary *table.Table, g group) string {
	worst := func(metric string, keep func(table.Row) bool) (v float64, ok bool) {
		for _, r := range g.members {
			if keep(r) {
				v, ok = max(v, summary.Value(r, metric+"_mean")), true
			}
		}
		return 1e3 * v, ok
	}
	at := func(guarantee, dedup string, owned bool) func(table.Row) bool {
		return func(r table.Row) bool {
			return summary.Key(r, "guarantee") == guarantee && (dedup == "" || summary.Key(r, "dedup") == dedup && (number(summary.Key(r, "owner_every_s")) > 0) == owned)
		}
	}
	var parts []string
	if v, ok := worst("lost_ratio", at("at-most-once", "", false)); ok {
		parts = append(parts, "at most once loses up to "+compact(v, 0))
	}
	if v, ok := worst("duplicate_ratio", at("at-least-once", "none", true)); ok {
		parts = append(parts, "at least once repeats "+compact(v, 0))
	}
	if v, ok := worst("dead_ratio", at("at-least-once", "business-key", false)); ok {
		parts = append(parts, "unread dead letters hide "+compact(v, 0))
	}
	if v, ok := worst("duplicate_ratio", at("at-least-once", "business-key", true)); ok {
		dead, _ := worst("dead_ratio", at("at-least-once", "business-key", true))
		parts = append(parts, "business keys and an owner leave "+compact(v+dead, 0))
	}
	if len(parts) == 0 {
		v, _ := worst("duplicate_ratio", func(table.Row) bool { return true })
		return "Of 1,000 effects up to " + compact(v, 1) + " come once too often, and none is lost"
	}
	return "Of 1,000 intents " + strings.Join(parts, ", ")
}
