package policies

// A Budget bounds the retries of many requests together. It is what [Retry]
// asks before it grants one.
//
// The life of a request is one Request, then after each attempt that failed a
// TryRetry as long as the answer is yes, and in the end one Done. A retry
// that was granted is in progress from that instant: while it waits for its
// back-off, while it runs, and until the request asks for its next retry or
// is done. So a request holds at most one place, and held, whether it holds
// one, is the same as whether it was granted a retry before.
//
// A budget that is an [AttemptBudget] is told of the attempts too.
//
// All budgets of this package are safe for concurrent use. None but
// [WindowBudget] reads a clock, and none allocates anything for a request or
// a retry, apart from that one while its window grows.
type Budget interface {
	// Request is told that an original request starts, before its first
	// attempt.
	Request()

	// TryRetry asks for one retry, and takes what it costs if it is granted.
	// If held, the place of the request's previous retry is given back and
	// asked for again in one step, so that no other request comes between.
	// After a refusal the request holds no place.
	TryRetry(held bool) bool

	// WaitDone is told once for each granted retry that its back-off is over:
	// it is sent now, or given up.
	WaitDone()

	// Done is told that a request has ended, for whatever reason: whether it
	// still holds the place of a retry, and whether it was answered well.
	Done(held, success bool)
}

// UnlimitedBudget grants every retry.
type UnlimitedBudget struct{}

func (UnlimitedBudget) Request()           {}
func (UnlimitedBudget) TryRetry(bool) bool { return true }
func (UnlimitedBudget) WaitDone()          {}
func (UnlimitedBudget) Done(_, _ bool)     {}

// EmptyBudget refuses every retry.
type EmptyBudget struct{}

func (EmptyBudget) Request()           {}
func (EmptyBudget) TryRetry(bool) bool { return false }
func (EmptyBudget) WaitDone()          {}
func (EmptyBudget) Done(_, _ bool)     {}
