package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
)

// toy multiplies its numeric factor by the replication number.
func toy() *Experiment {
	return &Experiment{
		Name: "toy",
		Doc:  "What is it?",
		Factors: []Factor{
			choice("kind", "", []string{"a", "b"}, 2),
			withPanel(number("x", "", 0, 100, 1, 2, 3)),
			choice("mood", "", []string{"calm", "panic", "fail"}, 1),
		},
		Metrics: []Metric{{Name: "y"}, {Name: "hit_ratio", Proportion: true}, {Name: "delay_s", Censored: "missed_count"}},
		Reps:    4,
		Valid:   func(c Cell) bool { return c.Text("kind") == "a" || c.Float("x") < 3 },
		Measure: func(_ context.Context, j Job) ([][]float64, error) {
			var rows [][]float64
			for _, c := range j.Cells {
				if j.Replication == 2 {
					switch c.Text("mood") {
					case "panic":
						panic("boom")
					case "fail":
						return nil, errors.New("no luck")
					}
				}
				delay := 1.5
				if j.Replication == 3 {
					delay = math.Inf(1)
				}
				rows = append(rows, []float64{c.Float("x") * float64(j.Replication), float64(j.Replication % 2), delay})
			}
			return rows, nil
		},
	}
}

func mustPlan(t *testing.T, e *Experiment, o Options) *Plan {
	t.Helper()
	p, err := NewPlan(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanCrossesFactorsInOrder(t *testing.T) {
	p := mustPlan(t, toy(), Options{})
	var cells []string
	for _, c := range p.Cells {
		cells = append(cells, c.Text("kind")+c.Text("x"))
	}
	if got := strings.Join(cells, " "); got != "a1 a2 a3 b1 b2" {
		t.Errorf("cells %q, want the first factor slowest and b3 left out", got)
	}
	if p.Jobs() != 2*4 {
		t.Errorf("%d jobs, want one per kind and replication: panel factors share a run", p.Jobs())
	}
	if job, _ := p.job(3); len(job.Cells) != 2 || job.Cells[0].Text("kind") != "b" || job.Replication != 1 {
		t.Errorf("job 3 is %v, want b of replication 1", job)
	}
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Reps: -1}, "replications -1, want 1 to"},
		{Options{Reps: 1 << 40}, "want 1 to"},
		{Options{Set: map[string]string{"z": "1"}}, `no factor "z", known: kind, x, mood`},
		{Options{Set: map[string]string{"kinds": "a"}}, `did you mean "kind"?`},
		{Options{Set: map[string]string{"x": "3", "kind": "b"}}, "no valid combination"},
		{Options{Set: map[string]string{"x": "1:100:0.01"}, Reps: 100_000}, "want at most"},
	} {
		if _, err := NewPlan(toy(), c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.o, err, c.want)
		}
	}
}

func TestRunsTable(t *testing.T) {
	r, err := mustPlan(t, toy(), Options{Seed: 7, Set: map[string]string{"kind": "b", "x": "2"}}).Run(context.Background(), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.Runs().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	const want = `experiment,kind,x,mood,replication,seed,y,hit_ratio,delay_s,missed_count
toy,b,2,calm,0,7,0,0,1.5,0
toy,b,2,calm,1,7,2,1,1.5,0
toy,b,2,calm,2,7,4,0,1.5,0
toy,b,2,calm,3,7,6,1,,1
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	s := r.Stat(0, "y")
	// Mean 3, variance 20/3; t(0.975, 3) = 3.182446.
	if half := 3.182446 * math.Sqrt(20.0/3/4); s.Mean != 3 || math.Abs(s.Hi-3-half) > 1e-5 || s.Lo != 0 {
		t.Errorf("y: %+v, want 3 up to %v, and down to 0: no metric is negative", s, 3+half)
	}
	if d := r.Stat(0, "delay_s"); d.N != 3 || d.Censored != 1 || d.Mean != 1.5 {
		t.Errorf("delay: %+v, want 3 reached, 1 not", d)
	}
	if h := r.Stat(0, "hit_ratio"); h.Mean != 0.5 || math.Abs(h.Lo-0.15) > 0.01 || math.Abs(h.Hi-0.85) > 0.01 {
		t.Errorf("hit ratio: %+v, want 0.5 in Wilson's [0.15, 0.85]", h)
	}
	sum := r.Summary()
	if v := sum.Value(sum.Rows[0], "missed_count"); v != 1 {
		t.Errorf("missed_count %v, want 1", v)
	}
	if v := sum.Value(sum.Rows[0], "n"); v != 4 {
		t.Errorf("n %v, want 4", v)
	}
}

// A job that fails or panics says how to run it again, and what was measured
// before stays.
func TestFailureKeepsWhatWasMeasured(t *testing.T) {
	for mood, want := range map[string]string{"fail": "no luck", "panic": "internal error in kind=a x=1 mood=panic, replication 2, seed 9: boom"} {
		r, err := mustPlan(t, toy(), Options{Seed: 9, Set: map[string]string{"mood": mood, "kind": "a", "x": "1"}}).Run(context.Background(), 1, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", mood, err, want)
		}
		if got := r.Values(0, "y"); fmt.Sprint(got) != "[0 1]" || r.Done() != 2 {
			t.Errorf("%s: values %v, want those of replications 0 and 1", mood, got)
		}
	}
}

func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := mustPlan(t, toy(), Options{Reps: 1000}).Run(ctx, 1, func(done, _ int) {
		if done == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || r.Done() < 5 || r.Done() > 6 {
		t.Errorf("%d jobs done, error %v, want about 5 and canceled", r.Done(), err)
	}
	if n := len(r.Runs().Rows); n < 5 {
		t.Errorf("%d rows, want those of the finished jobs", n)
	}
}

// An error that stops the other workers is not hidden by what it does to them.
func TestTheCauseIsReported(t *testing.T) {
	e := toy()
	started := make(chan struct{})
	e.Measure = func(ctx context.Context, j Job) ([][]float64, error) {
		if j.Replication == 0 && j.Cells[0].Text("kind") == "a" { // the job with the lowest number
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		<-started
		return nil, errors.New("real cause")
	}
	_, err := mustPlan(t, e, Options{}).Run(context.Background(), 2, nil)
	if err == nil || !strings.Contains(err.Error(), "real cause") {
		t.Errorf("error %v, want the real cause", err)
	}
}

// Results are stored by index: any number of workers gives the same tables.
func TestWorkersDoNotMatter(t *testing.T) {
	csv := func(workers int) string {
		var b strings.Builder
		var calls atomic.Int64
		r, err := mustPlan(t, toy(), Options{Reps: 50}).Run(context.Background(), workers, func(int, int) { calls.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		if int(calls.Load()) != r.Plan.Jobs() {
			t.Errorf("%d progress calls, want one per job", calls.Load())
		}
		r.Runs().WriteCSV(&b)
		r.Summary().WriteCSV(&b)
		return b.String()
	}
	if one, eight := csv(1), csv(8); one != eight {
		t.Errorf("1 worker\n%s\n8 workers\n%s", one, eight)
	}
}
