package model_test

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
)

func calls(to ...string) []model.Step {
	var s model.Step
	for _, name := range to {
		s.Calls = append(s.Calls, model.Call{To: name})
	}
	return []model.Step{s}
}

// The second link of a name has a number, also where the name is put together
// otherwise, or where a node's name looks like one with a number.
func TestLinkNames(t *testing.T) {
	c := model.Config{
		Nodes: []model.Node{
			{Name: "a", Replicas: 3, Steps: append(calls("b", "b", "c"), calls("b")...)},
			{Name: "x", Steps: calls("b#2", "b", "b", "b-c")},
			{Name: "x-b", Steps: calls("c")},
		},
		Clients: []model.Client{{Name: "v", Steps: calls("b", "b")}, {Name: "w", Instances: 2, Steps: calls("b")}},
	}
	var names []string
	for _, l := range c.Links() {
		names = append(names, l.Name)
	}
	want := []string{"a-b", "a-b#2", "a-c", "a-b#3", "x-b#2", "x-b", "x-b#3", "x-b-c", "x-b-c#2", "v-b", "v-b#2", "w-b"}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	for i, want := range map[int]model.Link{
		2:  {From: "a", Caller: 0, Instances: 3, Step: 0, Place: 2},
		3:  {From: "a", Caller: 0, Instances: 3, Step: 1, Place: 0},
		10: {From: "v", Caller: 3, Instances: 1, Step: 0, Place: 1},
		11: {From: "w", Caller: 4, Instances: 2, Step: 0, Place: 0},
	} {
		got := c.Links()[i]
		want.Name, want.Call = names[i], got.Call
		if got != want {
			t.Errorf("link %d is %+v, want %+v", i, got, want)
		}
	}
	c.Links()[3].Times = 7
	if got := c.Nodes[0].Steps[1].Calls[0].Times; got != 7 {
		t.Errorf("a link's call is changed to 7 times, the model's is made %d times", got)
	}
}

// Links are in the order of the ledger.
func TestLinksOfTheLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawSystem(t).Config
		s, err := model.New(c, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		links, ledger := c.Links(), s.Ledger().Calls
		if len(links) != len(ledger) {
			t.Fatalf("%d links, the ledger has %d", len(links), len(ledger))
		}
		for i, l := range links {
			if l.From != ledger[i].From || l.To != ledger[i].To {
				t.Errorf("link %d is %s, in the ledger from %s to %s", i, l.Name, ledger[i].From, ledger[i].To)
			}
		}
	})
}

// Every count of the links is in their sum.
func TestLinksTogether(t *testing.T) {
	l := &model.Ledger{Calls: make([]model.CallLedger, 3)}
	for i := range l.Calls {
		v := reflect.ValueOf(&l.Calls[i]).Elem()
		for f := range v.NumField() {
			switch field := v.Field(f); {
			case field.CanUint():
				field.SetUint(uint64(f + 100*i))
			case field.CanInt():
				field.SetInt(int64(f + 100*i))
			}
		}
	}
	sum := reflect.ValueOf(l.Together(0, 2))
	for f := range sum.NumField() {
		name, field := sum.Type().Field(f).Name, sum.Field(f)
		want := uint64(2*f + 200)
		if name == "MostAttempts" {
			want = uint64(f + 200)
		}
		if field.CanUint() && field.Uint() != want || field.CanInt() && field.Int() != int64(want) {
			t.Errorf("%s of the first and the third is %v, want %d", name, field, want)
		}
	}
}
