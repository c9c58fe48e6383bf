package traffic

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/table"
)

// How many stretches, and trips of a breaker, are told in words.
const (
	most      = 10
	mostTrips = 3
)

// Write says in words what the breakers would have done, and in a table what
// that comes to.
func (r *Replay) Write(w io.Writer) error {
	var b strings.Builder
	t := r.Traffic
	switch {
	case r.Drawn > 0:
		fmt.Fprintf(&b, "Only rates were recorded: calls are drawn %d times (seed %d). Numbers are medians, with the 5 %% to 95 %% of the draws.\n", r.Drawn, r.Seed)
	default:
		fmt.Fprintf(&b, "%d recorded calls; those that a breaker refuses are not made, so it does not learn of their outcome.\n", len(t.Calls))
	}
	if len(r.Stretches) == 0 {
		b.WriteString("No stretch of failures.\n")
	}
	for i, s := range r.Stretches {
		if i == most {
			fmt.Fprintf(&b, "... and %d more stretches of failures\n", len(r.Stretches)-most)
			break
		}
		fmt.Fprintf(&b, "failures %d: %s to %s (%v)\n", i+1, t.At(s.Start), t.At(s.End), round(s.End-s.Start))
	}
	b.WriteByte('\n')
	for plays := range r.byBreaker() {
		if r.Drawn > 0 {
			r.drawn(&b, plays)
		} else {
			r.recorded(&b, &plays[0])
		}
	}
	if _, err := io.WriteString(w, b.String()+"\n"); err != nil {
		return err
	}
	return r.summary().Write(w)
}

// byBreaker yields the plays of each breaker.
func (r *Replay) byBreaker() func(yield func([]Play) bool) {
	return slices.Chunk(r.Plays, max(1, r.Drawn))
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// recorded tells the trips of a breaker.
func (r *Replay) recorded(b *strings.Builder, p *Play) {
	t := r.Traffic
	if len(p.Trips) == 0 {
		fmt.Fprintf(b, "%s would not have opened%s\n", p.Breaker, refusals(", but refused %d calls, of which %d would have succeeded", p.Refused, p.Good))
		return
	}
	for i, o := range p.Trips {
		if i == mostTrips {
			fmt.Fprintf(b, "%s would have opened %d more times\n", p.Breaker, len(p.Trips)-mostTrips)
			break
		}
		fmt.Fprintf(b, "%s would have opened at %s (%s), refused %d calls of which %d would have succeeded, ", p.Breaker, t.At(o.At), r.after(o), o.Refused, o.Good)
		switch {
		case o.Reopened == 1:
			b.WriteString("opened again once, ")
		case o.Reopened > 1:
			fmt.Fprintf(b, "opened again %d times, ", o.Reopened)
		}
		if o.Closed.Known {
			fmt.Fprintf(b, "closed at %s (+%v)\n", t.At(o.Closed.Value), round(o.Closed.Value-o.At))
		} else {
			fmt.Fprintf(b, "not closed by the end of the recording, %s\n", t.At(t.End()))
		}
	}
	if missed := r.missed(p); missed != "" {
		fmt.Fprintf(b, "%s would not have opened in failures %s\n", p.Breaker, missed)
	}
}

func refusals(format string, refused, good int) string {
	if refused == 0 {
		return ""
	}
	return fmt.Sprintf(format, refused, good)
}

// after says when an opening came, seen from the failures.
func (r *Replay) after(o Trip) string {
	if o.Stretch < 0 {
		return "outside of the failures: for nothing"
	}
	return fmt.Sprintf("+%v after failures %d began", round(o.At-r.Stretches[o.Stretch].Start), o.Stretch+1)
}

// missed lists the stretches in which a breaker was never open.
func (r *Replay) missed(p *Play) string {
	var list []string
	for i, s := range r.Stretches {
		open := slices.ContainsFunc(p.Trips, func(o Trip) bool {
			return o.At <= s.End && (!o.Closed.Known || o.Closed.Value > s.Start)
		})
		if !open && len(list) < most {
			list = append(list, strconv.Itoa(i+1))
		}
	}
	return strings.Join(list, ", ")
}

// first returns the first trip in a stretch.
func (p *Play) first(stretch int) (Trip, bool) {
	for _, o := range p.Trips {
		if o.Stretch == stretch {
			return o, true
		}
	}
	return Trip{}, false
}

// drawn tells the first trip in each stretch.
func (r *Replay) drawn(b *strings.Builder, plays []Play) {
	t := r.Traffic
	if !slices.ContainsFunc(plays, func(p Play) bool { return len(p.Trips) > 0 }) {
		fmt.Fprintf(b, "%s would not have opened in any draw\n", plays[0].Breaker)
		return
	}
	for i, s := range r.Stretches {
		if i == most {
			break
		}
		var at []time.Duration
		var delay, refused, good, closed []float64
		for k := range plays {
			o, ok := plays[k].first(i)
			if !ok {
				continue
			}
			at = append(at, o.At)
			delay = append(delay, (o.At - s.Start).Seconds())
			refused = append(refused, float64(o.Refused))
			good = append(good, float64(o.Good))
			if o.Closed.Known {
				closed = append(closed, (o.Closed.Value - s.Start).Seconds())
			}
		}
		if len(at) == 0 {
			fmt.Fprintf(b, "%s would not have opened in failures %d in any draw\n", plays[0].Breaker, i+1)
			continue
		}
		slices.Sort(at)
		ended := "not closed by the end of the recording in any draw"
		if len(closed) > 0 {
			ended = fmt.Sprintf("closed +%s s after failures %d began in %d draws", spread(closed), i+1, len(closed))
		}
		fmt.Fprintf(b, "%s would have opened at %s (+%s s after failures %d began) in %d of %d draws, refused %s calls of which %s would have succeeded, %s\n",
			plays[0].Breaker, t.At(round(quantile(at, 50))), spread(delay), i+1, len(at), len(plays), spread(refused), spread(good), ended)
	}
}

// spread is a median with its interval.
func spread(values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	sorted := slices.Sorted(slices.Values(values))
	m, lo, hi := quantile(sorted, 50), quantile(sorted, 5), quantile(sorted, 95)
	if lo == hi {
		return fmt.Sprintf("%.6g", m)
	}
	return fmt.Sprintf("%.6g [%.6g, %.6g]", m, lo, hi)
}

// summary adds up what each breaker would have done.
func (r *Replay) summary() *table.Text {
	text := &table.Text{
		Header: []string{"breaker", "openings", "reopenings", "for nothing", "refused", "would have succeeded", "would have failed", "failures left", "open (s)"},
		Left:   1,
	}
	for plays := range r.byBreaker() {
		cells := make([][]float64, len(text.Header)-1)
		for _, p := range plays {
			spared := p.Refused - p.Good
			for i, v := range []float64{
				float64(p.Openings), float64(p.Reopenings), float64(p.Outside), float64(p.Refused), float64(p.Good),
				float64(spared), float64(p.Failed - spared), math.Round(p.OpenTime.Seconds()*1000) / 1000,
			} {
				cells[i] = append(cells[i], v)
			}
		}
		row := []string{plays[0].Breaker}
		for _, c := range cells {
			row = append(row, spread(c))
		}
		text.Append(row...)
	}
	text.Notes = append(text.Notes,
		"openings: all changes to open; reopenings: those of them from half-open; for nothing: those outside of the failures",
		"open: up to the end of the recording, "+r.Traffic.At(r.Traffic.End()),
		"refused calls are taken out; what the callee would have done with less load is not known",
		"one breaker sees all calls; where several instances call, each has one of its own: replay the calls of one instance",
		"failures left: failed calls that the breaker would have let through")
	return text
}

// Table has a row for each trip, and one for each stretch of failures in which
// a breaker did not open. Times are seconds since the Epoch of the traffic; what
// has not come about is empty.
func (r *Replay) Table() *table.Table {
	t := table.New("replay",
		[]table.Column{
			{Name: "breaker"}, {Name: "replication"},
			{Name: "failures", Doc: "number of the stretch of failures in which it opened or should have; empty if in none"},
		},
		[]table.Column{
			{Name: "failures_began_s"}, {Name: "opened_s"}, {Name: "delay_s", Doc: "from the beginning of the failures"},
			{Name: "closed_s", Doc: "empty if not by the end of the recording"},
			{Name: "openings_count", Doc: "changes to open until it closed"}, {Name: "reopenings_count", Doc: "those of them from half-open"},
			{Name: "refused_count"}, {Name: "refused_good_count", Doc: "refused calls that would have succeeded"},
		})
	nan := math.NaN()
	for _, p := range r.Plays {
		replication := strconv.Itoa(p.Replication)
		for _, o := range p.Trips {
			stretch, began, closed := "", nan, nan
			if o.Stretch >= 0 {
				stretch, began = strconv.Itoa(o.Stretch+1), r.Stretches[o.Stretch].Start.Seconds()
			}
			if o.Closed.Known {
				closed = o.Closed.Value.Seconds()
			}
			delay := nan
			if o.Stretch >= 0 {
				delay = (o.At - r.Stretches[o.Stretch].Start).Seconds()
			}
			t.Append([]string{p.Breaker, replication, stretch}, began, o.At.Seconds(), delay, closed, float64(1+o.Reopened), float64(o.Reopened), float64(o.Refused), float64(o.Good))
		}
		for i, s := range r.Stretches {
			if _, ok := p.first(i); !ok {
				t.Append([]string{p.Breaker, replication, strconv.Itoa(i + 1)}, s.Start.Seconds(), nan, nan, nan, 0, 0, 0, 0)
			}
		}
	}
	return t
}
