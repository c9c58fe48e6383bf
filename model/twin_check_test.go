package model_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stormglass/stormglass/model"
)

// drawScripted draws a system that the twin can play.
func drawScripted(d *systemDraw) model.Config {
	source := rand.New(rand.NewPCG(rapid.Uint64().Draw(d.T, "seed"), 0))
	odd := func(lo, hi int, label string) time.Duration { // no two are equal, nor sums of a few
		return d.ms(lo, hi, label) + time.Duration(1+source.IntN(999_999))
	}
	n := d.number(1, 4, "nodes")
	room := 300.0
	steps := func(caller float64, from int) []model.Step {
		var list []model.Step
		for range d.number(1, 2, "steps") {
			var s model.Step
			total := 0
			for range d.number(1, 2, "calls") {
				c := model.Call{To: nodeName(d.number(from, n-1, "to")), Times: d.number(0, 2, "times")}
				r := retries(d.number(1, 3, "attempts"), nil)
				if each := caller * float64(max(c.Times, 1)*r.Retry.Attempts); each <= room {
					if d.flag("back-off") {
						r.Retry.Backoff = wait(odd(1, 10, "back-off"))
					}
					c.Stack = model.Stack{timeout(odd(10, 200, "deadline")), r, timeout(odd(3, 60, "timeout"))}
					s.Calls = append(s.Calls, c)
					d.most[c.To] += each
					room -= each
					total += max(c.Times, 1)
				}
			}
			if total > 0 {
				s.Need = d.number(0, total, "need")
				list = append(list, s)
			}
		}
		return list
	}
	client := model.Client{Name: "client", Requests: d.number(1, 20, "requests"), Start: odd(0, 5, "start")}
	client.Arrivals = evenly(pick(d, "rate", 8.0, 125, 1000))
	client.Steps = steps(1, 0)
	cfg := model.Config{Clients: []model.Client{client}, Horizon: time.Hour}
	for i := range n {
		node := model.Node{
			Name: nodeName(i), Workers: d.number(1, 3, "workers"), Async: d.flag("async"), Cancel: d.flag("cancel"),
			Queue: model.Queue{Order: pick(d, "order", model.FIFO, model.LIFO)},
		}
		if d.flag("bounded") {
			node.Queue.Limit = model.Known(d.number(0, 3, "limit"))
		}
		most := d.most[node.Name]
		if most > 0 && i+1 < n {
			node.Steps = steps(most, i+1)
		}
		for range int(most)*client.Requests + 1 {
			s := model.Scripted{Service: odd(0, 20, "service")}
			if d.rarely(4, "fails") {
				s.Code = 500
			}
			node.Script = append(node.Script, s)
		}
		cfg.Nodes = append(cfg.Nodes, node)
	}
	return cfg
}

func TestSystemAgainstTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &systemDraw{T: t, randomSystem: randomSystem{most: map[string]float64{}}}
		w := &twin{config: drawScripted(d)}
		if len(w.config.Clients[0].Steps) == 0 {
			t.Skip("nothing is called")
		}
		l := runRandom(t, w.config, 1).Ledger()
		for i, c := range w.run() {
			got := l.Clients[i]
			got.ByCode = nil
			if !reflect.DeepEqual(got, c) {
				t.Fatalf("%+v, want %+v", got, c)
			}
		}
		for _, n := range l.Nodes {
			want := w.nodes[n.Name].NodeLedger
			got := model.NodeLedger{
				Attempts: n.Attempts, Succeeded: n.Succeeded, Failed: n.Failed, Rejected: n.Rejected, Abandoned: n.Abandoned,
				Busy: n.Busy, Held: n.Held, Begun: n.Begun, Waited: n.Waited, Wait: n.Wait, Sojourn: n.Sojourn,
			}
			if got != want {
				t.Fatalf("%s:\n%+v, want\n%+v", n.Name, got, want)
			}
		}
		for i, k := range links(&w.config, l) {
			got, want := l.Calls[i], *w.calls[k.Call]
			got.From = ""
			if got != want {
				t.Fatalf("%s to %s:\n%+v, want\n%+v", k.from, k.To, got, want)
			}
		}
	})
}
