package requestlog

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Columns are the names of the columns, in order.
var Columns = []string{"ts", "request_id", "service", "attempt", "status", "circuit_state", "latency_ms", "caller", "abandoned"}

// A Row is one try.
type Row struct {
	// TS is when the try ended, or when the run did, in microseconds since
	// 1970 in UTC, rounded down.
	TS        int64  `parquet:"ts,timestamp(microsecond:utc)"`
	RequestID int64  `parquet:"request_id"` // of the original request, unique in a run
	Service   string `parquet:"service,dict"`
	Attempt   int32  `parquet:"attempt"` // of the tries of this call, from 1
	// Status is "ok", a code from 100 to 599, or a word: "timeout",
	// "connect-failure", "connect-timeout", "reset", "breaker-open", "limit",
	// "left" or "other" of a try that has failed, "pending" of one that had not
	// ended when the run did.
	Status string `parquet:"status,dict"`
	// CircuitState is the state in which the try found the caller's breaker,
	// the innermost that it met: "closed", "half-open", or "open", which
	// refused it; "none" if there is no breaker.
	CircuitState string `parquet:"circuit_state,dict"`
	// LatencyNS is the time since the try was sent. The column has it in
	// milliseconds, as a decimal number with six places.
	LatencyNS int64  `parquet:"latency_ms,decimal(6:18)"`
	Caller    string `parquet:"caller,dict"`
	// Abandoned says that the caller stopped waiting while the service still
	// had the attempt.
	Abandoned bool `parquet:"abandoned"`
}

const (
	maxLatency = 1e18 // ns that a decimal of 18 digits does not hold any more
	noBreaker  = "none"
	pending    = "pending"
)

// statuses are the names of the codes, by code.
var statuses = func() (names [600]string) {
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	for c := range 100 {
		names[c] = "other"
	}
	for c, name := range map[policies.ErrorCode]string{
		policies.ErrTimeout: "timeout", policies.ErrConnect: "connect-failure", policies.ErrConnectTimeout: "connect-timeout",
		policies.ErrReset: "reset", policies.ErrBreakerOpen: "breaker-open", policies.ErrLimit: "limit", policies.ErrLeft: "left",
	} {
		names[c] = name
	}
	return names
}()

// fill makes the row of a try in a run that began at epoch.
func (r *Row) fill(t *model.Try, epoch time.Time) error {
	if t.Request > math.MaxInt64 || t.Number > math.MaxInt32 || t.Latency < 0 || t.Latency >= maxLatency {
		return fmt.Errorf("requestlog: request %d, attempt %d, latency %v: out of the columns' range", t.Request, t.Number, t.Latency)
	}
	r.TS = epoch.Unix()*1e6 + (int64(t.At)+int64(epoch.Nanosecond()))/1e3
	r.RequestID, r.Attempt = int64(t.Request), int32(t.Number)
	r.Service, r.Caller = t.Service, t.Caller
	r.LatencyNS = int64(t.Latency)
	r.Abandoned = t.Abandoned
	switch {
	case t.OK:
		r.Status = "ok"
	case t.Pending:
		r.Status = pending
	case int(t.Code) < len(statuses):
		r.Status = statuses[t.Code]
	default:
		r.Status = "other"
	}
	switch {
	case !t.Guarded:
		r.CircuitState = noBreaker
	case t.Breaker == policies.Open:
		r.CircuitState = "open"
	case t.Breaker == policies.HalfOpen:
		r.CircuitState = "half-open"
	default:
		r.CircuitState = "closed"
	}
	return nil
}
