package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/explain"
	"github.com/stormglass/stormglass/policies"
)

// What the model remarks is a finding of the same rule, which says how bad it is.
func TestRemarksAreFindings(t *testing.T) {
	r := retry(policies.Unlimited)
	r.Retry.Deadline, r.Retry.Backoff = time.Second, policies.BackoffConfig{}
	e := of(t, link(1, 10*ms, r, timeout(2*time.Second)))
	says(t, e, "no-backoff", explain.Problem, "retry: unlimited attempts")
	says(t, e, "attempt-too-long", explain.Warning, "timeout 2s inside")
	c := link(1, 10*ms)
	c.Nodes[1].Dedup = true
	says(t, of(t, c), "no-effect", explain.Note, "without writes")
}
