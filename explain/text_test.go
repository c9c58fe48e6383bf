package explain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies/presets"
)

func legend(t *testing.T, all ...*explain.Explanation) string {
	t.Helper()
	var b strings.Builder
	if err := explain.WriteLegend(&b, all...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The legend has the columns and the findings that there are, once.
func TestLegend(t *testing.T) {
	a := of(t, link(100, 100*ms, retry(2, presets.EnvoyMaxRetries()), timeout(time.Second)))
	text := legend(t, a, a)
	for _, want := range []string{"binds above", "[retry-cap]", "with budgets", "if it hangs"} {
		if strings.Count(text, "\n"+want) == 0 {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Count(text, "[retry-cap]") != 1 || strings.Contains(text, "opens fresh") || strings.Contains(text, "[overload]") {
		t.Errorf("too much in\n%s", text)
	}
}

// Opening times that chance moves have a sign, which the legend explains.
func TestRoughTimesHaveASign(t *testing.T) {
	c := link(10, 50*ms, breaker(last(20, 20, 0.5)), timeout(time.Second))
	exact := of(t, c)
	c.Clients[0].Arrivals.Kind = model.Poisson
	rough := of(t, c)
	for _, tc := range []struct {
		e     *explain.Explanation
		words string
	}{{exact, "1.95s        950ms    1.95s   2.9s        1.9s          never\n"}, {rough, "≈1.95s       ≈950ms   ≈1.95s  ≈2.9s       ≈1.9s         never\n"}} {
		var b strings.Builder
		if err := tc.e.WriteText(&b); err != nil || !strings.Contains(b.String(), tc.words) {
			t.Errorf("%v, want %q in\n%s", err, tc.words, b.String())
		}
	}
	if text := legend(t, exact); strings.Contains(text, "≈") {
		t.Errorf("nothing is rough in\n%s", text)
	}
	if text := legend(t, exact, rough, exact); strings.Count(text, "\n≈ ") != 1 || strings.Count(text, "\nopens fresh ") != 1 {
		t.Errorf("want a line for the sign in\n%s", text)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	e := of(t, link(10, 50*ms))
	if err := e.WriteText(full{}); !errors.Is(err, errFull) {
		t.Errorf("the text: %v", err)
	}
	if err := explain.WriteLegend(full{}, e); !errors.Is(err, errFull) {
		t.Errorf("the legend: %v", err)
	}
}
