package names

import (
	"strings"
	"testing"
)

func TestKnown(t *testing.T) {
	list := []string{"false-trips", "detection-delay", "slow-calls"}
	for in, want := range map[string]string{
		"false-trip": `did you mean "false-trips"? known: false-trips, detection-delay, slow-calls`,
		"slowcalls":  `did you mean "slow-calls"?`,
		"xyz":        "known: false-trips",
		"":           "known: false-trips",
	} {
		if got := Known(in, list); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q first", in, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"", "abc", 3}, {"abc", "", 3}, {"é", "e", 1}, {"same", "same", 0}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestManyNamesAreNotAllListed(t *testing.T) {
	many := make([]string, 120)
	for i := range many {
		many[i] = strings.Repeat("x", 300)
	}
	many[119] = "near"
	if got := Known("neat", many); !strings.HasPrefix(got, `did you mean "near"?`) || !strings.HasSuffix(got, " and 70 more") {
		t.Errorf("%.60q…%q", got, got[len(got)-20:])
	}
	if got := Nearest(strings.Repeat("x", 300), many); got != "" {
		t.Errorf("%q is looked up", got)
	}
}
