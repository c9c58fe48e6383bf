package experiments

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/table"
)

// report gives one table of incidents against policies, and one of openings
// outside a node's own incidents.
func (rp replay) report(r *Result) []table.Text {
	var texts []table.Text
	for _, arrivals := range r.Plan.level("arrivals") {
		for _, rate := range r.Plan.level("rate_rps") {
			shared := map[string]string{"arrivals": arrivals, "rate_rps": rate}
			texts = append(texts, rp.noticedText(r, shared), rp.outsideText(r, shared))
		}
	}
	return texts
}

// and adds name–level pairs to shared ones.
func and(shared map[string]string, pairs ...string) map[string]string {
	all := maps.Clone(shared)
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

// title names the shared levels if there are several.
func (rp replay) title(r *Result, shared map[string]string) string {
	return r.Plan.varying(r.Plan.Cells[r.Find(shared)], "node", "episode", "policy")
}

// policyLetters numbers the policies A, B, C … for narrow columns.
func policyLetters(policies []string) (letters, legend []string) {
	for i, p := range policies {
		letter := string(rune('A' + i%26))
		if i >= 26 {
			letter += strconv.Itoa(i / 26)
		}
		spec, err := parsePolicy(p)
		if err != nil {
			panic(err) // the factor's check accepted it
		}
		letters = append(letters, letter)
		legend = append(legend, fmt.Sprintf("  %s  %s  (%s)", letter, spec, p))
	}
	return letters, legend
}

func (rp replay) noticedText(r *Result, shared map[string]string) table.Text {
	policies := r.Plan.level("policy")
	letters, legend := policyLetters(policies)
	t := table.Text{
		Caption: fmt.Sprintf("Incidents noticed%s: mean delay in s, and share of %s in which the breaker opened if not all", rp.title(r, shared), r.replications()),
		Header:  append([]string{"node", "injected", "at", "calls/s", "worst errors", "worst p90"}, letters...),
		Left:    3,
	}
	noticed := make([]int, len(policies))
	incidents := 0
	for _, i := range rp.incidents {
		if r.Find(map[string]string{"node": i.Node, "episode": episodeName(i)}) < 0 {
			continue // not among the levels chosen
		}
		incidents++
		rate, errors, p90 := rp.worst(i.Node, i.Start, i.End)
		row := []string{i.Node, i.Kind, clock(i.Start), short(rate, 1), fixed(100*errors, 1) + " %", short(1000*p90, 0) + " ms"}
		for k, p := range policies {
			delay, _ := r.Lookup(and(shared, "node", i.Node, "episode", episodeName(i), "policy", p), "detection_delay_s")
			row = append(row, noticedCell(delay))
			if 2*delay.N > delay.N+delay.Censored {
				noticed[k]++
			}
		}
		t.Append(row...)
	}
	total := []string{"noticed in most replications", "", "", "", "", ""}
	for _, n := range noticed {
		total = append(total, fmt.Sprintf("%d/%d", n, incidents))
	}
	t.Append(total...)
	t.Notes = append(legend, blank+" never noticed.")
	return t
}

// noticedCell renders "412", or "412 (30 %)" if only some replications noticed.
func noticedCell(delay Stat) string {
	switch {
	case delay.N == 0:
		return blank
	case delay.Censored == 0:
		return fixed(delay.Mean, 0)
	}
	return fmt.Sprintf("%s (%.0f %%)", fixed(delay.Mean, 0), 100*float64(delay.N)/float64(delay.N+delay.Censored))
}

// worst returns the mean rate and the highest error ratio and 90 % latency of
// a node's records from start to end.
func (rp replay) worst(node string, start, end time.Duration) (rate, errors, p90 float64) {
	n := 0.0
	for _, s := range rp.trace.Segments(node) {
		if s.Start >= end || s.End <= start {
			continue
		}
		n++
		rate += s.RateRPS.Value
		errors = max(errors, s.ErrorRatio)
		p90 = max(p90, s.LatencyP90.Value.Seconds())
	}
	return rate / max(n, 1), errors, p90
}

// clock writes a time since the beginning as h:mm.
func clock(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Hours()), int(d.Minutes())%60)
}

func (rp replay) outsideText(r *Result, shared map[string]string) table.Text {
	policies := r.Plan.level("policy")
	letters, _ := policyLetters(policies)
	t := table.Text{
		Caption: fmt.Sprintf("Openings outside a node's own incidents%s: means of %s", rp.title(r, shared), r.replications()),
		Header:  append([]string{"node", "while", "observed h"}, letters...),
		Left:    2,
	}
	words := map[string]string{elsewhere: "an incident is on elsewhere", quiet: "no incident is on (false trips)"}
	for _, node := range r.Plan.level("node") {
		observed := rp.observed(node)
		for _, episode := range []string{elsewhere, quiet} {
			if observed[episode] == 0 {
				continue
			}
			row := []string{node, words[episode], fixed(observed[episode].Hours(), 1)}
			for _, p := range policies {
				s, ok := r.Lookup(and(shared, "node", node, "episode", episode, "policy", p), "openings_count")
				if !ok {
					row = append(row, blank)
					continue
				}
				row = append(row, short(s.Mean, 2))
			}
			t.Append(row...)
		}
	}
	return t
}
