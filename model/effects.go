package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The places where an idempotency key can be made, the nearest to the user
// first. A key stays what it is below its place; above it, every copy of a
// request is a copy without a key.
const (
	KeyAtOperation = "operation" // by the client when the user begins: one for each intent and device
	KeyAtSDK       = "sdk"       // by the client's library: one for each call of it, so for each click
	KeyAtGateway   = "gateway"   // a hash of user and content: one for all intents with the same body
	KeyAtServer    = "server"    // by the first hop of the server: one for each request that reaches it
	KeyAtProducer  = "producer"  // the business number; if missing, a random one for each message sent
	KeyAtConsumer  = "consumer"  // the business number; if missing, a random one for each delivery
)

var keyPlaces = []string{KeyAtOperation, KeyAtSDK, KeyAtGateway, KeyAtServer, KeyAtProducer, KeyAtConsumer}

// When the consumer writes a key into its table of keys.
const (
	RecordAfter  = "after"  // once the effect is done
	RecordBefore = "before" // when it begins
	RecordWithin = "within" // in one transaction with the effect
)

var recordOrders = []string{RecordAfter, RecordBefore, RecordWithin}

// What a client looks up before it repeats a submission, by the number of that
// submission.
const (
	QueryNone     = "none"     // nothing
	QueryReplica  = "replica"  // its effect, on a replica that lags by Lag
	QueryPrimary  = "primary"  // its effect, where it is written
	QueryAccepted = "accepted" // its effect or a message for it, where they are written
)

var queryKinds = []string{QueryNone, QueryReplica, QueryPrimary, QueryAccepted}

// Effects are users whose intents are to have an effect exactly once, and the
// chain that carries them out: client → gateway → server → queue → consumer.
// Each hop loses requests and answers; each caller repeats what was not
// answered. The queue answers when it holds a message, and delivers it again
// until the consumer acknowledges it.
//
// A caller waits as long as what it calls may take with all its repetitions,
// so that no call is repeated while the one before is still under way:
// Timeout for the server, see Timeouts for the others. A layer that gives up
// says nothing.
type Effects struct {
	Intents int           // 1 to 10,000,000
	Every   time.Duration // from an intent to the next; above 0

	// What users do, as shares of the intents from 0 to 1: click twice, submit
	// again on another device, and order what the user ordered SameAfter
	// before, which is an intent of its own (at most 0.5).
	ClickRatio, DeviceRatio, SameRatio float64
	ClickAfter, DeviceAfter, SameAfter time.Duration

	// KeyAt is one of the places above. Another device has a key of its own
	// at the operation and the SDK, unless Synced: then it goes on with the
	// first one's operation. NumberMissing is the share of the intents without a
	// business number, from 0 to 1.
	KeyAt         string
	Synced        bool
	NumberMissing float64

	// Most attempts of each caller and deliveries of each message, 1 to 15.
	ClientAttempts, GatewayAttempts, ServerAttempts, Deliveries int

	Leg        time.Duration // of the network, one way; at least 0
	Timeout    time.Duration // of the server's attempt to send a message; above 2 × Leg
	Backoff    time.Duration // from a timeout to the next attempt; at least 0
	Visibility time.Duration // from a delivery to the next; above 0

	// Shares of the requests and of the answers that each hop loses, and of
	// the writes, done or stopped, after which the consumer crashes: it neither
	// records nor acknowledges. With RecordBefore it crashes after the record
	// instead, before the work. From 0 to 1.
	RequestLoss, AnswerLoss, Crash float64

	// Service is the consumer's time from looking at a message to its effect.
	Service Law

	// The lines of defence; each compares keys. Dedup is a table that the
	// consumer looks into when a message arrives; it forgets a key after Keep, or
	// never if that is 0. State is what the business object says at the instant
	// of the effect, as a replica that lags by StateLag shows it; 0 is the
	// primary. Unique is a constraint of the database, which holds within each
	// of Shards shards (1 to 64) among which copies fall at random.
	Dedup, State, Unique bool
	Record               string // one of the orders above, "" is after
	Keep, StateLag       time.Duration
	Shards               int

	Query string        // one of the kinds above, "" is none
	Lag   time.Duration // of the replica that is asked

	// Shares of the intents, together at most 1, of which a writer such as a
	// batch job repeats the first message BypassAfter the first submission:
	// straight to the business object, past the table of keys, or straight to
	// the database, past both.
	BypassDedup, BypassState float64
	BypassAfter              time.Duration
}

const (
	maxIntents       = 10_000_000
	maxEffectTries   = 15
	maxEffectShards  = 64
	maxEffectsLength = 100 * 365 * 24 * time.Hour
)

// Timeouts are the times that client, gateway and server wait for an attempt,
// of a valid configuration.
func (c *Effects) Timeouts() (client, gateway, server time.Duration) {
	server = c.Timeout
	gateway = time.Duration(c.ServerAttempts)*(server+c.Backoff) + 2*c.Leg
	client = time.Duration(c.GatewayAttempts)*(gateway+c.Backoff) + 2*c.Leg
	return client, gateway, server
}

// Validate reports the first field that makes no sense.
func (c *Effects) Validate() error {
	if text := c.problem(); text != "" {
		return errors.New("model: effects: " + text)
	}
	return nil
}

func (c *Effects) problem() string {
	for _, f := range []struct {
		name         string
		value, limit int
	}{
		{"intents", c.Intents, maxIntents}, {"client attempts", c.ClientAttempts, maxEffectTries},
		{"gateway attempts", c.GatewayAttempts, maxEffectTries}, {"server attempts", c.ServerAttempts, maxEffectTries},
		{"deliveries", c.Deliveries, maxEffectTries}, {"shards", c.Shards, maxEffectShards},
	} {
		if f.value < 1 || f.value > f.limit {
			return fmt.Sprintf("%s %d, want 1 to %d", f.name, f.value, f.limit)
		}
	}
	for _, f := range []struct {
		name  string
		value float64
		limit float64
	}{
		{"click ratio", c.ClickRatio, 1}, {"device ratio", c.DeviceRatio, 1}, {"same ratio", c.SameRatio, 0.5},
		{"number missing", c.NumberMissing, 1}, {"request loss", c.RequestLoss, 1}, {"answer loss", c.AnswerLoss, 1},
		{"crash", c.Crash, 1}, {"bypass of the table", c.BypassDedup, 1}, {"bypass of the state", c.BypassState, 1},
		{"bypasses together", c.BypassDedup + c.BypassState, 1},
	} {
		if !(f.value >= 0 && f.value <= f.limit) {
			return fmt.Sprintf("%s %v, want from 0 to %v", f.name, f.value, f.limit)
		}
	}
	if text := c.durationProblem(); text != "" {
		return text
	}
	for _, f := range []struct {
		name, value string
		known       []string
	}{{"key at", c.KeyAt, keyPlaces}, {"record", c.record(), recordOrders}, {"query", c.query(), queryKinds}} {
		if !slices.Contains(f.known, f.value) {
			return fmt.Sprintf("%s %q, want one of %s", f.name, f.value, strings.Join(f.known, ", "))
		}
	}
	return c.Service.problem()
}

func (c *Effects) durationProblem() string {
	const longest = 365 * 24 * time.Hour
	for _, f := range []struct {
		name  string
		value time.Duration
		least time.Duration
	}{
		{"every", c.Every, 1}, {"click after", c.ClickAfter, 0}, {"device after", c.DeviceAfter, 0}, {"same after", c.SameAfter, 0},
		{"leg", c.Leg, 0}, {"timeout", c.Timeout, min(2*c.Leg+1, longest)}, {"back-off", c.Backoff, 0}, {"visibility", c.Visibility, 1},
		{"keep", c.Keep, 0}, {"state lag", c.StateLag, 0}, {"lag", c.Lag, 0}, {"bypass after", c.BypassAfter, 0},
	} {
		if f.value < f.least || f.value > longest {
			return fmt.Sprintf("%s %v, want from %v to %v", f.name, f.value, f.least, longest)
		}
	}
	if length := float64(c.Intents) * float64(c.Every); length > float64(maxEffectsLength) {
		return fmt.Sprintf("intents × every = %v, want at most %v", nanoseconds(length), maxEffectsLength)
	}
	// The longest way: every attempt at every hop, and every delivery after it.
	server := float64(c.ServerAttempts)*float64(c.Timeout+c.Backoff) + 2*float64(c.Leg)
	gateway := float64(c.GatewayAttempts)*(server+float64(c.Backoff)) + 2*float64(c.Leg)
	longestWay := float64(c.ClientAttempts)*(gateway+float64(c.Backoff)) + float64(c.Deliveries)*float64(c.Visibility)
	if longestWay > float64(maxEffectsLength) {
		return fmt.Sprintf("client × gateway × server attempts × (timeout + back-off) and deliveries × visibility take up to %.3g years, want at most %d",
			longestWay/float64(365*24*time.Hour), maxEffectsLength/(365*24*time.Hour))
	}
	return ""
}

func (c *Effects) record() string {
	if c.Record == "" {
		return RecordAfter
	}
	return c.Record
}

func (c *Effects) query() string {
	if c.Query == "" {
		return QueryNone
	}
	return c.Query
}
