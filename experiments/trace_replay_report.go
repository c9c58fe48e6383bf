package experiments

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/table"
)

// report gives one table of incidents against policies, and one of openings
// outside a node's own incidents.
func (rp replay) report(r *Result) []table.Text {
	var texts []table.Text
	for _, arrivals := range r.Plan.level("arrivals") {
		for _, rate := range r.Plan.level("rate_rps") {
			shared := map[string]string{"arrivals": arrivals, "rate_rps": rate}
			if len(rp.incidents) > 0 {
				texts = append(texts, rp.noticedText(r, shared))
			} else {
				texts = append(texts, rp.firstText(r, shared))
			}
			texts = append(texts, rp.outsideText(r, shared))
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
		rate, errors, p90 := rp.worst(i, shared["rate_rps"])
		row := []string{i.Node, i.Kind, clock(i.Start), short(rate, 1), fixed(100*errors, 1) + " %", millis(p90)}
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
	t.Notes = append(legend, Blank+" never noticed.")
	if r.done < r.Plan.Jobs() {
		t.Notes = append(t.Notes, "? not measured: the run was cut short.")
	}
	return t
}

// noticedCell renders "412", or "412 (30 %)" if only some replications noticed.
func noticedCell(delay Stat) string {
	switch {
	case !delay.Applies():
		return "?"
	case delay.N == 0:
		return Blank
	case delay.Censored == 0:
		return brief(delay.Mean)
	}
	return fmt.Sprintf("%s (%.0f %%)", brief(delay.Mean), 100*float64(delay.N)/float64(delay.N+delay.Censored))
}

// worst returns the mean rate and the highest error ratio and 90 % latency of
// an incident's records; fallback is the rate where the trace states none.
func (rp replay) worst(i model.Incident, fallback string) (rate, errors, p90 float64) {
	missing, _ := parseNumber(fallback) // a level of the factor, so a number
	n := 0.0
	p90 = math.NaN()
	for _, s := range rp.segments(i.Node, missing) {
		if s.Start >= i.End || s.End <= i.Start {
			continue
		}
		n++
		rate += s.RateRPS.Value
		errors = max(errors, s.ErrorRatio)
		if s.LatencyP90.Known && !(p90 >= s.LatencyP90.Value.Seconds()) {
			p90 = s.LatencyP90.Value.Seconds()
		}
	}
	return rate / max(n, 1), errors, p90
}

// brief renders a delay in seconds: tenths below 100 s, hundredths below 10 s.
func brief(s float64) string {
	switch {
	case s < 10:
		return fixed(s, 2)
	case s < 100:
		return fixed(s, 1)
	}
	return fixed(s, 0)
}

// millis renders seconds as milliseconds.
func millis(s float64) string {
	if math.IsNaN(s) {
		return Blank
	}
	return short(1000*s, 0) + " ms"
}

// clock writes a time since the beginning as h:mm:ss, rounded.
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
}

// firstText says when each breaker opened first at each node, whatever the
// reason.
func (rp replay) firstText(r *Result, shared map[string]string) table.Text {
	policies := r.Plan.level("policy")
	letters, legend := policyLetters(policies)
	t := table.Text{
		Caption: fmt.Sprintf("First opening at each node%s: h:mm:ss since the trace began, mean of %s, and share that opened if not all", rp.title(r, shared), r.replications()),
		Header:  append([]string{"node"}, letters...),
		Left:    1,
	}
	for _, node := range r.Plan.level("node") {
		row := []string{node}
		for _, p := range policies {
			row = append(row, rp.firstCell(r, and(shared, "node", node, "policy", p)))
		}
		t.Append(row...)
	}
	t.Notes = append(legend, "The trace labels no incidents (column injected), so none can be noticed or missed.")
	return t
}

// firstCell takes the earliest episode of each replication.
func (rp replay) firstCell(r *Result, want map[string]string) string {
	earliest := map[int]float64{}
	for i, c := range r.Plan.Cells {
		if !c.has(want) {
			continue
		}
		for rep, v := range r.Values(i, "first_opening_s") {
			if old, seen := earliest[rep]; !math.IsInf(v, 1) && (!seen || v < old) {
				earliest[rep] = v
			}
		}
	}
	if len(earliest) == 0 {
		return Blank
	}
	sum := 0.0
	for _, rep := range slices.Sorted(maps.Keys(earliest)) {
		sum += earliest[rep]
	}
	text := clock(seconds(sum / float64(len(earliest))))
	if n := r.Measured(); len(earliest) < n {
		text += fmt.Sprintf(" (%.0f %%)", 100*float64(len(earliest))/float64(n))
	}
	return text
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
	if len(rp.incidents) == 0 {
		words[quiet] = "no incident is labelled"
	}
	t.Notes = append(t.Notes, "The window is emptied at an opening, so a lasting fault opens it again and again.")
	for _, node := range r.Plan.level("node") {
		observed := rp.observed(node)
		for _, episode := range []string{elsewhere, quiet} {
			if observed[episode] == 0 {
				continue
			}
			row := []string{node, words[episode], fixed(observed[episode].Hours(), 2)}
			for _, p := range policies {
				s, ok := r.Lookup(and(shared, "node", node, "episode", episode, "policy", p), "openings_count")
				if !ok {
					row = append(row, Blank)
					continue
				}
				row = append(row, short(s.Mean, 2))
			}
			t.Append(row...)
		}
	}
	return t
}
