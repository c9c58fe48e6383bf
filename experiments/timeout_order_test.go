package experiments

import (
	"math"
	"strings"
	"testing"
)

// mustRefuse checks that a plan with these levels is an error with a text.
func mustRefuse(t *testing.T, e *Experiment, set map[string]string, part string) {
	t.Helper()
	_, err := NewPlan(e, Options{Set: set})
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s with %v: error %v, want one with %q", e.Name, set, err, part)
	}
}

// The article's three wrong orders and its nested one, to the last digit.
func TestTimeoutOrder(t *testing.T) {
	r := mustRun(t, timeoutOrder(), Options{})
	mustBeExact(t, r, 128)
	for _, want := range []struct {
		timeouts, cancel                          string
		attempts, whole, copies                   float64
		served, unwanted, held, nothing, succeeds float64
	}{
		{"5/6/20x2", "off", 2, 1, 2, 12, 2, 10, 0, 0},
		{"5/6/20x2", "on", 2, 1, 1, 10, 0, 10, 0, 0},
		{"5/4/20x2", "off", 2, 1, 1, 8, 0, 8, 0, 0},
		{"5/6/10x3", "off", 2, 1, 2, 12, 2, 10, 0, 0}, // two retries on paper, one in fact
		{"5/4/10x3", "off", 3, 1, 1, 12, 2, 10, 0, 0},
		{"10/5/20x2", "off", 2, 1, 1, 10, 0, 10, 0, 0}, // a 504 ends the wait
		{"10/5/20x2-silent", "off", 2, 1, 1, 10, 0, 20, 10, 0},
		{"2.5/1.8/3x2", "off", 2, 0, 1, 3.6, 0.6, 3, 0, 0},
		{"2.5/1.8/3x2-guard", "off", 1, 0, 1, 1.8, 0, 1.8, 0, 0},
	} {
		for i, v := range []float64{want.attempts, want.whole, want.copies, want.served, want.unwanted, want.held, want.nothing, want.succeeds} {
			m := orderMetrics[i].Name
			if s, ok := r.Lookup(map[string]string{"timeouts": want.timeouts, "cancel": want.cancel}, m); !ok || s.Mean != v {
				t.Errorf("%s, cancel %s: %s %v, want %v", want.timeouts, want.cancel, m, s.Mean, v)
			}
		}
	}
}

// Simulation and arithmetic agree on many settings, those where things meet at
// one instant included.
func TestTimeoutOrderAgainstArithmetic(t *testing.T) {
	var levels []string
	for _, client := range []string{"1", "2", "3.5", "6"} {
		for _, server := range []string{"0.5", "2", "3", "7"} {
			for _, rest := range []string{"0x1", "0x4", "6x3", "6x3-silent", "7.2x4-guard", "5x3-silent-guard", "2x2"} {
				levels = append(levels, client+"/"+server+"/"+rest)
			}
		}
	}
	r := mustRun(t, timeoutOrder(), Options{Set: map[string]string{"timeouts": strings.Join(levels, ","), "work_s": "0.7,2,2.9,60", "queue_s": "0,0.5,1.5"}})
	for i, c := range r.Plan.Cells {
		for _, m := range orderMetrics {
			if s := r.Stat(i, m.Name); math.Abs(s.Mean-s.Exact) > 1e-9 {
				t.Errorf("%s: %s %v, arithmetic %v", c, m.Name, s.Mean, s.Exact)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func TestTimeoutOrderRefuses(t *testing.T) {
	for text, part := range map[string]string{
		"5/6x2": "2 timeouts", "5/6/10": "3 timeouts", "5/6/10x0": `"0" attempts`, "0/6/10x2": "0 s, from", "5/6/10x2-loud": `"loud"`, "5/6/0x2-guard": "guard without a total",
		"5/6/10x2-guard-silent": `"silent"`, "a/6/10x2": "want a finite",
	} {
		mustRefuse(t, timeoutOrder(), map[string]string{"timeouts": text}, part)
	}
}
