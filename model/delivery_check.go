package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	maxConsumers  = 100_000
	maxDeliveries = 1_000_000_000
)

// Validate reports the first field that is out of range.
func (c DeliveryConfig) Validate() error {
	if c.Horizon <= 0 || c.Horizon > maxHorizon {
		return fmt.Errorf("model: delivery: horizon %v, want above 0s and at most %v", c.Horizon, maxHorizon)
	}
	if err := word("guarantee", c.Guarantee, AtLeastOnce, AtMostOnce); err != nil {
		return err
	}
	for _, check := range []func() error{c.Producer.check, c.Queue.check, c.Consumers.check, c.Dependency.check} {
		if err := check(); err != nil {
			return err
		}
	}
	if c.Consumers.AckLoss > 0 && c.Queue.Visibility == 0 && c.Guarantee != AtMostOnce {
		return fmt.Errorf("model: delivery: consumers: ack loss %v, want 0 without a visibility timeout: what is lost would stay hidden for ever", c.Consumers.AckLoss)
	}
	o := c.Owner
	return first(span0("owner: every", o.Every), share("owner: repair ratio", o.RepairRatio))
}

func (p Producer) check() error {
	if err := p.Arrivals.Validate(); err != nil {
		return fmt.Errorf("model: delivery: producer: %w", err)
	}
	if text := p.Ack.problem(); text != "" {
		return errors.New("model: delivery: producer: ack law " + text)
	}
	if p.Arrivals.TicksPerSecond != 0 && p.Arrivals.TicksPerSecond != int64(time.Second) {
		return fmt.Errorf("model: delivery: producer: %d ticks per second, want 0 for nanoseconds", p.Arrivals.TicksPerSecond)
	}
	if p.AckTimeout <= 0 || p.AckTimeout > maxHorizon {
		return fmt.Errorf("model: delivery: producer: ack timeout %v, want above 0s and at most %v", p.AckTimeout, maxHorizon)
	}
	return first(span0("producer: end", p.End),
		below1("producer: request loss", p.RequestLoss), below1("producer: ack loss", p.AckLoss))
}

func (q MessageQueue) check() error {
	if err := q.Backoff.Validate(); err != nil {
		return fmt.Errorf("model: delivery: queue: %w", err)
	}
	return first(span0("queue: visibility", q.Visibility),
		within("queue: max deliveries", q.MaxDeliveries, 0, maxDeliveries), within("queue: delays", q.Delays, 0, maxDeliveries))
}

func (k Consumers) check() error {
	if text := k.Processing.problem(); text != "" {
		return errors.New("model: delivery: consumers: processing law " + text)
	}
	if !(k.LeaveRPS >= 0 && k.LeaveRPS <= 1e6) {
		return fmt.Errorf("model: delivery: consumers: leave rate %v/s, want 0 to 1e+06", k.LeaveRPS)
	}
	return first(within("consumers: count", k.Count, 1, maxConsumers), within("consumers: attempts", k.Attempts, 0, maxDeliveries),
		span0("consumers: commit every", k.CommitEvery), below1("consumers: ack loss", k.AckLoss),
		word("consumers: dedup", k.Dedup, NoDedup, DedupMessageID, DedupKey), span0("consumers: rejoin after", k.RejoinAfter))
}

func (d Dependency) check() error {
	if d.OutageStart < 0 || d.OutageEnd < d.OutageStart {
		return fmt.Errorf("model: delivery: dependency: outage [%v, %v), want a start of at least 0s and an end not before it", d.OutageStart, d.OutageEnd)
	}
	return first(share("dependency: transient ratio", d.TransientRatio), share("dependency: unknown ratio", d.UnknownRatio),
		share("dependency: permanent ratio", d.PermanentRatio))
}

// first returns the first error that is none of nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func word(what, v string, known ...string) error {
	if v == "" || slices.Contains(known, v) {
		return nil
	}
	return fmt.Errorf("model: delivery: %s %q, want one of %s", what, v, strings.Join(known, ", "))
}

func share(what string, v float64) error {
	if v >= 0 && v <= 1 {
		return nil
	}
	return fmt.Errorf("model: delivery: %s %v, want 0 to 1", what, v)
}

func below1(what string, v float64) error {
	if v >= 0 && v < 1 {
		return nil
	}
	return fmt.Errorf("model: delivery: %s %v, want 0 to below 1", what, v)
}

func span0(what string, d time.Duration) error {
	if d >= 0 && d <= maxHorizon {
		return nil
	}
	return fmt.Errorf("model: delivery: %s %v, want 0s to %v", what, d, maxHorizon)
}

func within(what string, v, lo, hi int) error {
	if v >= lo && v <= hi {
		return nil
	}
	return fmt.Errorf("model: delivery: %s %d, want %d to %d", what, v, lo, hi)
}
