package plots

import (
	"bytes"
	"math"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// phaseTables are a summary and a table of the hysteresis in which every load
// up to a policy's limit recovers.
func phaseTables(limits map[string]float64) []*table.Table {
	keys := []table.Column{{Name: "experiment"}, {Name: "policy", Labels: map[string]string{"none": "no retry"}}, {Name: "rate_rps"}, {Name: "trigger_s"}}
	shared := []string{"workers", "service_s", "timeout_s", "attempts", "trigger_at_s", "judge_s", "horizon_s"}
	levels := []string{"30", "0.1", "1", "2", "15", "15", "100"}
	hkeys := []table.Column{keys[0], keys[1], keys[3]}
	for _, name := range shared {
		keys = append(keys, table.Column{Name: name})
		hkeys = append(hkeys, table.Column{Name: name})
	}
	summary := table.New("metastable_summary", keys, []table.Column{
		{Name: "n"}, {Name: "recovered_ratio_mean"}, {Name: "stuck_ratio_mean"}, {Name: "collapsed_before_ratio_mean"}, {Name: "recovery_s_mean"}})
	hysteresis := table.New("metastable_hysteresis", hkeys, []table.Column{{Name: "recovers_up_to_rps"}, {Name: "stuck_above_rps"}})
	for _, policy := range []string{"none", "unlimited", "lifo"} {
		limit, ok := limits[policy]
		if !ok {
			continue
		}
		for _, trigger := range []string{"0", "5"} {
			for _, load := range []string{"330", "100", "200"} { // in no order
				well, back := 1.0, 4.2
				if number(load) > limit && trigger == "5" {
					well, back = 0, math.NaN()
				}
				summary.Append(append([]string{"metastable", policy, load, trigger}, levels...), 5, well, 1-well, 0, back)
			}
		}
		top := math.NaN()
		for _, v := range []float64{100, 200, 330} {
			if v <= limit {
				top = v
			}
		}
		above := math.NaN()
		if policy != "lifo" {
			above = limit
		}
		hysteresis.Append(append([]string{"metastable", policy, "5"}, levels...), top, above)
	}
	return []*table.Table{summary, hysteresis}
}

func TestMetastableChart(t *testing.T) {
	drawings, err := Draw("metastable", phaseTables(map[string]float64{"none": 300, "unlimited": 150, "lifo": 400}), "a note")
	if err != nil || len(drawings) != 1 || drawings[0].Suffix != "" {
		t.Fatalf("%d drawings, error %v", len(drawings), err)
	}
	f := drawings[0].Figure
	if want := "After a stall of 5 s, a node for 300/s recovers at loads up to 100/s with 1 retry and no budget, 200/s without retries"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if len(f.Panels) != 3 || f.Panels[0].Title != "no retry" || len(f.Panels[0].X.Rows) != 3 || f.Panels[0].X.Rows[0] != "100" || f.Panels[0].Y.Rows[0] != "5" {
		t.Fatalf("panels %+v, want loads in order and the longest stall on top", f.Panels)
	}
	tiles := f.Panels[1].Marks[0].(Tiles).Tiles
	if len(tiles) != 6 {
		t.Errorf("%d tiles, want 6", len(tiles))
	}
	for _, tile := range tiles {
		stuck := tile.Y == 0 && tile.X > 0 // a stall of 5 s at more than 150/s
		if got := tile.Shares[1] == 1; got != stuck || (tile.Text == "4") == stuck {
			t.Errorf("tile %+v, want stuck = %v", tile, stuck)
		}
	}
	// 150/s lies halfway between the first and the second load.
	if line := f.Panels[1].Marks[1].(Line); line.X[0] != 0.5 || line.X[1] != 0.5 {
		t.Errorf("limit at %v, want 0.5", line.X)
	}
	if len(f.Panels[2].Marks) != 1 {
		t.Error("a limit without a closed form is drawn")
	}
	for _, format := range Formats() {
		if err := f.Write(&bytes.Buffer{}, format); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func TestMetastableChartTitles(t *testing.T) {
	for _, test := range []struct {
		limits map[string]float64
		want   string
	}{
		{map[string]float64{"unlimited": 50}, "After a stall of 5 s, a node for 300/s recovers at no load tried with 1 retry and no budget"},
		{map[string]float64{"lifo": 500}, "At which load and after which stall a node for 300/s stays down"},
	} {
		drawings, err := Draw("metastable", phaseTables(test.limits), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := drawings[0].Figure.Title; got != test.want {
			t.Errorf("title %q, want %q", got, test.want)
		}
	}
	if _, err := Draw("metastable", phaseTables(nil)[:1], ""); err == nil {
		t.Error("no error without the table of the hysteresis")
	}
}
