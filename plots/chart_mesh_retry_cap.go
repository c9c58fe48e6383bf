package plots

import (
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/table"
)

func init() { charts["mesh-retry-cap"] = drawMeshRetryCap }

// drawMeshRetryCap shows the attempts that each limit lets through, one panel
// for each number of clients.
func drawMeshRetryCap(summary *table.Table, _ []*table.Table) ([]Drawing, error) {
	var drawings []Drawing
	for _, g := range groups(summary, "limit", "failure_ms", "clients") {
		f := &Figure{
			Title:    retryCapTitle(summary, g),
			Subtitle: "Every call fails; two retries unless the proxy's limit on concurrent retries refuses" + g.title(),
			Note:     " · whiskers: 95 % intervals of the mean (Student t)",
			Columns:  2, ShareX: true, ShareY: true,
		}
		articles := false
		for _, clients := range summary.Levels("clients") {
			rows := g.rows("clients", clients)
			if len(rows) == 0 {
				continue
			}
			p := Panel{Title: clients + " clients", X: Axis{Label: "attempts per request"}}
			e, ref := Estimates{Label: "attempts", Horizontal: true}, Reference{Label: "article"}
			var refused []string
			for i, r := range rows {
				p.Y.Rows = append(p.Y.Rows, summary.Label(r, "limit")+"\nfailure after "+summary.Key(r, "failure_ms")+" ms")
				e.Points = append(e.Points, Estimate{
					At: float64(i), Style: capStyle(summary.Key(r, "limit")),
					Mean: summary.Value(r, "amplification_ratio_mean"),
					Lo:   summary.Value(r, "amplification_ratio_ci95_lo"), Hi: summary.Value(r, "amplification_ratio_ci95_hi"),
				})
				requests := number(clients) * number(summary.Key(r, "requests_per_client"))
				if v := summary.Value(r, "retries_count_article"); v == v {
					ref.X, ref.Y = append(ref.X, 1+v/requests), append(ref.Y, float64(i))
				}
				refused = append(refused, compact(100*summary.Value(r, "overflow_count_mean")/requests, 1)+" %")
			}
			p.Marks = []Mark{Rule{At: 1, Vertical: true}, e}
			if len(ref.X) > 0 {
				p.Marks, articles = append(p.Marks, ref), true
			}
			p.Columns = []Column{{"requests\nrefused a retry", refused}}
			f.Panels = append(f.Panels, p)
		}
		if len(f.Panels) == 1 {
			f.Columns = 1
		}
		if articles {
			f.Key = []KeyItem{{KeyReference, Style{}, "article, one run"}}
		}
		drawings = append(drawings, Drawing{g.suffix(), f})
	}
	return drawings, nil
}

// capStyle is that of a cap or of a share of the calls in flight.
func capStyle(limit string) Style {
	if strings.HasPrefix(limit, "share-") {
		return Budget.Member(0)
	}
	return FixedRetry.Member(1)
}

// retryCapTitle compares the tightest cap with the share, at the fewest and at
// the most clients, for the slowest failure.
func retryCapTitle(summary *table.Table, g group) string {
	value := func(limit, clients, failure string) (float64, bool) {
		for _, r := range g.rows("limit", limit) {
			if summary.Key(r, "clients") == clients && summary.Key(r, "failure_ms") == failure {
				return summary.Value(r, "amplification_ratio_mean"), true
			}
		}
		return 0, false
	}
	limits, clients, failures := summary.Levels("limit"), summary.Levels("clients"), summary.Levels("failure_ms")
	failure := failures[len(failures)-1]
	tightest, share := "", ""
	for _, l := range limits {
		if strings.HasPrefix(l, "share-") {
			if share == "" {
				share = l
			}
		} else if tightest == "" {
			tightest = l
		}
	}
	var parts []string
	for _, n := range clients {
		a, ok := value(tightest, n, failure)
		b, ok2 := value(share, n, failure)
		if ok && ok2 {
			what := "%s against %s with %s"
			if len(parts) == 0 {
				what = "%s against %s attempts per request with %s clients"
			}
			parts = append(parts, fmt.Sprintf(what, compact(a, 2), compact(b, 2), n))
		}
	}
	if len(parts) == 0 {
		r := g.members[0]
		return fmt.Sprintf("A limit of %s on concurrent retries lets %s attempts per request through", summary.Label(r, "limit"), compact(summary.Value(r, "amplification_ratio_mean"), 2))
	}
	return fmt.Sprintf("A fixed cap on concurrent retries does not grow with the traffic, a share does: %s", strings.Join(parts, ", "))
}
