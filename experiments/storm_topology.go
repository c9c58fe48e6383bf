package experiments

import (
	"fmt"
	"strconv"
	"strings"
)

const topologyGrammar = "ATTEMPTS[-ATTEMPTS…][*COPIES], the layer nearest the user first, such as 4, 4*3 or 3-3-3; at most 10000 calls in all"

// A topologySpec is layers of retries as written.
type topologySpec struct {
	attempts []int // by layer, the first is nearest the user
	copies   int   // of the last call
}

// parseTopology reads a topologySpec, see topologyGrammar.
func parseTopology(text string) (t topologySpec, err error) {
	const most = 10_000
	fail := func(what string) (topologySpec, error) {
		return topologySpec{}, fmt.Errorf("topology %q: %s, want %s", text, what, topologyGrammar)
	}
	layers, copies, has := strings.Cut(text, "*")
	t.copies = 1
	if has {
		if t.copies, err = strconv.Atoi(copies); err != nil || t.copies < 1 || t.copies > most {
			return fail(fmt.Sprintf("%q copies", copies))
		}
	}
	all := t.copies
	for _, field := range strings.Split(layers, "-") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > maxRetries+1 {
			return fail(fmt.Sprintf("%q attempts", field))
		}
		t.attempts = append(t.attempts, n)
		if all *= n; all > most || len(t.attempts) > 10 {
			return fail("too many")
		}
	}
	return t, nil
}

// product is the most attempts of a copy of the last call, all layers together.
func (t topologySpec) product() float64 {
	p := 1.0
	for _, n := range t.attempts {
		p *= float64(n)
	}
	return p
}

// ages lists after which times a request makes its attempts at the node if
// each of them takes one timeout and every service works on for callers that
// have gone: timeout × the sum of the attempts made before at every layer.
func (t topologySpec) ages(timeout float64) []float64 {
	sums := []int{0}
	for _, n := range t.attempts {
		var next []int
		for _, s := range sums {
			for k := range n {
				next = append(next, s+k)
			}
		}
		sums = next
	}
	ages := make([]float64, len(sums))
	for i, s := range sums {
		ages[i] = float64(s) * timeout
	}
	return ages
}

// name is the spec in canonical form.
func (t topologySpec) name() string {
	var parts []string
	for _, n := range t.attempts {
		parts = append(parts, strconv.Itoa(n))
	}
	text := strings.Join(parts, "-")
	if t.copies > 1 {
		text += "*" + strconv.Itoa(t.copies)
	}
	return text
}

// String says it in words: "2 layers: 4 × 3 attempts, 3 copies".
func (t topologySpec) String() string {
	var parts []string
	for _, n := range t.attempts {
		parts = append(parts, strconv.Itoa(n))
	}
	text := fmt.Sprintf("%d layers: %s attempts", len(parts), strings.Join(parts, " × "))
	if len(parts) == 1 {
		text = "1 layer: " + parts[0] + " attempts"
	}
	if t.copies > 1 {
		text += fmt.Sprintf(", %d copies", t.copies)
	}
	return text
}

func topologyFactor(levels ...string) Factor {
	return Factor{
		Name: "topology", Doc: "most attempts of each layer and copies of the last call: " + topologyGrammar, Levels: levels,
		label: func(text string) string {
			t, err := parseTopology(text)
			if err != nil {
				return text
			}
			return t.String()
		},
		check: func(text string) (string, error) {
			t, err := parseTopology(text)
			if err != nil {
				return "", err
			}
			return t.name(), nil
		},
	}
}

// topology returns the layers of a cell.
func (c Cell) topology() topologySpec {
	t, err := parseTopology(c.Text("topology"))
	if err != nil {
		panic(err) // the factor has checked it
	}
	return t
}
