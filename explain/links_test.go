package explain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stormglass/stormglass/model"
)

// Links between the same two are told apart, and named as in claims; those of
// the clients come first.
func TestLinksOfOneName(t *testing.T) {
	stack := model.Stack{timeout(time.Second), breaker(last(10, 10, 0.5))}
	c := link(10, 10*ms, stack...)
	c.Nodes[0].Steps = append(c.Nodes[0].Steps, c.Nodes[0].Steps[0])
	c.Clients[0].Steps[0].Calls[0].Stack = stack
	e := of(t, c)
	var breakers, waits []string
	for _, b := range e.Breakers {
		breakers = append(breakers, b.Link)
	}
	for _, w := range e.Waits {
		if w.Link {
			waits = append(waits, w.Place)
		}
	}
	want := []string{"web-a", "a-b", "a-b#2"}
	if !slices.Equal(breakers, want) || !slices.Equal(waits, want) {
		t.Errorf("breakers on %q, waits on %q, want %q", breakers, waits, want)
	}
}
