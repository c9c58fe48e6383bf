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
// A budget that is an [AttemptBudget] is told of the attempts too, a
// [CostBudget] takes for each retry what the failure before it says, and a
// [SendBudget] decides when the retry is about to be sent.
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

// An AttemptBudget is a [Budget] that looks at attempts, not only at requests.
type AttemptBudget interface {
	Budget

	// Attempt is told of each attempt that ended, before TryRetry or Done is
	// called for it: Success, or Failure for an error that is retried, or
	// Ignored for one that is not. It is not told of an attempt that was cut
	// off because its caller gave the whole request up.
	Attempt(Class)
}

// A CostBudget is a [Budget] in which retries cost different amounts. A [Retry]
// calls TryCost in place of TryRetry, and Refund when the request has been
// answered well, before Done.
type CostBudget interface {
	Budget

	// TryCost asks for one retry after an attempt with the given outcome, and
	// returns what was taken for it, at least 1.
	TryCost(Outcome) (cost int32, ok bool)

	// Refund is told of a good answer, and the cost of the retry that brought
	// it; 0 means that the first attempt did.
	Refund(cost int32)
}

// A SendBudget is a [Budget] that is asked again when the back-off is over. Its
// TryRetry gives back what the request holds, and grants always.
type SendBudget interface {
	Budget

	// TrySend takes the place of WaitDone for a retry that is about to be sent,
	// and reports whether it may be. After a refusal the request holds nothing.
	TrySend() bool
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
