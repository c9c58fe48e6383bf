package plots

import (
	"bytes"
	"math"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// A deliveryCell is a row of a delivery summary.
type deliveryCell struct {
	guarantee, dedup, owner, outage string
	twice, lost, dead               float64
}

func deliveryTable(cells []deliveryCell) *table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "guarantee"}, {Name: "dedup", Labels: map[string]string{"none": "not idempotent", "business-key": "business key"}},
		{Name: "owner_every_s"}, {Name: "outage_s"}}
	var levels []string
	for _, c := range [][2]string{{"outage_at_s", "120"}, {"rate_rps", "10"}, {"publish_s", "600"}, {"ack_loss_ratio", "0.01"}, {"consumer_ack_loss_ratio", "0.005"},
		{"visibility_s", "12"}, {"processing_s", "2"}, {"commit_every_s", "5"}, {"leaves_per_hour", "60"}} {
		keys, levels = append(keys, table.Column{Name: c[0]}), append(levels, c[1])
	}
	var values []table.Column
	for _, m := range deliveryPanels {
		values = append(values, table.Column{Name: m.metric + "_mean"}, table.Column{Name: m.metric + "_ci95_lo"}, table.Column{Name: m.metric + "_ci95_hi"})
	}
	t := table.New("delivery_summary", keys, values)
	for _, c := range cells {
		var row []float64
		for _, v := range []float64{c.twice, c.lost, c.dead} {
			row = append(row, v, v, v)
		}
		t.Append(append([]string{"delivery", c.guarantee, c.dedup, c.owner, c.outage}, levels...), row...)
	}
	return t
}

func TestDeliveryChart(t *testing.T) {
	once := deliveryCell{"at-most-once", "none", "0", "120", 0, 0.2, 0}
	cells := []deliveryCell{
		{"at-least-once", "none", "300", "0", 0.03, 0, 0}, {"at-least-once", "none", "300", "120", 0.135, 0, 0},
		{"at-least-once", "business-key", "0", "120", 0, 0, 0.078}, {"at-least-once", "business-key", "300", "120", 0, 0, 0}, once,
	}
	for _, test := range []struct {
		cells       []deliveryCell
		title       string
		rows, marks int
	}{
		{cells, "Of 1,000 intents at most once loses up to 200, at least once repeats 135, unread dead letters hide 78, business keys and an owner leave 0", 4, 2},
		{cells[4:], "Of 1,000 intents at most once loses up to 200", 1, 1},
		{[]deliveryCell{{"at-least-once", "none", "0", "0", 0.0285, 0, 0}}, "Of 1,000 effects up to 28.5 come once too often, and none is lost", 1, 1},
	} {
		drawings, err := Draw("delivery", []*table.Table{deliveryTable(test.cells)}, "a note")
		if err != nil || len(drawings) != 1 {
			t.Fatalf("%d drawings, error %v", len(drawings), err)
		}
		f := drawings[0].Figure
		if f.Title != test.title {
			t.Errorf("title %q, want %q", f.Title, test.title)
		}
		if k := f.Key[len(f.Key)-1].Text; test.rows > 1 && k != "outage of 120 s, in which 20 % of the intents come" {
			t.Errorf("key %q, want the outage's share", k)
		}
		if p := f.Panels[2]; len(f.Panels) != 3 || len(p.Y.Rows) != test.rows || len(p.Marks) != test.marks {
			t.Errorf("%d panels, rows %q, %d marks; want %d rows and %d marks", len(f.Panels), p.Y.Rows, len(p.Marks), test.rows, test.marks)
		}
		if err := f.Write(&bytes.Buffer{}, "png"); err != nil {
			t.Error(err)
		}
	}
}

func TestDeliveryVisibilityChart(t *testing.T) {
	var keys []table.Column
	for _, k := range []string{"experiment", "guarantee", "dedup", "visibility_s", "processing_law", "processing_s", "commit_every_s"} {
		keys = append(keys, table.Column{Name: k})
	}
	const m = "duplicate_visibility_ratio"
	summary := table.New("delivery_summary", keys, []table.Column{{Name: m + "_mean"}, {Name: m + "_ci95_lo"}, {Name: m + "_ci95_hi"}, {Name: m + "_exact"}})
	for _, dedup := range []string{"none", "business-key"} {
		for _, law := range []string{"exponential", "constant"} {
			summary.Append([]string{"delivery", "at-least-once", dedup, "4", law, "2", "5"}, 1.2, 1.1, 1.3, math.NaN())
			summary.Append([]string{"delivery", "at-least-once", dedup, "12", law, "2", "5"}, 0.0004, 0.0003, 0.0005, 0.00041)
		}
	}
	drawings, err := Draw("delivery", []*table.Table{summary}, "a note")
	if err != nil || len(drawings) != 1 {
		t.Fatalf("%d drawings, error %v; want one, of consumers that are not idempotent", len(drawings), err)
	}
	f := drawings[0].Figure
	if want := "A visibility timeout of 4 s repeats 1,200 effects per 1,000 intents, one of 12 s repeats 0.4 (exponential work)"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if n := len(f.Panels[0].Marks); n != 5 || len(f.Key) != 1 {
		t.Errorf("%d marks, want a rule and for each law what was measured and the closed form", n)
	}
	if err := f.Write(&bytes.Buffer{}, "png"); err != nil {
		t.Error(err)
	}
}

func TestDeliveryTimeline(t *testing.T) {
	var keys []table.Column
	levels := map[string]string{"guarantee": "at-least-once", "dedup": "none", "owner_every_s": "300", "outage_s": "120", "outage_at_s": "120",
		"rate_rps": "10", "publish_s": "600", "attempts": "3", "delays": "3", "delay_s": "5"}
	names := []string{"guarantee", "dedup", "owner_every_s", "outage_s", "outage_at_s", "rate_rps", "publish_s", "attempts", "delays", "delay_s", "t_s"}
	for _, k := range names {
		keys = append(keys, table.Column{Name: k})
	}
	var values []table.Column
	for _, v := range []string{"waiting_count", "delayed_count", "letters_count", "without_effect_count", "duplicates_count"} {
		values = append(values, table.Column{Name: v})
	}
	for _, test := range []struct {
		letters, left float64
		title         string
	}{
		{850, 0, "850 messages are dead letters by 240 s; replay leaves no intent without effect, and 800 effects come once too often"},
		{850, 7, "850 messages are dead letters by 240 s; 7 intents stay without effect, and 800 effects come once too often"},
		{0, 0, "The delay queue outlasts the outage: no dead letters; 800 effects come once too often"},
	} {
		series := table.New("delivery_series", keys, values)
		for _, at := range []string{"0", "240", "900"} {
			var texts []string
			for _, k := range names {
				if k == "t_s" {
					texts = append(texts, at)
				} else {
					texts = append(texts, levels[k])
				}
			}
			row := []float64{0, 0, 0, 0, 0}
			if at == "240" {
				row = []float64{5, 300, test.letters, 600, 200}
			} else if at == "900" {
				row = []float64{0, 0, 0, test.left, 800}
			}
			series.Append(texts, row...)
		}
		drawings, err := Draw("delivery", []*table.Table{deliveryTable([]deliveryCell{{"at-least-once", "none", "0", "0", 0.02, 0, 0}}), series}, "a note")
		if err != nil || len(drawings) != 2 || drawings[1].Suffix != "_timeline" {
			t.Fatalf("%d drawings, error %v", len(drawings), err)
		}
		if f := drawings[1].Figure; f.Title != test.title {
			t.Errorf("title %q, want %q", f.Title, test.title)
		} else if err := f.Write(&bytes.Buffer{}, "png"); err != nil {
			t.Error(err)
		}
	}
}
