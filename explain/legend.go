package explain

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/stormglass/stormglass/table"
)

var attemptsColumns = []meaning{
	{"client", "who makes the request"},
	{"node", "which node is called for it, directly or by others"},
	{"meant", "calls of the node for a request if all goes well"},
	{"worst", "attempts if every call of the node fails: meant × the attempts of all retry layers on the way, of each way"},
	{"with budgets", "the same if each layer makes no more attempts than its budget grants in the long run; bursts come on top"},
	{"product", "the factors of worst, on the way with the most"},
}

var budgetsColumns = []meaning{
	{"link", "the call, as caller-callee, that has the budget"},
	{"kind", "of budget"},
	{"instances", "budgets of this kind, one for each instance of the caller, with equal shares of the calls"},
	{"calls", "calls per second and instance, retries apart: λ"},
	{"with retries", "the same with the retries of all outside it"},
	{"wanted", "retries for each call that an outage asks for: attempts − 1"},
	{"attempts", "attempts for each call that are granted in the long run: 1 + the lesser of wanted and what the budget allows"},
	{"burst", "retries that a full budget grants at once beside these, at most; of a cap or share, retries at a time"},
	{"binds above", "calls per second and instance from which on a retry is refused, after errors or timeouts"},
	{"formula", "of attempts, before wanted limits it"},
}

var waitsColumns = []meaning{
	{"who waits", "a client that waits for a request, or a caller that waits for a call"},
	{"as modelled", "the longest time if the nodes do as they are described, faults included; unbounded: no bound is known"},
	{"if it hangs", "the longest time if the nodes that call no other never answer"},
	{"which is", "how the time of if it hangs comes about"},
}

var deadlinesColumns = []meaning{
	{"link", "the call that is repeated"},
	{"within", "time for all attempts: the nearest timeout outside, or the retry's own deadline, after which no attempt begins"},
	{"each", "time of an attempt, until the timeout inside"},
	{"attempts", "as set"},
	{"begin", "attempts that begin in time, after mean back-offs"},
	{"whole", "those of them that have all of their time"},
	{"last one", "time that the last one has"},
	{"back-off", "sum of the mean waits between those that begin"},
}

var breakersColumns = []meaning{
	{"link", "the call that has the breaker"},
	{"kind", "of window, or the library"},
	{"instances", "breakers of this kind, one for each instance of the caller"},
	{"outcomes", "outcomes per second and instance if all is well"},
	{"with retries", "the same with the retries outside it that an outage asks for and budgets grant in the long run"},
	{"holds", "outcomes in a full window at that rate: the lesser of its number and ⌈rate × length⌉"},
	{"minimum", "outcomes that it needs before it looks"},
	{"first after", "time until the first failure has come in, if the callee answers 503 after its mean time"},
	{"if hanging", "time until the first timeout has come in, if it never answers"},
	{"opens fresh", "from the first failing call to the opening, with an empty window, and retries with the budgets of the start"},
	{"healthy", "the same with a window full of good outcomes, and full budgets"},
	{"latest", "the later of the two without retries, if all clients but the first come as late as they can"},
	{"hang fresh", "as opens fresh, if the callee hangs"},
	{"hang healthy", "as healthy, if the callee hangs"},
	{"slow from", "the earliest opening by slow calls: in the mean time of the callee, or as soon as they count as slow"},
}

// about is before the opening times that are not exact.
const (
	about        = "≈"
	aboutMeaning = "the time of opening is not exact: means stand for random arrivals and waits, a share for the retries that a budget refuses; several clients come in any phase; it looks from time to time; or not all of many retries are gone through"
)

var loadsColumns = []meaning{
	{"node", "all replicas of it together"},
	{"calls", "calls per second at the busiest time, retries apart; of a closed loop, clients / (think time + mean answer)"},
	{"held", "time that a call holds a worker: its service, and the node's own calls unless it is async"},
	{"capacity", "the least of workers / held, of 1 / service_per_in_flight and of the rate of shed, times replicas"},
	{"rho", "calls / capacity"},
	{"with retries", "calls per second if every call of the node fails: calls × worst / meant"},
	{"with budgets", "the same × with budgets / meant, in the long run"},
	{"burst", "attempts beside these that all budgets on the way grant at once when they are full"},
}

// rules says what the findings of each name are.
var rules = map[string]string{
	"attempt-too-long":        "an attempt that times out ends after the retry's own deadline",
	"attempts-cut":            "attempts × each + back-offs is more than the time for them",
	"backoff-too-long":        "the first retry comes after the timeout or deadline, so there is none",
	"breaker-blind":           "calls that hang never open it: no timeout gives them an outcome, or too few are under way",
	"breaker-counts-attempts": "inside a retry: each attempt is an outcome",
	"breaker-counts-calls":    "around a retry: all attempts of a call are one outcome",
	"breaker-hanging":         "when it opens if the callee hangs",
	"breaker-late":            "it opens after the end of the run",
	"breaker-needs-retries":   "rate × window reaches the minimum with retries alone",
	"breaker-never-opens":     "no outage opens it, such as by rate × window < minimum",
	"budget-burst":            "retries that a full budget grants at once, beside the long run",
	"budget-empty":            "tokens must be earned before the first retry: 1 / ratio calls",
	"budget-grants-nothing":   "a budget without tokens at first that earns none",
	"budget-keeps-up":         "load with retries > capacity, but not with what the budgets grant in the long run",
	"budget-never-binds":      "an outage asks for no more retries than it allows",
	"budget-per-instance":     "the budgets of all instances add up",
	"errors-not-counted":      "an outage with errors that it does not count as failures",
	"every-attempt-times-out": "mean answer ≥ timeout of an attempt",
	"false-trips":             "it opens though nothing is out of the ordinary: as many calls fail or are slow as it takes",
	"failures-expire":         "failures in a row have left the memory before they are enough",
	"failures-ignored":        "it looks at slow calls only",
	"history-grows":           "its window has no bound: the longer all goes well, the later it opens",
	"limit-too-low":           "calls in flight if all is well, rate × time (Little), > cap; or calls > rate of shed",
	"little-headroom":         "rho > 0.8",
	"minimum-above-window":    "the minimum counts as the size of the window",
	"never-called":            "no client's requests lead to it",
	"never-happens":           "a fault or a limit that has no effect",
	"no-attempt-timeout":      "the first attempt that hangs takes the time of all",
	"no-backoff":              "calls that failed together are repeated together",
	"no-deadline":             "there is no deadline to act on",
	"no-effect":               "a setting that changes nothing",
	"no-pause":                "a client makes its next request at the instant of a refusal",
	"no-timeout":              "nothing ends a call but its answer",
	"not-valid":               "the system is not valid, and nothing else is said of it",
	"not-worked-out":          "nothing is said of a breaker of this kind",
	"one-success-holds":       "at a threshold of 100 % one good outcome keeps it closed",
	"outlives-callers":        "a node's own calls go on when nobody waits for it any more",
	"overload":                "calls ≥ capacity without retries, or clients of closed loops who wait for longer than their timeouts",
	"probes-unlimited":        "half-open, any number of calls passes until an outcome is known",
	"repeated-write":          "a retry may have a second effect",
	"retry-cap":               "what a number or share of retries at a time means in retries a second: places / (attempt + back-off)",
	"retry-layers":            "attempts of layers around each other multiply",
	"retry-never":             "there is no error that it repeats",
	"saturated":               "closed loops ask for more than the capacity, so their clients wait",
	"shared-breaker":          "one breaker for several calls",
	"slow-late":               "slow calls count when they return",
	"slow-never":              "a timeout ends a call before it counts as slow",
	"slow-without-rate":       "slow calls are counted for nothing",
	"slow-recovery":           "load with retries / (capacity - load) is 10 or more: what a second of an outage leaves takes as many to work off",
	"slower-under-load":       "service grows with the calls at the node",
	"stays-down":              "load × attempts granted > capacity: calls that time out in the queue are repeated faster than it is served",
	"timeout-in-tail":         "a part of the good answers takes longer than the timeout",
	"timeout-order":           "a timeout is not shorter than one around it",
	"timeout-too-short":       "no good answer is faster than the timeout",
	"timeouts-not-retried":    "a timeout is not among the errors that are repeated",
	"turned-away":             "few places, and calls or services of chance: M/M/c/K",
	"unbounded-wait":          "no bound is known for a client's wait",
	"unsafe-retry":            "calls that must not be made twice are",
	"workers-used-up":         "workers / time of a call whose callee hangs < calls",
}

// WriteLegend writes what the columns and the findings of the explanations mean,
// as far as there are such: once, below all that WriteText has written of them.
// The error is that of w.
func WriteLegend(w io.Writer, all ...*Explanation) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "What the words mean")
	var topics []*topic
	for _, e := range all {
		for _, t := range e.topics() {
			i := slices.IndexFunc(topics, func(o *topic) bool { return o.Caption == t.Caption })
			switch {
			case i < 0:
				topics = append(topics, t)
			case len(t.meanings) > len(topics[i].meanings): // with a sign that the others do not need
				topics[i] = t
			}
		}
	}
	for _, t := range topics {
		writeMeanings(b, t.Caption, "word", t.meanings)
	}
	if found := foundRules(all); len(found) > 0 {
		writeMeanings(b, "Findings: a problem does not do what it is there for, a warning does harm under load or in an outage", "name", found)
	}
	return b.Flush()
}

// foundRules are the rules of which there are findings, the worst first.
func foundRules(all []*Explanation) (found []meaning) {
	seen := make(map[string]bool)
	for s := Problem; s <= Note; s++ {
		for _, e := range all {
			for _, f := range e.Findings {
				if f.Severity == s && !seen[f.Rule] {
					seen[f.Rule] = true
					found = append(found, meaning{"[" + f.Rule + "]", rules[f.Rule]})
				}
			}
		}
	}
	return found
}

func writeMeanings(b *bufio.Writer, caption, words string, list []meaning) {
	t := table.Text{Caption: caption, Header: []string{words, "meaning"}, Left: 2}
	for _, m := range list {
		t.Append(m.word, m.meaning)
	}
	fmt.Fprintln(b)
	t.Write(b)
}
