package experiments

import (
	"context"
	"fmt"
	"strings"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/sim"
)

// keyWords says where a key is made.
var keyWords = map[string]string{
	model.KeyAtOperation: "client operation",
	model.KeyAtSDK:       "client SDK",
	model.KeyAtGateway:   "gateway, hash of body",
	model.KeyAtServer:    "server's first hop",
	model.KeyAtProducer:  "message producer",
	model.KeyAtConsumer:  "consumer",
}

var keyLevels = []string{model.KeyAtOperation, model.KeyAtSDK, model.KeyAtGateway, model.KeyAtServer, model.KeyAtProducer, model.KeyAtConsumer}

// The sets of defences.
const (
	defenceNone   = "none"
	defenceDedup  = "dedup"
	defenceState  = "state"
	defenceUnique = "unique"
	defenceAll    = "all"
)

var defenceLevels = []string{defenceNone, defenceDedup, defenceState, defenceUnique, defenceAll, "dedup+state", "dedup+unique", "state+unique"}

// defenceWords says what a set of defences consists of.
var defenceWords = map[string]string{
	defenceNone:    "no defence",
	defenceDedup:   "dedup table",
	defenceState:   "state machine",
	defenceUnique:  "unique constraint",
	defenceAll:     "all three",
	"dedup+state":  "dedup table, state machine",
	"dedup+unique": "dedup table, unique constraint",
	"state+unique": "state machine, unique constraint",
}

// defends reports whether a cell has a line of defence.
func defends(c Cell, line string) bool {
	set := c.Text("defences")
	return set == defenceAll || strings.Contains(set, line)
}

// The legs whose messages are lost.
const (
	legsBoth     = "both"
	legsRequests = "requests"
	legsAnswers  = "answers"
)

func idempotency() *Experiment {
	key := choice("key", "where the idempotency key is made: "+strings.Join(keyLevels, ", "), keyLevels, len(keyLevels))
	key.label = func(level string) string { return keyWords[level] }
	defences := choice("defences", "lines of defence at the store", defenceLevels, 5)
	defences.label = func(level string) string { return defenceWords[level] }
	return &Experiment{
		Name: "idempotency",
		Doc: `Where must an idempotency key be made, and what slips past each line of defence?
Users submit intents, each of which is to have an effect once. Some click twice,
some submit again on another device, and some really order the same twice. A
submission goes client → gateway → server → queue → consumer; every hop loses
requests and answers, and every caller repeats what was not answered. The
consumer compares keys in a table of keys when a message comes (dedup), in the
state of the business object when it writes (state), and in a constraint of the
database (unique). It crashes after some writes; the state may be read from a
replica; shards may part copies of a key; other writers pass by the table or
the state. Keys and defences are varied together at the first level of query and
lag_s, which are varied at the first level of key and defences. Retry
governance, sections on idempotency, its keys, and retries with transactions.`,
		Factors: []Factor{
			key, defences,
			choice("record", "when the dedup table gets the key: after the effect, before the work, or within one transaction",
				[]string{model.RecordAfter, model.RecordBefore, model.RecordWithin}, 2),
			choice("query", "what a client looks up before it repeats: "+
				"nothing, its effect on a replica or on the primary, or its effect or accepted message on the primary",
				[]string{model.QueryNone, model.QueryReplica, model.QueryPrimary, model.QueryAccepted}, 4),
			number("lag_s", "lag of the replica that a client asks, s", 0, 1e5, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 5),
			whole("client_attempts", "most attempts of the client", 1, 15, 3),
			whole("gateway_attempts", "most attempts of the gateway", 1, 15, 2),
			whole("server_attempts", "most attempts of the server to send a message", 1, 15, 2),
			whole("deliveries", "most deliveries of a message", 1, 15, 10),
			number("loss_ratio", "share of the messages that each leg of a hop loses", 0, 1, 0.01),
			choice("lost", "what is lost: requests, answers or both", []string{legsBoth, legsRequests, legsAnswers}, 1),
			number("crash_ratio", "share of the consumer's writes after which it crashes, before it records or acknowledges; of its beginnings if it records before", 0, 1, 0.01),
			number("state_lag_s", "lag of what the state machine reads, s; 0 is the primary", 0, 1e5, 0.2),
			whole("shards", "shards among which copies of a row fall at random; the constraint holds within one", 1, 64, 1, 8),
			number("click_ratio", "share of the intents that are clicked twice", 0, 1, 0.02),
			number("device_ratio", "share of the intents submitted again on another device", 0, 1, 0.01),
			choice("devices", "whether another device goes on with the same operation (synced) or begins one (apart)", []string{"apart", "synced"}, 1),
			number("same_ratio", "share of the intents that order what the user ordered before", 0, 0.5, 0.02),
			number("same_after_s", "time between two orders of the same, s", 0, 1e6, 60),
			number("missing_ratio", "share of the intents without a business number", 0, 1, 0.01),
			number("bypass_dedup_ratio", "share of the intents that another writer repeats past the dedup table", 0, 0.5, 0.002),
			number("bypass_state_ratio", "share of the intents that another writer repeats past dedup table and state", 0, 0.5, 0.002),
			number("keep_s", "time after which the dedup table forgets a key, s; 0 is never", 0, 1e6, 0),
			number("timeout_s", "timeout of the server's attempt, s; its callers wait for all of their callee's", 1e-6, 1e4, 0.2),
			number("backoff_s", "wait before a repetition, s", 0, 1e4, 0.1),
			number("leg_s", "time of each leg of the network, s", 0, 1e3, 0.005),
			number("service_s", "mean time of the consumer until the effect, s", 1e-6, 1e4, 0.3),
			choice("service_law", "how this time is distributed", []string{model.Exponential, model.Constant}, 1),
			positive("visibility_s", "time until a message that is not acknowledged is delivered again, s", 1e6, 30),
			whole("intents", "intents in a run", 1, 1e6, 4000),
		},
		Metrics: []Metric{
			{Name: "duplicate_effects_ratio", Doc: "effects after the first of their intent ÷ intents"},
			{Name: "merged_intents_ratio", Doc: "share of the intents without an effect, since they were taken for another"},
			{Name: "lost_intents_ratio", Doc: "share of the intents without an effect for any other reason"},
			{Name: "once_ratio", Doc: "share of the intents with exactly one effect"},
			{Name: "click_duplicates_ratio", Doc: "duplicate effects by a second click ÷ intents"},
			{Name: "device_duplicates_ratio", Doc: "by another device ÷ intents"},
			{Name: "client_duplicates_ratio", Doc: "by a retry of the client ÷ intents"},
			{Name: "gateway_duplicates_ratio", Doc: "by a retry of the gateway ÷ intents"},
			{Name: "server_duplicates_ratio", Doc: "by a retry of the server ÷ intents"},
			{Name: "redelivery_duplicates_ratio", Doc: "by a second delivery ÷ intents"},
			{Name: "bypass_duplicates_ratio", Doc: "by another writer ÷ intents"},
			{Name: "stopped_dedup_ratio", Doc: "executions stopped by the dedup table ÷ intents"},
			{Name: "stopped_state_ratio", Doc: "executions stopped by the state machine ÷ intents"},
			{Name: "stopped_unique_ratio", Doc: "executions stopped by the unique constraint ÷ intents"},
			{Name: "queries_ratio", Doc: "queries of clients before a repetition ÷ intents"},
			{Name: "blind_repeats_ratio", Doc: "repetitions by clients of what the queue had accepted ÷ intents"},
		},
		Reps:    20,
		Valid:   validIdempotency,
		Check:   checkIdempotency,
		Measure: measureIdempotency,
		Exact:   exactIdempotency,
		Report:  reportIdempotency,
	}
}

// validIdempotency keeps the cells that vary key and defences, or query and
// lag, and leaves the others at their first levels; and of levels that a cell
// does not use the first.
func validIdempotency(c Cell) bool {
	lines, asks := !c.first("key") || !c.first("defences") || !c.first("record"), !c.first("query") || !c.first("lag_s")
	return !(lines && asks) &&
		(c.first("record") || defends(c, defenceDedup) && (c.Text("defences") == defenceDedup || c.single("defences"))) &&
		(c.first("shards") || defends(c, defenceUnique) && !asks) &&
		(c.first("lag_s") || c.Text("query") == model.QueryReplica)
}

// single reports whether a factor has one level only.
func (c Cell) single(name string) bool {
	for _, f := range c.factors {
		if f.Name == name {
			return len(f.Levels) == 1
		}
	}
	return false
}

func effectsOf(c Cell) model.Effects {
	m := model.Effects{
		Intents: int(c.Float("intents")), Every: seconds(1),
		ClickRatio: c.Float("click_ratio"), ClickAfter: seconds(0.3),
		DeviceRatio: c.Float("device_ratio"), DeviceAfter: seconds(deviceAfter),
		SameRatio: c.Float("same_ratio"), SameAfter: seconds(c.Float("same_after_s")),
		KeyAt: c.Text("key"), Synced: c.Text("devices") == "synced", NumberMissing: c.Float("missing_ratio"),
		ClientAttempts: int(c.Float("client_attempts")), GatewayAttempts: int(c.Float("gateway_attempts")),
		ServerAttempts: int(c.Float("server_attempts")), Deliveries: int(c.Float("deliveries")),
		Leg: seconds(c.Float("leg_s")), Timeout: seconds(c.Float("timeout_s")), Backoff: seconds(c.Float("backoff_s")),
		Visibility: seconds(c.Float("visibility_s")),
		Crash:      c.Float("crash_ratio"),
		Service:    model.Law{Kind: c.Text("service_law"), Mean: seconds(c.Float("service_s"))},
		Dedup:      defends(c, defenceDedup), State: defends(c, defenceState), Unique: defends(c, defenceUnique),
		Record: c.Text("record"), Keep: seconds(c.Float("keep_s")), StateLag: seconds(c.Float("state_lag_s")),
		Shards: int(c.Float("shards")),
		Query:  c.Text("query"), Lag: seconds(c.Float("lag_s")),
		BypassDedup: c.Float("bypass_dedup_ratio"), BypassState: c.Float("bypass_state_ratio"), BypassAfter: seconds(bypassAfter),
	}
	if c.Text("lost") != legsAnswers {
		m.RequestLoss = c.Float("loss_ratio")
	}
	if c.Text("lost") != legsRequests {
		m.AnswerLoss = c.Float("loss_ratio")
	}
	return m
}

// When another device and another writer come, s after the first submission.
const (
	deviceAfter = 20
	bypassAfter = 3600
)

// maxSubmissionAttempts bounds what a submission may come to.
const maxSubmissionAttempts = 1e8

func checkIdempotency(c Cell) error {
	n := 3 * c.Float("intents")
	for _, factor := range []string{"client_attempts", "gateway_attempts", "server_attempts", "deliveries"} {
		n *= c.Float(factor)
	}
	if n > maxSubmissionAttempts && c.Float("loss_ratio") > 0.5 {
		return fmt.Errorf("experiments: idempotency: intents × attempts × deliveries = %s with loss_ratio %s, want at most %g or a loss of at most 0.5",
			formatNumber(n), c.Text("loss_ratio"), float64(maxSubmissionAttempts))
	}
	m := effectsOf(c)
	return m.Validate()
}

func measureIdempotency(ctx context.Context, j Job) ([][]float64, error) {
	r, err := model.NewEffectRun(effectsOf(j.Cells[0]), j.Seed, j.Replication)
	if err != nil {
		return nil, err
	}
	e := sim.New()
	r.Start(e)
	if err := runUntil(ctx, e, sim.MaxTime); err != nil {
		return nil, err
	}
	l, err := r.Ledger()
	if err != nil {
		return nil, fmt.Errorf("%w (seed %d)", err, j.Seed)
	}
	share := func(n uint64) float64 { return quotient(n, l.Intents) }
	row := []float64{share(l.Duplicates()), share(l.Merged), share(l.Lost), share(l.Once)}
	for _, n := range l.DuplicatesBy {
		row = append(row, share(n))
	}
	return [][]float64{append(row, share(l.StoppedDedup), share(l.StoppedState), share(l.StoppedUnique), share(l.Queries), share(l.Repeats))}, nil
}
