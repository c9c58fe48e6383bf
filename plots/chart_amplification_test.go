package plots

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stormglass/stormglass/table"
)

// retryTable makes a table whose rows are given as texts and numbers; policies
// have labels.
func retryTable(keys, values string, rows ...[]any) *table.Table {
	var k, v []table.Column
	for _, name := range strings.Fields("experiment " + keys) {
		c := table.Column{Name: name}
		if name == "policy" {
			c.Labels = map[string]string{"none": "no retry", "retry-3": "unlimited 3", "budget-10": "budget 10 %", "budget-10-full": "budget 10 %, full"}
		}
		k = append(k, c)
	}
	for _, name := range strings.Fields(values) {
		v = append(v, table.Column{Name: name})
	}
	t := table.New("t", k, v)
	for _, row := range rows {
		texts, numbers := []string{"e"}, []float64{}
		for _, x := range row {
			switch x := x.(type) {
			case string:
				texts = append(texts, x)
			case float64:
				numbers = append(numbers, x)
			}
		}
		t.Append(texts, numbers...)
	}
	return t
}

// drawOne draws the only figure of a chart, in every format.
func drawOne(t *testing.T, chart string, tables ...*table.Table) *Figure {
	t.Helper()
	drawings, err := Draw(chart, tables, "note")
	if err != nil {
		t.Fatal(err)
	}
	if len(drawings) != 1 || drawings[0].Suffix != "" {
		t.Fatalf("%d drawings, want one without suffix", len(drawings))
	}
	f := drawings[0].Figure
	for _, format := range Formats() {
		if err := f.Write(&bytes.Buffer{}, format); err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
	return f
}

func wantTitle(t *testing.T, f *Figure, want string) {
	t.Helper()
	if got := strings.ReplaceAll(f.Title, "\u00a0", " "); got != want {
		t.Errorf("title %q, want %q", got, want)
	}
}

const amplificationValues = "amplification_ratio_mean amplification_ratio_ci95_lo amplification_ratio_ci95_hi amplification_ratio_article " +
	"success_ratio_mean success_ratio_ci95_lo success_ratio_ci95_hi success_ratio_article"

func TestAmplificationChart(t *testing.T) {
	nan := math.NaN()
	row := func(policy, failure string, a, article, s float64) []any {
		return []any{policy, failure, "1500", a, a - 0.001, a + 0.001, article, s, s, s, nan}
	}
	summary := retryTable("policy failure_ratio requests", amplificationValues,
		row("none", "0.05", 1, 1, 0.95), row("none", "1", 1, nan, 0),
		row("budget-10", "0.05", 1.052, nan, 0.999), row("budget-10", "1", 1.1, 1.099, 0),
		row("retry-3", "0.05", 1.053, nan, 0.9999), row("retry-3", "1", 3, 3, 0),
		row("cap-3", "0.05", 1.05, nan, 0.99), row("cap-3", "1", 2, nan, 0))
	bounds := retryTable("policy failure_ratio", "amplification_ratio",
		[]any{"none", "0", 1.0}, []any{"none", "1", 1.0}, []any{"budget-10", "0", 1.0}, []any{"budget-10", "1", 1.1},
		[]any{"retry-3", "0", 1.0}, []any{"retry-3", "1", 3.0})
	f := drawOne(t, "amplification", summary, bounds)
	wantTitle(t, f, "In a total outage unlimited 3 makes 3.00 attempts of a request, budget 10 % makes 1.10; with 5 % failures both make 1.05")
	var labels []string
	article := 0
	for _, m := range f.Panels[0].Marks {
		switch m := m.(type) {
		case Line:
			labels = append(labels, m.Label)
		case Reference:
			article = len(m.X)
		}
	}
	if got := strings.Join(labels, "; "); got != "no retry; budget 10 %; unlimited 3; cap-3" {
		t.Errorf("lines %s", got)
	}
	if article != 3 {
		t.Errorf("%d values of the article, want 3", article)
	}
}

func TestAmplificationTitles(t *testing.T) {
	nan := math.NaN()
	row := func(policy, failure string, a float64) []any {
		return []any{policy, failure, a, nan, nan, nan, nan, nan, nan, nan}
	}
	for _, c := range []struct {
		want string
		rows [][]any
	}{
		{"Without failures there is nothing to try again", [][]any{row("none", "0", 1), row("retry-3", "0", 1)}},
		{"With 50 % failures unlimited 3 makes 1.75 attempts of a request", [][]any{row("retry-3", "0.5", 1.75)}},
		{"With 50 % failures unlimited 3 makes 1.75 attempts of a request, no retry makes 1.00", [][]any{row("none", "0.5", 1), row("retry-3", "0.5", 1.75)}},
		{"In a total outage unlimited 3 makes 3.00 attempts of a request, budget 10 % makes 1.10; with 50 % they make 1.75 and 1.10", [][]any{
			row("budget-10", "0.5", 1.1), row("budget-10", "1", 1.1), row("retry-3", "0.5", 1.75), row("retry-3", "1", 3)}},
	} {
		summary := retryTable("policy failure_ratio", amplificationValues, c.rows...)
		if got := amplificationTitle(summary, groups(summary, "policy", "failure_ratio")[0]); got != c.want {
			t.Errorf("title %q, want %q", got, c.want)
		}
	}
}

func TestRetryFamilies(t *testing.T) {
	styles := retryStyles([]string{"none", "retry-3", "budget-10", "share-20-floor-3", "other"})
	if styles["none"].Color != NoRetry.Color() || styles["retry-3"].Color != Unlimited.Color() || styles["other"].Color != Neutral.Color() {
		t.Errorf("colours %+v", styles)
	}
	if a, b := styles["budget-10"], styles["share-20-floor-3"]; a.Color != b.Color || a.Glyph == b.Glyph {
		t.Errorf("two budgets: %+v and %+v, want one colour and two glyphs", a, b)
	}
}
