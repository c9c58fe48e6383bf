package explain_test

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
)

// Many retries above each other, with a breaker in each, take no more time than
// there are layers.
func TestBreakersBelowManyRetries(t *testing.T) {
	many := waiting(policies.Unlimited, ms)
	many.Retry.Deadline = time.Hour
	c := chain(26, model.Stack{waiting(5, 100*ms), many, breaker(within(time.Minute, 1000, 0.5)), timeout(time.Second)}, nil)
	begin := time.Now()
	e := of(t, c)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
	if b := e.Breakers[25]; !(b.Fresh > 0 && b.Fresh <= b.Latest) {
		t.Errorf("%+v", b)
	}
}
