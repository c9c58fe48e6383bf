package experiments

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const orderGrammar = "CLIENT/SERVER/TOTALxATTEMPTS[-silent][-guard] in seconds, TOTAL 0 for none, such as 5/6/10x3"

// An orderSpec is the timeouts of a request as written.
type orderSpec struct {
	client, server, total time.Duration // total 0: none
	attempts              int
	silent, guard         bool
}

// parseOrder reads an orderSpec, see orderGrammar.
func parseOrder(text string) (o orderSpec, err error) {
	fail := func(format string, args ...any) (orderSpec, error) {
		return o, fmt.Errorf("%q: %s; want %s", text, fmt.Sprintf(format, args...), orderGrammar)
	}
	options := strings.Split(text, "-")
	times, attempts, ok := strings.Cut(options[0], "x")
	fields := strings.Split(times, "/")
	if !ok || len(fields) != 3 {
		return fail("%d timeouts", len(fields))
	}
	for i, to := range []*time.Duration{&o.client, &o.server, &o.total} {
		v, err := parseNumber(fields[i])
		if err != nil {
			return fail("%v", err)
		}
		if v < 0 || v > 1e6 || v < 1e-6 && (i < 2 || v > 0) {
			return fail("%s s, from 0.000001 to 1000000", fields[i])
		}
		*to = seconds(v)
	}
	if o.attempts, err = strconv.Atoi(attempts); err != nil || o.attempts < 1 || o.attempts > maxRetries+1 {
		return fail("%q attempts, from 1 to %d", attempts, maxRetries+1)
	}
	for _, option := range options[1:] {
		switch {
		case option == "silent" && !o.silent && !o.guard:
			o.silent = true
		case option == "guard" && !o.guard:
			o.guard = true
		default:
			return fail("%q", option)
		}
	}
	if o.guard && o.total == 0 {
		return fail("guard without a total")
	}
	return o, nil
}

// name is the spec in canonical form.
func (o orderSpec) name() string {
	text := fmt.Sprintf("%s/%s/%sx%d", formatNumber(o.client.Seconds()), formatNumber(o.server.Seconds()), formatNumber(o.total.Seconds()), o.attempts)
	if o.silent {
		text += "-silent"
	}
	if o.guard {
		text += "-guard"
	}
	return text
}

// String says it in words.
func (o orderSpec) String() string {
	text := fmt.Sprintf("client %s s × %d, server %s s", formatNumber(o.client.Seconds()), o.attempts, formatNumber(o.server.Seconds()))
	if o.total > 0 {
		text += fmt.Sprintf(", total %s s", formatNumber(o.total.Seconds()))
	}
	if o.silent {
		text += ", silent"
	}
	if o.guard {
		text += ", guarded"
	}
	return text
}

func orderFactor(levels ...string) Factor {
	return Factor{
		Name: "timeouts", Doc: "timeout of the client for an attempt, of the server for its work, and of the whole request: " + orderGrammar, Levels: levels,
		label: func(text string) string {
			o, err := parseOrder(text)
			if err != nil {
				return text
			}
			return o.String()
		},
		check: func(text string) (string, error) {
			o, err := parseOrder(text)
			return o.name(), err
		},
	}
}

// order returns the timeouts of a cell.
func (c Cell) order() orderSpec {
	o, err := parseOrder(c.Text("timeouts"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return o
}

// stops is when the server stops working on an attempt, from its start, and
// whether that is because it is done.
func (o orderSpec) stops(c Cell) (after time.Duration, done bool) {
	work := seconds(c.Float("work_s"))
	return seconds(c.Float("queue_s")) + min(work, o.server), work < o.server
}

// attempt is how long an attempt takes that nothing cuts short.
func (o orderSpec) attempt(c Cell) time.Duration {
	after, done := o.stops(c)
	if done || !o.silent {
		return min(after, o.client)
	}
	return o.client
}
