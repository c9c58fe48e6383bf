package experiments

import "time"

// An orderForm is what comes of a request by arithmetic alone.
type orderForm struct {
	attempts, whole, copies, succeeded int
	work, unwanted, held, nothing      time.Duration
	waits, busy                        []orderSpan // of client and server, by attempt
}

// An orderSpan is when the client waits for an attempt or the server works on it,
// and until when that is good for anything.
type orderSpan struct{ from, to, good time.Duration }

// orderExact follows the attempts of a request one after the other.
func orderExact(c Cell) (f orderForm) {
	o := c.order()
	queue := seconds(c.Float("queue_s"))
	stops, done := o.stops(c)
	full := o.attempt(c)
	for now := time.Duration(0); f.attempts < o.attempts && f.succeeded == 0; {
		switch {
		case o.total > 0 && now >= o.total:
			return f.most()
		case o.guard && f.attempts > 0 && now > o.total-full:
			return f.most()
		}
		f.attempts++
		length := full
		if o.total > 0 && now+full > o.total {
			length = o.total - now
		} else if f.attempts > 1 {
			f.whole++
		}
		f.held += length
		f.nothing += max(0, length-stops)
		if done && stops < o.client && (o.total == 0 || now+stops < o.total) {
			f.succeeded++
		}
		served := orderSpan{now + queue, now + stops, min(now+stops, now+length)}
		f.waits = append(f.waits, orderSpan{now, now + length, min(now+length, now+stops)})
		left := max(0, served.to-max(served.from, now+length))
		if c.Text("cancel") == "on" {
			served.to -= left
			left = 0
		}
		if served.to > served.from {
			f.busy = append(f.busy, served)
			f.work += served.to - served.from
			f.unwanted += left
		}
		now += length
	}
	return f.most()
}

// most counts the spans that overlap at a time; a span ends before another
// begins at the same instant.
func (f orderForm) most() orderForm {
	for _, a := range f.busy {
		n := 0
		for _, b := range f.busy {
			if b.from <= a.from && a.from < b.to {
				n++
			}
		}
		f.copies = max(f.copies, n)
	}
	return f
}

func exactTimeoutOrder(c Cell, metric string, _ int) (float64, bool) {
	f := orderExact(c)
	switch metric {
	case "attempts_count":
		return float64(f.attempts), true
	case "whole_retries_count":
		return float64(f.whole), true
	case "copies_count":
		return float64(f.copies), true
	case "served_s":
		return f.work.Seconds(), true
	case "unwanted_s":
		return f.unwanted.Seconds(), true
	case "held_s":
		return f.held.Seconds(), true
	case "held_for_nothing_s":
		return f.nothing.Seconds(), true
	case "client_retry_ratio":
		return float64(f.attempts-1) / float64(f.attempts), true
	case "succeeded_count":
		return float64(f.succeeded), true
	}
	return 0, false
}
