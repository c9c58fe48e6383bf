package presets

import (
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/policies"
)

// gRPC's retries as grpc-go does them: google.golang.org/grpc v1.85.0,
// stream.go (shouldRetry), service_config.go and dialoptions.go.
//
// After an attempt that failed it asks, in this order:
//
//   - Did the response send headers? Then it is committed: no retry, no token.
//   - Is there a push-back, the server's own wait in ms? One that is negative
//     or no number, or two of them, take a token and end the call, also where
//     the status is not retryable.
//   - Is the status retryable? If not, the call ends, and takes no token.
//   - A token is taken. Is the throttle against it?
//   - Are there attempts left? A client makes 5 at most, whatever the policy of
//     the method says.
//   - The wait is the push-back, or the back-off, which starts again after a
//     push-back.
//
// Attempts that the server never saw are sent again at no cost; the rule is not
// asked then. Hedging is not implemented in grpc-go.

// GRPCClientMaxAttempts is the limit of attempts of a client that sets none.
const GRPCClientMaxAttempts = 5

// A GRPCCode is a status code of gRPC. It is the error of an attempt.
type GRPCCode uint8

// Two of the codes. The others count up between them.
const (
	GRPCOK          GRPCCode = 0
	GRPCUnavailable GRPCCode = 14
)

// grpcCodes are the names in Go and in service configs.
var grpcCodes = [...][2]string{
	{"OK", "OK"}, {"Canceled", "CANCELLED"}, {"Unknown", "UNKNOWN"}, {"InvalidArgument", "INVALID_ARGUMENT"},
	{"DeadlineExceeded", "DEADLINE_EXCEEDED"}, {"NotFound", "NOT_FOUND"}, {"AlreadyExists", "ALREADY_EXISTS"},
	{"PermissionDenied", "PERMISSION_DENIED"}, {"ResourceExhausted", "RESOURCE_EXHAUSTED"},
	{"FailedPrecondition", "FAILED_PRECONDITION"}, {"Aborted", "ABORTED"}, {"OutOfRange", "OUT_OF_RANGE"},
	{"Unimplemented", "UNIMPLEMENTED"}, {"Internal", "INTERNAL"}, {"Unavailable", "UNAVAILABLE"},
	{"DataLoss", "DATA_LOSS"}, {"Unauthenticated", "UNAUTHENTICATED"},
}

// String returns the name in Go, such as "NotFound".
func (c GRPCCode) String() string {
	if int(c) < len(grpcCodes) {
		return grpcCodes[c][0]
	}
	return "Code(" + strconv.Itoa(int(c)) + ")"
}

// Error returns the name.
func (c GRPCCode) Error() string { return c.String() }

// LookupGRPCCode returns the code of a name in Go or in a service config, such
// as "NotFound" or "NOT_FOUND".
func LookupGRPCCode(name string) (GRPCCode, bool) {
	for c, names := range grpcCodes {
		if name == names[0] || name == names[1] {
			return GRPCCode(c), true
		}
	}
	return 0, false
}

// A GRPCRetryConfig is the retry policy of a method.
type GRPCRetryConfig struct {
	MaxAttempts       int // attempts of a call in all, at least 2
	ClientMaxAttempts int // the client's limit to that, at least 1; 0 means 5
	Retryable         []GRPCCode
	Delays            policies.Delays // the back-off; nil means no wait
}

// Validate reports the first field that makes no sense.
func (c GRPCRetryConfig) Validate() error {
	f := fields{library: "grpc retry"}
	f.count("max attempts", c.MaxAttempts, 2)
	f.count("client max attempts", c.ClientMaxAttempts, 0)
	if len(c.Retryable) == 0 {
		f.fail("no retryable codes, want at least one")
	}
	for _, code := range c.Retryable {
		if code == GRPCOK || int(code) >= len(grpcCodes) {
			f.fail("retryable code %v, want that of an error", code)
		}
	}
	return f.err
}

// A GRPCRetry decides what follows an attempt. It keeps no state of its own.
type GRPCRetry struct {
	retry  *policies.Retry
	learns policies.AttemptBudget // nil if the budget does not look at attempts
	delays policies.Delays
}

// NewGRPCRetry returns a rule, or the error of Validate. The budget, as a rule
// a GRPCThrottle, is shared by all calls to a server name; nil means none.
func NewGRPCRetry(c GRPCRetryConfig, budget policies.Budget) (*GRPCRetry, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.ClientMaxAttempts == 0 {
		c.ClientMaxAttempts = GRPCClientMaxAttempts
	}
	var retryable uint32
	for _, code := range c.Retryable {
		retryable |= 1 << code
	}
	retry, err := policies.NewRetry(policies.RetryConfig{
		Attempts: min(c.MaxAttempts, c.ClientMaxAttempts),
		RetryOn: func(o policies.Outcome) bool {
			code, ok := o.Err.(GRPCCode)
			return ok && retryable>>code&1 != 0
		},
	}, budget)
	if err != nil {
		return nil, err
	}
	r := &GRPCRetry{retry: retry, delays: c.Delays}
	r.learns, _ = budget.(policies.AttemptBudget)
	return r, nil
}

// A GRPCAttempt is what is known of a call when one of its attempts ended.
type GRPCAttempt struct {
	Number    int // attempts made so far, this one included, at least 1
	Backoffs  int // that of the last decision; 0 for the first attempt
	Code      GRPCCode
	Committed bool     // the response sent headers before the status
	Pushback  []string // values of the trailer grpc-retry-pushback-ms
	U         float64  // uniform in [0, 1), for the jitter
}

// A GRPCDecision says whether a call is tried again.
type GRPCDecision struct {
	Retry    bool
	Delay    time.Duration
	Reason   policies.Reason
	Backoffs int // hand it back with the next attempt: waits since the last push-back
}

// Errors that are no status, so never retryable.
var (
	errGRPCCommitted = errors.New("presets: grpc retry: response is committed")
	errGRPCPushback  = errors.New("presets: grpc retry: push-back says no retry")
)

// Start tells the budget of a call, before its first attempt.
func (r *GRPCRetry) Start() { r.retry.Start() }

// Send tells the budget that the wait of a retry is over, and reports whether
// it may be sent.
func (r *GRPCRetry) Send() bool { return r.retry.Send() }

// GiveUp ends a call whose caller has gone.
func (r *GRPCRetry) GiveUp(retried bool) { r.retry.GiveUp(retried) }

// Decide decides what follows an attempt, and tells the budget.
func (r *GRPCRetry) Decide(a GRPCAttempt) GRPCDecision {
	var o policies.Outcome
	wait := time.Duration(-1)
	switch {
	case a.Code == GRPCOK:
	case a.Committed:
		o.Err = errGRPCCommitted
	case len(a.Pushback) > 0:
		o.Err = a.Code
		if wait = grpcPushback(a.Pushback); wait < 0 {
			o.Err = errGRPCPushback
			if r.learns != nil {
				r.learns.Attempt(policies.Failure)
			}
		}
	default:
		o.Err = a.Code
	}
	d := r.retry.Decide(policies.Attempt{Number: a.Number, Outcome: o})
	switch {
	case !d.Retry:
		return GRPCDecision{Reason: d.Reason}
	case wait >= 0:
		return GRPCDecision{Retry: true, Delay: wait}
	case r.delays != nil:
		wait = r.delays.Delay(a.Backoffs+1, 0, a.U)
	}
	return GRPCDecision{Retry: true, Delay: max(wait, 0), Backoffs: a.Backoffs + 1}
}

// grpcPushback reads a push-back, and returns less than 0 if it says no.
func grpcPushback(values []string) time.Duration {
	if len(values) > 1 {
		return -1
	}
	ms, err := strconv.Atoi(values[0])
	switch {
	case err != nil || ms < 0:
		return -1
	case ms > math.MaxInt64/int(time.Millisecond):
		return math.MaxInt64
	}
	return time.Duration(ms) * time.Millisecond
}
