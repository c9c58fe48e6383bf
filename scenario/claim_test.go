package scenario

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

// aWorld is a shop with a stock of which two links share a breaker.
func aWorld() *world {
	stock := model.Call{To: "stock", Stack: model.Stack{{Breaker: &model.BreakerLayer{Share: "guard"}}}}
	return new(builder).world(model.Config{
		Nodes:   []model.Node{{Name: "shop", Steps: []model.Step{{Calls: []model.Call{stock, stock}}}}, {Name: "stock"}},
		Clients: []model.Client{{Name: "web", Steps: []model.Step{{Calls: []model.Call{{To: "shop"}}}}}},
		Horizon: time.Hour,
	})
}

func FuzzClaim(f *testing.F) {
	for _, text := range []string{
		"success_ratio{client=web} >= 0.99 after 60s in 95% of replications", "openings{breaker=shop-stock} == 0",
		"amplification{node=stock} within 1.31..1.34", "latency_p99.9 <= 1.1s", "calls{node=stock} == 40 before opening of guard",
		"recovery_time <= never after 1s until 2m per 500ms", "goodput > 50/s in all of replications", "attempts{link=shop-stock#2} != 1000",
	} {
		f.Add(text)
	}
	w := aWorld()
	f.Fuzz(func(t *testing.T, text string) {
		c := Claim{Text: text}
		s, err := c.parse(w)
		if err != nil {
			return
		}
		known := len(w.entities(s.metric.of))
		if s.metric.of == "link" {
			known = len(w.subjects)
		}
		end := s.until
		if end == 0 {
			end = w.horizon
		}
		if s.entity >= known || s.opening >= len(w.subjects) || s.after < 0 || s.after >= end || end > w.horizon ||
			math.IsNaN(s.low) || math.IsNaN(s.high) || s.op == "within" && s.low > s.high || s.share < 0 || s.share > 1 ||
			s.metric.series != (s.per > 0) || s.quantile < 0 || s.quantile > 1 {
			t.Errorf("%q is %+v", text, s)
		}
		s.judge([]float64{0, math.NaN(), math.Inf(1), s.low, s.high})
		if v := s.judge([]float64{math.NaN()}); v.Status == Holds {
			t.Errorf("%q holds of nothing", text)
		}
	})
}

func TestClaims(t *testing.T) {
	for text, want := range map[string]string{
		"success_ratio >= 99%": "",
		"success_ratio{client=web} >= 0.99 after 60s in 95% of replications": "",
		"success_ratio\n  >= 99%\n":                             "",
		"openings{breaker=guard} == 0":                          "",
		"attempts{link=shop-stock#2} == 1000":                   "",
		"attempts{link=shop-stock#2} == 1,000":                  "without commas",
		"success_ratio >= 0,99":                                 "without commas",
		"calls_max{node=stock} < 5 after 1500ms":                "after 1.5s, want a multiple of per 1s",
		"calls_max{node=stock} < 5 until 2s per 300ms":          "until 2s, want a multiple of per 300ms",
		"latency_p99 <= 1s before opening of shop-stock":        "want no before",
		"amplification{node=stock} within 1.31..1.34":           "",
		"calls{node=stock} == 40 before opening of shop-stock":  "",
		"first_opening{link=web-shop} > never":                  "",
		"calls_max{node=stock} < 5 after 1s until 2s per 100ms": "",
		"latency_p99.9 <= 1.1s":                                 "",
		"goodput >= 50/s":                                       "",
		"goodput >= 50":                                         "",
		"":                                                      "is no claim",
		"success_ratio":                                         "is no claim",
		"success_ratio => 1":                                    "is no claim",
		"success_ratoi >= 1":                                    `did you mean "success_ratio"?`,
		"latency_p101 <= 1s":                                    "want a percentile",
		"latency_p99 <= 1":                                      "has no unit",
		"latency_p99 <= 1s after 5s":                            "",
		"present_max{node=stock} <= 1 after 5s":                 "is of the whole run",
		"success_ratio{client=app} >= 1":                        `there is no client "app"`,
		"success_ratio{node=web} >= 1":                          `label "node" of success_ratio, want client`,
		"success_ratio{web} >= 1":                               "want NAME=VALUE such as client=web",
		"success_ratio{client=web,client=web} >= 1":             "want one",
		"calls == 1":                                            "want {node=NAME}; known: shop, stock",
		"success_ratio >= high":                                 "want a number or a percentage",
		"success_ratio >= NaN":                                  "want a number or a percentage",
		"goodput >= Inf":                                        "want a rate such as 50/s",
		"goodput >= 50/day":                                     "is no rate",
		"success_ratio within 1":                                "want a range",
		"success_ratio within 1..0":                             "want the lower end first",
		"success_ratio >= 1 after 1h":                           "after 1h0m0s, want less than the horizon",
		"success_ratio >= 1 until 2h":                           "until 2h0m0s, want at most the horizon",
		"success_ratio >= 101%":                                 "want at most 1",
		"calls{node=shop} >= -1":                                "want 0 or more",
		"calls{node=shop} == never":                             "want a number",
		"latency_mean <= never":                                 "is no duration",
		"success_ratio >= 1 after 60s until 60s":                "want more than after",
		"success_ratio >= 1 until 0s":                           "want more than after",
		"success_ratio >= 1 after 60s after 70s":                "after is given twice",
		"success_ratio >= 1 after lunch":                        "is no duration",
		"success_ratio >= 1 per 1s":                             "has no intervals",
		"calls_max{node=shop} >= 1 per 0s":                      "want more",
		"calls_max{node=shop} >= 1 before opening of guard":     "is of intervals",
		"calls{node=shop} >= 1 before opening of shop":          "there is no link",
		"success_ratio >= 1 in 0% of replications":              "above 0%",
		"success_ratio >= 1 in 101% of replications":            "above 0%",
		"success_ratio >= 1 in 95%":                             "want such as in 95% of replications",
		"success_ratio >= 1 please":                             "want a number or a percentage",
	} {
		c := Claim{Text: text}
		_, err := c.parse(aWorld())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// What becomes of a claim, by the values of its replications.
func TestJudge(t *testing.T) {
	nan, never := math.NaN(), math.Inf(1)
	for _, tc := range []struct {
		claim  string
		values []float64
		want   Status
	}{
		{"requests == 5", []float64{5}, Holds},
		{"requests == 5", []float64{4}, Fails},
		{"requests == 5", []float64{5, 5, 5}, Holds},
		{"requests == 5", []float64{4, 5, 6}, Undecided},
		{"requests == 5", []float64{7, 8, 9}, Fails},
		{"latency_mean == 900ms", []float64{0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9}, Holds},
		{"requests != 5", []float64{5}, Fails},
		{"requests != 5", []float64{7, 8, 9}, Holds},
		{"requests >= 5", []float64{5, 6, 7, 6}, Undecided},
		{"requests >= 5", []float64{8, 9, 8, 9}, Holds},
		{"requests >= 5", []float64{1, 2, 1, 2}, Fails},
		{"requests > 5", []float64{5}, Fails},
		{"requests < 5", []float64{5}, Fails},
		{"requests within 4..6", []float64{5, 5.1, 4.9}, Holds},
		{"requests within 4..6", []float64{4, 6, 5}, Undecided},
		{"requests within 4..6", []float64{8, 9, 8.5}, Fails},
		{"requests >= 5 in all of replications", []float64{5, 6, 7}, Holds},
		{"requests >= 5 in all of replications", []float64{5, 6, 4}, Fails},
		{"requests >= 5 in 50% of replications", []float64{5, 6, 7, 8, 9, 9}, Holds},
		{"requests >= 5 in 50% of replications", []float64{5, 6, 4, 4}, Undecided},
		{"requests >= 5 in 90% of replications", []float64{1, 1, 1, 1}, Fails},
		{"recovery_time <= 1s", []float64{never}, Fails},
		{"recovery_time == never", []float64{never}, Holds},
		{"recovery_time <= 1s", []float64{0.5, never}, Fails},
		{"requests >= 5", []float64{nan}, Fails},
		{"requests == 5", []float64{nan}, Fails},
		{"requests != 5", []float64{nan, nan}, Fails},
		{"requests within 4..6", []float64{nan, nan}, Fails},
		{"requests != 5", []float64{nan, 6}, Undecided},
		{"requests within 4..6", []float64{nan, 5}, Undecided},
		{"requests >= 5 in all of replications", []float64{nan, nan}, Fails},
	} {
		c := Claim{Text: tc.claim}
		s, err := c.parse(aWorld())
		if err != nil {
			t.Fatal(err)
		}
		if v := s.judge(tc.values); v.Status != tc.want {
			t.Errorf("%s of %v: %s, want %s", tc.claim, tc.values, v.Status, tc.want)
		}
	}
}

// A claim about a policy that is nowhere is refused; where only some cases have
// it, the others say that they lack it.
func TestClaimsAboutNothing(t *testing.T) {
	const file = `
horizon: 1s
nodes: {b: {}}
clients: {web: {arrivals: 10/s, calls: [b]}}
claims: [%s]
`
	for claim, want := range map[string]string{
		"openings == 0": "web-b has no breaker", "denied == 0": "web-b has no budget", "limited == 0": "web-b has no limit",
		"retries == 0": "web-b has no retry", "timed_out == 0": "web-b has no timeout", "writes == 0": "b has no writes",
		"calls >= 1 before opening of web-b": "web-b has no breaker",
	} {
		_, err := Parse("x.yaml", fmt.Appendf(nil, file, claim))
		if err == nil || !strings.Contains(err.Error(), "x.yaml:5:10: claims[0]: "+want) {
			t.Errorf("%s: %v, want %s", claim, err, want)
		}
	}
	throttled := strings.Replace(fmt.Sprintf(file, "openings == 0"), "calls: [b]", "calls: [{to: b, stack: [breaker: google-sre]}]", 1)
	if _, err := Parse("x.yaml", []byte(throttled)); err == nil || !strings.Contains(err.Error(), "web-b has no breaker that opens") {
		t.Errorf("a throttle: %v", err)
	}
	some := fmt.Sprintf(file, "openings == 0") + "variants: {with: {set: {'clients.web.calls[0]': {to: b, stack: [breaker: gobreaker]}}}}\n"
	reports := reportsOf(t, some, 1)
	if first, second := reports[0].Verdicts[0].Notes, reports[1].Verdicts[0].Notes; len(first) != 1 || first[0] != "web-b has no breaker that opens" || len(second) != 0 {
		t.Errorf("notes %q and %q", first, second)
	}
}

// Equal durations have that duration as their mean and quantile.
func TestExactDurations(t *testing.T) {
	for _, r := range reportsOf(t, `
horizon: 100s
replications: 7
nodes: {b: {service: 900ms}, c: {service: 400ms, faults: [{slow: 3, from: 98s}]}}
clients: {web: {arrivals: 7/s, calls: [b]}, app: {arrivals: 50/s, calls: [c]}}
claims: ["latency_mean{client=web} == 900ms", "latency_p99.9{client=web} == 900ms", "latency_p90{client=app} == 400ms", "latency_p100{client=app} == 1.2s"]
`, 1) {
		for _, v := range r.Verdicts {
			if v.Status != Holds {
				t.Errorf("%s: %s, measured %s", v.Claim, v.Status, v.Measured())
			}
		}
	}
}
