package experiments

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

const asyncWay = "async"

// wayFactor is how what the user wants is done: sync-N, with N retries while
// the user waits, or async.
func wayFactor() Factor {
	f := Factor{
		Name: "way", Doc: "sync-N: the user waits for the callee, with N retries; async: the user waits for the queue, its consumers retry",
		Levels: []string{"sync-0", "sync-1", "sync-3", asyncWay},
	}
	f.check = func(text string) (string, error) {
		if text == asyncWay {
			return text, nil
		}
		number, ok := strings.CutPrefix(text, "sync-")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 || n > maxRetries {
			return "", fmt.Errorf("%q, want async or sync-N with N retries, 0 to %d", text, maxRetries)
		}
		return "sync-" + strconv.Itoa(n), nil
	}
	f.label = func(level string) string {
		switch n := syncRetries(level); n {
		case -1:
			return "queue, delayed retries"
		case 0:
			return "user waits, no retry"
		case 1:
			return "user waits, 1 retry"
		default:
			return fmt.Sprintf("user waits, %d retries", n)
		}
	}
	return f
}

// syncRetries is the N of sync-N; -1 for async.
func syncRetries(way string) int {
	number, ok := strings.CutPrefix(way, "sync-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return -1
	}
	return n
}

func syncAsync() *Experiment {
	return &Experiment{
		Name: "sync-async",
		Doc: `Retry while the user waits, or answer at once and catch up later?
Users make requests at random of a callee with limited workers, which fails for
outage_s: at once, or after the time of the work, so that attempts that fail
take its capacity. With sync-N the user waits for the callee, and an attempt that
fails or times out is tried again N times, with an exponential back-off; the
callee's queue is unbounded, and it works on for those who have gone. With async
the user waits until a queue has the message; as many consumers as the callee
has workers try it, after a failure again after a delay that doubles up to a
cap. Waits are those of users who come in the outage. Source: retry governance,
section 11.`,
		Factors: []Factor{
			wayFactor(),
			choice("outage_answer", "when attempts in the outage fail: at-once, or after the time of the work", []string{answerAtOnce, answerAfterWork}, 2),
			number("outage_s", "length of the outage, s", 1e-3, 1e5, 0.5, 5, 30, 120),
			number("outage_at_s", "start of the outage, s", 0, 1e5, 20),
			positive("rate_rps", "requests per second, Poisson", 1e6, 60),
			whole("workers", "calls that the callee serves at a time, and consumers", 1, 100_000, 20),
			positive("service_s", "mean time of the work, exponential, s", 1e4, 0.2),
			positive("timeout_s", "timeout of a user's attempt, s", 1e4, 2),
			positive("backoff_ms", "first back-off of sync, ms; it doubles", 1e6, 120),
			number("jitter_ratio", "share by which a back-off is shorter or longer", 0, 1, 0.3),
			number("ack_ms", "time until the queue has a message, ms", 0, 1e4, 5),
			positive("delay_s", "first delay of async, s; it doubles", 1e5, 1, 10),
			positive("cap_s", "longest delay of async, s; at least the first", 1e5, 30),
			number("rest_s", "time after the outage, in which users come for the first half, s", 1e-3, 1e5, 180),
		},
		Metrics: append([]Metric{
			{Name: "wait_mean_s", Doc: "mean time until a user who comes in the outage has an answer, s"},
			{Name: "wait_p50_s", Doc: "the time that half of them wait at most, s"},
			{Name: "wait_p99_s", Doc: "the time that 99 % of them wait at most, s"},
			{Name: "seen_success_ratio", Doc: "share of them who are told that it is done (sync) or will be (async)"},
			{Name: "outage_load_ratio", Doc: "attempts at the callee in the outage, per second, ÷ its capacity"},
			{Name: "attempts_ratio", Doc: "attempts ÷ requests, whole run"},
			{Name: "after_success_ratio", Doc: "share of the users who come after the outage who are told so"},
			{Name: "undone_count", Doc: "requests of all users without an effect at the end: their users were told of a failure, or they still wait"},
			{Name: "duplicate_count", Doc: "effects beyond the first of each request"},
			{Name: "done_s", Doc: "end of the outage until all requests made before have been done, s; a failure told to the user is never done", Censored: "never_done_count"},
		}, retryMeasures...),
		Reps:    10,
		Valid:   func(c Cell) bool { return c.Text("way") == asyncWay || c.first("delay_s") && c.first("cap_s") },
		Check:   checkSyncAsync,
		Measure: measureSyncAsync,
		Logs:    func(c Cell) bool { return c.Text("way") != asyncWay },
		Exact:   exactSyncAsync,
		Report:  reportSyncAsync,
	}
}

// delaysWithoutEnd is more delayed retries than a run has room for at the
// longest delay of a day; nothing dies of them.
const delaysWithoutEnd = 1_000_000

func checkSyncAsync(c Cell) error {
	horizon := c.Float("outage_at_s") + c.Float("outage_s") + c.Float("rest_s")
	attempts := 1 + math.Max(0, float64(syncRetries(c.Text("way"))))
	if syncRetries(c.Text("way")) < 0 {
		attempts += horizon / c.Float("delay_s")
	}
	if n := horizon * c.Float("rate_rps") * attempts; n > maxAttemptsPerRun {
		return fmt.Errorf("experiments: sync-async: (outage_at_s + outage_s + rest_s) × rate_rps × attempts = %s, want at most %g", formatNumber(math.Round(n)), float64(maxAttemptsPerRun))
	}
	if way := c.Text("way"); way != asyncWay {
		return syncConfig(c).Validate()
	}
	return asyncConfig(c).Validate()
}

// The users of a run, by when they come.
const (
	usersBefore = "before"
	usersIn     = "outage"
	usersAfter  = "after"
)

func syncConfig(c Cell) model.Config {
	start := seconds(c.Float("outage_at_s"))
	end := start + seconds(c.Float("outage_s"))
	rest := seconds(c.Float("rest_s"))
	stack := retries(syncRetries(c.Text("way")), policies.BackoffConfig{
		Kind: policies.ExponentialBackoff, Base: milliseconds(c.Float("backoff_ms")), Jitter: c.Float("jitter_ratio"),
	}, policies.ErrorList{})
	stack = append(stack, model.Layer{Timeout: seconds(c.Float("timeout_s"))})
	config := model.Config{
		Horizon: end + rest,
		Nodes: []model.Node{{
			Name: "callee", Workers: int(c.Float("workers")), Writes: true,
			Service: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
			Faults:  []model.Fault{{Kind: model.FaultError, Start: start, End: end, Fast: c.Text("outage_answer") == answerAtOnce}},
		}},
	}
	for _, u := range []struct {
		name     string
		from, to time.Duration
	}{{usersBefore, 0, start}, {usersIn, start, end}, {usersAfter, end, end + rest/2}} {
		if u.from < u.to {
			config.Clients = append(config.Clients, model.Client{
				Name: u.name, Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")},
				Start: u.from, End: u.to, Steps: calls(model.Call{To: "callee", Stack: stack}),
			})
		}
	}
	return config
}

func asyncConfig(c Cell) model.DeliveryConfig {
	start := seconds(c.Float("outage_at_s"))
	end := start + seconds(c.Float("outage_s"))
	rest := seconds(c.Float("rest_s"))
	return model.DeliveryConfig{
		Producer: model.Producer{
			Arrivals: model.Arrivals{Kind: model.Poisson, RateRPS: c.Float("rate_rps")}, End: end + rest/2,
			Ack: model.Law{Mean: milliseconds(c.Float("ack_ms"))}, AckTimeout: milliseconds(c.Float("ack_ms")) + time.Second,
		},
		Queue: model.MessageQueue{Delays: delaysWithoutEnd, Backoff: policies.BackoffConfig{
			Kind: policies.ExponentialBackoff, Base: seconds(c.Float("delay_s")), Cap: seconds(c.Float("cap_s")),
		}},
		Consumers: model.Consumers{
			Count: int(c.Float("workers")), Processing: model.Law{Kind: model.Exponential, Mean: seconds(c.Float("service_s"))},
		},
		Dependency: model.Dependency{OutageStart: start, OutageEnd: end, OutageFast: c.Text("outage_answer") == answerAtOnce},
		Horizon:    end + rest,
	}
}

func measureSyncAsync(ctx context.Context, j Job) ([][]float64, error) {
	var row []float64
	var err error
	if j.Cells[0].Text("way") == asyncWay {
		row, err = measureAsync(ctx, j)
	} else {
		row, err = measureSync(ctx, j)
	}
	return [][]float64{row}, err
}

func measureSync(ctx context.Context, j Job) ([]float64, error) {
	c := j.Cells[0]
	s, err := newSystem(j, syncConfig(c))
	if err != nil {
		return nil, err
	}
	start := sim.Time(seconds(c.Float("outage_at_s")))
	end := start.Add(seconds(c.Float("outage_s")))
	if err := s.RunUntil(ctx, start); err != nil {
		return nil, err
	}
	before := s.Ledger().Node("callee").Attempts
	if err := s.RunUntil(ctx, end); err != nil {
		return nil, err
	}
	inOutage := s.Ledger().Node("callee").Attempts - before
	// Users of the outage are done when none of them waits any more.
	done, horizon := math.Inf(1), end.Add(seconds(c.Float("rest_s")))
	for t := end; math.IsInf(done, 1) && t < horizon; t = t.Add(max(10*time.Millisecond, t.Sub(end)/100)) {
		if err := s.RunUntil(ctx, t); err != nil {
			return nil, err
		}
		if waitingFor(s.Ledger()) == 0 {
			done = t.Sub(end).Seconds()
		}
	}
	if err := s.Run(ctx); err != nil {
		return nil, err
	}
	logPending(j, s)
	l := s.Ledger()
	callee, in, after := l.Node("callee"), l.Client(usersIn), l.Client(usersAfter)
	var requests, failed uint64
	for i := range l.Clients {
		requests += l.Clients[i].Requests
		if l.Clients[i].Name != usersAfter {
			failed += l.Clients[i].Failed
		}
	}
	if failed > 0 {
		done = math.Inf(1)
	}
	return withMeasures(l,
		quotient(in.Latency.Seconds(), float64(in.Measured)), s.LatencyQuantile(usersIn, 0.5).Seconds(), s.LatencyQuantile(usersIn, 0.99).Seconds(),
		quotient(float64(in.Succeeded), float64(in.Requests)),
		float64(inOutage)/c.Float("outage_s")/c.capacity(),
		quotient(float64(callee.Attempts), float64(requests)),
		quotient(float64(after.Succeeded), float64(after.Requests)),
		float64(requests-(callee.Writes-callee.DuplicateWrites)), float64(callee.DuplicateWrites), done,
	), nil
}

// waitingFor counts the users who came before the end of the outage and have no
// answer yet.
func waitingFor(l *model.Ledger) (n uint64) {
	for i := range l.Clients {
		if l.Clients[i].Name != usersAfter {
			n += l.Clients[i].InFlight
		}
	}
	return n
}

func measureAsync(ctx context.Context, j Job) ([]float64, error) {
	c := j.Cells[0]
	d, err := model.NewDelivery(asyncConfig(c), j.Seed, j.Replication)
	if err != nil {
		return nil, err
	}
	if err := d.Run(ctx); err != nil {
		return nil, err
	}
	l := d.Ledger()
	end := seconds(c.Float("outage_at_s")) + seconds(c.Float("outage_s"))
	var last time.Duration
	done := 0.0
	for _, e := range d.Effects() {
		if e.Begun < end && e.First < 0 {
			done = math.Inf(1)
		} else if e.Begun < end {
			last = max(last, e.First)
		}
	}
	done = math.Max(done, (last - end).Seconds())
	// Every user is told that it will be done: no acknowledgement is lost.
	return append([]float64{
		d.PublishMean().Seconds(), d.PublishQuantile(0.5).Seconds(), d.PublishQuantile(0.99).Seconds(), 1,
		float64(l.OutageAttempts) / c.Float("outage_s") / c.capacity(),
		quotient(float64(l.Attempts), float64(l.Intents)), 1,
		float64(l.Intents - l.Effected), float64(l.Duplicates.All()), done,
	}, undefinedMeasures()...), nil
}

// exactSyncAsync knows what is nobody's luck: what a user waits for a queue,
// and what happens in an outage that answers at once, in which each request
// makes all its attempts but those that come after it.
func exactSyncAsync(c Cell, metric string, _ int) (float64, bool) {
	n := syncRetries(c.Text("way"))
	length, load := c.Float("outage_s"), c.Float("rate_rps")/c.capacity()
	atOnce := c.Text("outage_answer") == answerAtOnce && load <= 0.7 && c.Float("workers") >= 10
	if n < 0 {
		switch metric {
		case "wait_mean_s":
			return c.Float("ack_ms") / 1e3, true
		case "seen_success_ratio", "after_success_ratio":
			return 1, true
		case "duplicate_count":
			return 0, true
		case "outage_load_ratio":
			return load * delayedAttempts(length, c.Float("delay_s"), c.Float("cap_s")), atOnce
		}
		return 0, false
	}
	longest := c.Float("backoff_ms") / 1e3 * (math.Pow(2, float64(n)) - 1) * (1 + c.Float("jitter_ratio"))
	if !atOnce || longest > length || c.Float("timeout_s") < 8*c.Float("service_s") {
		return 0, false
	}
	switch metric {
	case "outage_load_ratio":
		inside := 0.0
		for k := range n + 1 {
			inside += 1 - c.Float("backoff_ms")/1e3*(math.Pow(2, float64(k))-1)/length
		}
		return load * inside, true
	case "seen_success_ratio":
		return c.Float("backoff_ms") / 1e3 * (math.Pow(2, float64(n)) - 1) / length, true
	case "undone_count":
		return c.Float("rate_rps") * (length - c.Float("backoff_ms")/1e3*(math.Pow(2, float64(n))-1)), true
	case "wait_mean_s":
		return 0, n == 0
	}
	return 0, false
}

// delayedAttempts is the mean number of attempts within an outage of a message
// that comes in it, at a random instant, and is tried again after delays that
// double up to a cap.
func delayedAttempts(outage, delay, cap float64) float64 {
	sum := 0.0
	for after := 0.0; after < outage; delay *= 2 {
		sum += 1 - after/outage
		after += math.Min(delay, cap)
	}
	return sum
}
