package experiments

import (
	"fmt"
	"math"

	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/table"
)

func reportMeshRetryCap(r *Result) []table.Text {
	t := table.Text{
		Caption: "Concurrent retries under a limit, every call fails: means of " + r.replications(),
		Header:  []string{"limit", "clients", "failure after ms", "attempts per request", "retries", "article", "overflow", "article", "split", "requests retried"},
		Left:    1,
	}
	for i, c := range r.Plan.Cells {
		per, retries, over := r.Stat(i, "amplification_ratio"), r.Stat(i, "retries_count"), r.Stat(i, "overflow_count")
		label := r.Plan.column("limit").Label(c.Text("limit"))
		t.Append(label+r.Plan.varying(c, "limit", "clients", "failure_ms"), c.Text("clients"), c.Text("failure_ms"),
			meanCI(per, 3), meanCI(retries, 1), article(retries, 0), meanCI(over, 1), article(over, 0),
			short(r.Stat(i, "split_count").Mean, 1), fixed(100*r.Stat(i, "retried_ratio").Mean, 1)+" %")
	}
	t.Notes = append(t.Notes, "Requests: clients × requests_per_client in one pool, from which the clients take until it is empty. Overflow: requests that failed because the limit refused a retry.")
	t.Notes = append(t.Notes, "Two retries each: retries ÷ 2 + overflow = requests + split ÷ 2. Split requests got their first retry, then lost the place: only a share can shrink.")
	t.Notes = append(t.Notes, capPlaces(r)...)
	t.Notes = append(t.Notes, capAgainstShare(r)...)
	return []table.Text{t}
}

// capPlaces says in words how many places a share gives where it differs from
// its floor.
func capPlaces(r *Result) []string {
	var notes []string
	for _, level := range r.Plan.level("limit") {
		s, others, err := parseLimit(level)
		if err != nil || s.budget.Kind != policies.BudgetShare {
			continue
		}
		for _, clients := range r.Plan.level("clients") {
			n, _ := parseNumber(clients)
			if others {
				n--
			}
			share, floor := s.budget.Share.Share, s.budget.Share.Floor
			places := math.Floor(share*n + 1e-9)
			text := fmt.Sprintf("%s %% of %s requests in flight are %s places", percentText(share), formatNumber(n), formatNumber(places))
			if places > float64(floor) {
				text += fmt.Sprintf(", not %d: the share follows the traffic, a fixed cap does not", floor)
			} else {
				text += fmt.Sprintf(": the floor of %d decides, and the share is a fixed cap", floor)
			}
			notes = append(notes, text+".")
		}
	}
	return notes
}

// capAgainstShare compares the first cap that binds with the first share, at
// each number of clients.
func capAgainstShare(r *Result) []string {
	var notes []string
	for i, c := range r.Plan.Cells {
		s, _, err := parseLimit(c.Text("limit"))
		if err != nil || s.budget.Kind != policies.BudgetConcurrent || float64(s.budget.Concurrent) >= c.Float("clients") {
			continue
		}
		for _, level := range r.Plan.level("limit") {
			share, _, err := parseLimit(level)
			if err != nil || share.budget.Kind != policies.BudgetShare {
				continue
			}
			k := r.Find(c.with("limit", level))
			a, b := r.Stat(i, "amplification_ratio").Mean, r.Stat(k, "amplification_ratio").Mean
			notes = append(notes, fmt.Sprintf("%s clients, failure after %s ms: %s makes %s attempts per request, %s makes %s%s.",
				c.Text("clients"), c.Text("failure_ms"), s, short(a, 3), share, short(b, 3), r.Plan.varying(c, "limit", "clients", "failure_ms")))
			break
		}
	}
	return notes
}
