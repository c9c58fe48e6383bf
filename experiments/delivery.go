package experiments

import (
	"context"
	"fmt"
	"math"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

func delivery() *Experiment {
	guarantee := choice("guarantee", "when a message is acknowledged: after the work, or before it", []string{model.AtLeastOnce, model.AtMostOnce}, 2)
	guarantee.label = func(level string) string {
		if level == model.AtMostOnce {
			return "at most once"
		}
		return "at least once"
	}
	dedup := choice("dedup", "how a consumer knows what it has done: not at all, by the queue's number of the message, or by the key that the producer made for the intent",
		[]string{model.NoDedup, model.DedupMessageID, model.DedupKey}, 3)
	dedup.label = func(level string) string {
		switch level {
		case model.DedupMessageID:
			return "queue's message number"
		case model.DedupKey:
			return "business key"
		}
		return "not idempotent"
	}
	return &Experiment{
		Name: "delivery",
		Doc: `What does a queue lose, and what does it do twice?
A producer publishes a message for each intent, again if no acknowledgement
comes. The queue hides a delivered message until its visibility timeout;
consumers try it some times in process, then put it off into the delay queue, at
last among the dead letters, which keep key, payload, first failure and number
of attempts. A consumer that leaves has what it processed and did not commit
delivered again. The consumers' dependency is out for a while, some intents fail
for good until they are repaired, and an owner replays the dead letters every so
often, or compensates what cannot be repaired; nobody does with
owner_every_s=0. At most once publishes once, acknowledges first and tries
once. Source: retry governance, sections 6 and 9. With transient_ratio=0 and
without an outage all numbers have closed forms.`,
		Factors: []Factor{
			guarantee,
			dedup,
			number("owner_every_s", "time between two looks at the dead letters, s; 0 means that nobody looks", 0, 1e6, 0, 300),
			number("outage_s", "length of the outage of the dependency, s", 0, 1e6, 0, 120),
			number("outage_at_s", "start of the outage, s", 0, 1e6, 120),
			choice("outage_answer", "when attempts in the outage fail: at-once, or after the time of the work", []string{answerAtOnce, answerAfterWork}, 1),
			positive("rate_rps", "intents per second, Poisson", 1e6, 10),
			positive("publish_s", "time in which intents come, s", 1e6, 600),
			positive("horizon_s", "length of a run, s", 1e6, 3600),
			number("request_loss_ratio", "share of publishes that never reach the queue", 0, 0.9, 0.01),
			number("ack_loss_ratio", "share of the queue's acknowledgements that never reach the producer", 0, 0.9, 0.01),
			number("ack_ms", "time from publishing to the acknowledgement, ms", 0, 1e6, 20),
			positive("ack_timeout_s", "time after which the producer publishes again, s", 1e5, 1),
			whole("consumers", "consumers of the group", 1, 100_000, 40),
			positive("processing_s", "mean time of an attempt, s", 1e5, 2),
			choice("processing_law", "how this time is distributed; lognormal with a coefficient of variation of 1", []string{model.Exponential, model.Constant, model.Lognormal}, 1),
			number("visibility_s", "visibility timeout, s; 0 means none", 0, 1e6, 12),
			whole("max_deliveries", "deliveries of a message before it is a dead letter; 0 means any number", 0, 1e6, 0),
			number("commit_every_s", "time between two commits of a consumer, s; 0 acknowledges each message at once", 0, 1e6, 5),
			number("consumer_ack_loss_ratio", "share of the consumers' acknowledgements that never reach the queue", 0, 0.9, 0.005),
			number("leaves_per_hour", "consumers that leave the group, per hour", 0, 1e6, 60),
			number("rejoin_s", "time until another takes its place, s", 0, 1e6, 10),
			whole("attempts", "attempts in process, at once, of a delivery", 1, 1000, 3),
			whole("delays", "delayed retries", 0, 1000, 3),
			positive("delay_s", "first delay, s; it doubles", 1e6, 5),
			number("transient_ratio", "share of attempts that fail by chance", 0, 1, 0),
			number("unknown_ratio", "share of failed attempts that had their effect", 0, 1, 0.05),
			number("permanent_ratio", "share of intents that fail until they are repaired", 0, 1, 0.002),
			choice("retry_permanent", "whether permanent errors are retried like others", []string{"off", "on"}, 1),
			number("repair_ratio", "share of permanent failures that the owner repairs before the replay; the rest is compensated", 0, 1, 0.5),
		},
		Metrics: deliveryMetrics,
		Reps:    20,
		Valid:   validDelivery,
		Check:   checkDelivery,
		Measure: measureDelivery,
		Exact:   exactDelivery,
		Report:  reportDelivery,
		Detail:  deliveryDetail,
	}
}

// When attempts in an outage fail.
const (
	answerAtOnce    = "at-once"
	answerAfterWork = "after-work"
)

var deliveryMetrics = []Metric{
	{Name: "effected_ratio", Doc: "share of the intents that had their effect at least once"},
	{Name: "exactly_once_ratio", Doc: "share of the intents with exactly one effect"},
	{Name: "lost_ratio", Doc: "share of the intents without effect and with nothing left that could have it"},
	{Name: "dead_ratio", Doc: "share of the intents of which only dead letters are left at the end"},
	{Name: "compensated_ratio", Doc: "share of the intents that the owner settled without an effect"},
	{Name: "queued_ratio", Doc: "share of the intents still on the way at the end"},
	{Name: "duplicate_ratio", Doc: "effects beyond the first of each intent, per intent"},
	{Name: "duplicate_publish_ratio", Doc: "those of them because the producer published again"},
	{Name: "duplicate_visibility_ratio", Doc: "because the visibility timeout passed first"},
	{Name: "duplicate_ack_ratio", Doc: "because the consumer's acknowledgement was lost"},
	{Name: "duplicate_rebalance_ratio", Doc: "because the consumer left before it committed"},
	{Name: "duplicate_unknown_ratio", Doc: "because an attempt failed after its effect"},
	{Name: "suppressed_ratio", Doc: "effects that consumers recognised as done and left out, per intent"},
	{Name: "deliveries_ratio", Doc: "deliveries per intent"},
	{Name: "attempts_ratio", Doc: "attempts per intent"},
	{Name: "outage_attempts_rps", Doc: "attempts per second of the outage"},
	{Name: "dead_letters_count", Doc: "dead letters in the whole run"},
	{Name: "replayed_count", Doc: "of them replayed"},
	{Name: "oldest_letter_s", Doc: "age of the oldest dead letter at the end, s"},
	{Name: "settled_s", Doc: "last intent's time to the last effect of all, s, if all intents have had it or are compensated", Censored: "unsettled_count"},
}

// validDelivery leaves out what at most once does not use.
func validDelivery(c Cell) bool {
	return c.Text("guarantee") == model.AtLeastOnce || c.first("dedup") && c.first("owner_every_s")
}

const maxDeliveryMessages = 2e6

func checkDelivery(c Cell) error {
	messages, horizon := c.Float("rate_rps")*c.Float("publish_s"), c.Float("horizon_s")
	if c.Float("publish_s") > horizon {
		return fmt.Errorf("experiments: delivery: publish_s = %s, want at most horizon_s = %s", c.Text("publish_s"), c.Text("horizon_s"))
	}
	if messages > maxDeliveryMessages {
		return fmt.Errorf("experiments: delivery: rate_rps × publish_s = %s, want at most %g", formatNumber(messages), maxDeliveryMessages)
	}
	rounds := 1.0
	for _, name := range []string{"visibility_s", "owner_every_s"} {
		if every := c.Float(name); every > 0 {
			rounds += horizon / every
		}
	}
	work := math.Min(messages*rounds*c.Float("attempts")*(1+c.Float("delays")), c.Float("consumers")*horizon/c.Float("processing_s"))
	if work > maxAttemptsPerRun {
		return fmt.Errorf("experiments: delivery: up to %s attempts in a run, by visibility_s, owner_every_s, attempts and delays, and by consumers × horizon_s ÷ processing_s; want at most %g",
			formatNumber(math.Round(work)), float64(maxAttemptsPerRun))
	}
	if leaves := horizon / 3600 * c.Float("leaves_per_hour"); leaves > maxAttemptsPerRun {
		return fmt.Errorf("experiments: delivery: leaves_per_hour × horizon_s ÷ 3600 = %s, want at most %g", formatNumber(leaves), float64(maxAttemptsPerRun))
	}
	return deliveryConfig(c).Validate()
}

func deliveryLaw(c Cell) model.Law {
	l := model.Law{Kind: c.Text("processing_law"), Mean: seconds(c.Float("processing_s"))}
	if l.Kind == model.Lognormal {
		l.CV = 1
	}
	return l
}

func deliveryConfig(c Cell) model.DeliveryConfig {
	start := seconds(c.Float("outage_at_s"))
	return model.DeliveryConfig{
		Guarantee: c.Text("guarantee"),
		Producer: model.Producer{
			Arrivals:    model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
			End:         seconds(c.Float("publish_s")),
			Ack:         model.Law{Mean: milliseconds(c.Float("ack_ms"))},
			AckTimeout:  seconds(c.Float("ack_timeout_s")),
			RequestLoss: c.Float("request_loss_ratio"), AckLoss: c.Float("ack_loss_ratio"),
		},
		Queue: model.MessageQueue{
			Visibility: seconds(c.Float("visibility_s")), MaxDeliveries: int(c.Float("max_deliveries")),
			Delays:  int(c.Float("delays")),
			Backoff: policies.BackoffConfig{Kind: policies.ExponentialBackoff, Base: seconds(c.Float("delay_s"))},
		},
		Consumers: model.Consumers{
			Count: int(c.Float("consumers")), Processing: deliveryLaw(c), Attempts: int(c.Float("attempts")),
			RetryPermanent: c.Text("retry_permanent") == "on",
			CommitEvery:    seconds(c.Float("commit_every_s")), AckLoss: c.Float("consumer_ack_loss_ratio"),
			Dedup: c.Text("dedup"), LeaveRPS: c.Float("leaves_per_hour") / 3600, RejoinAfter: seconds(c.Float("rejoin_s")),
		},
		Dependency: model.Dependency{
			TransientRatio: c.Float("transient_ratio"), UnknownRatio: c.Float("unknown_ratio"), PermanentRatio: c.Float("permanent_ratio"),
			OutageStart: start, OutageEnd: start + seconds(c.Float("outage_s")), OutageFast: c.Text("outage_answer") == answerAtOnce,
		},
		Owner:   model.Owner{Every: seconds(c.Float("owner_every_s")), RepairRatio: c.Float("repair_ratio")},
		Horizon: seconds(c.Float("horizon_s")),
	}
}

func measureDelivery(ctx context.Context, j Job) ([][]float64, error) {
	c := j.Cells[0]
	d, err := runDelivery(ctx, j)
	if err != nil {
		return nil, err
	}
	l := d.Ledger()
	per := func(n uint64) float64 { return quotient(float64(n), float64(l.Intents)) }
	oldest, settled, outage := math.NaN(), math.Inf(1), math.NaN()
	if l.OldestLetter >= 0 {
		oldest = c.Float("horizon_s") - l.OldestLetter.Seconds()
	}
	if l.Effected+l.Compensated == l.Intents {
		settled = math.Max(0, (l.LastEffect - l.LastIntent).Seconds())
	}
	if s := c.Float("outage_s"); s > 0 {
		outage = float64(l.OutageAttempts) / s
	}
	by := l.Duplicates
	return [][]float64{{
		per(l.Effected), per(l.ExactlyOne), per(l.Lost), per(l.Dead), per(l.Compensated), per(l.Queued),
		per(by.All()), per(by.Publish), per(by.Visibility), per(by.Ack), per(by.Rebalance), per(by.Unknown), per(l.Suppressed),
		per(l.Deliveries), per(l.Attempts), outage, float64(l.DeadLettered), float64(l.Replayed), oldest, settled,
	}}, nil
}
