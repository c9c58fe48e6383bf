package presets

import (
	"testing"
	"time"

	"github.com/stormglass/stormglass/policies"
)

func TestHystrixDefaults(t *testing.T) {
	same(t, "1.4", Hystrix14Defaults(), HystrixConfig{Version: "1.4.26", Window: 10 * time.Second, Buckets: 10,
		SnapshotInterval: 500 * time.Millisecond, VolumeThreshold: 20, ErrorThreshold: 50, SleepWindow: 5 * time.Second})
	same(t, "1.5.13", Hystrix1513Defaults(), HystrixConfig{Version: "1.5.13", Window: 10 * time.Second,
		SnapshotInterval: 500 * time.Millisecond, VolumeThreshold: 20, ErrorThreshold: 50, SleepWindow: 5 * time.Second})
	same(t, "1.5.18", Hystrix1518Defaults(), HystrixConfig{Version: "1.5.18", Window: 10 * time.Second,
		SnapshotInterval: 500 * time.Millisecond, VolumeThreshold: 20, ErrorThreshold: 50, SleepWindow: 5 * time.Second})
}

func TestHystrixBadConfigs(t *testing.T) {
	old, stream := Hystrix14Defaults(), Hystrix1513Defaults()
	bad := func(c HystrixConfig, field string, change func(*HystrixConfig)) {
		t.Helper()
		change(&c)
		badConfig(t, c, field)
	}
	badConfig(t, HystrixConfig{}, "version")
	for _, c := range []HystrixConfig{old, stream, Hystrix1518Defaults()} {
		bad(c, "window", func(c *HystrixConfig) { c.Window = 0 })
		bad(c, "window", func(c *HystrixConfig) { c.Window += time.Microsecond })
		bad(c, "buckets", func(c *HystrixConfig) { c.Buckets += 7 })
		bad(c, "snapshot interval", func(c *HystrixConfig) { c.SnapshotInterval = -time.Millisecond })
		bad(c, "volume threshold", func(c *HystrixConfig) { c.VolumeThreshold = -1 })
		bad(c, "error threshold", func(c *HystrixConfig) { c.ErrorThreshold = -1 })
		bad(c, "sleep window", func(c *HystrixConfig) { c.SleepWindow = 1 })
	}
	bad(old, "buckets", func(c *HystrixConfig) { c.Buckets = 0 })
	bad(stream, "snapshot interval", func(c *HystrixConfig) { c.SnapshotInterval = 0 })
	bad(stream, "snapshot interval", func(c *HystrixConfig) { c.SnapshotInterval = 11 * time.Second })
	if n, err := NewHystrixRollingNumber(time.Second, 7, nil); err == nil || n != nil {
		t.Errorf("rolling number %v and error %v", n, err)
	}
}

// The three breakers before the same outage.
func TestHystrixOpening(t *testing.T) {
	for _, c := range []HystrixConfig{Hystrix14Defaults(), Hystrix1513Defaults(), Hystrix1518Defaults()} {
		d := newDrill(t, c)
		d.at(100 * time.Millisecond).run("++++++++++----------")
		d.at(499 * time.Millisecond).run("-")
		d.at(700 * time.Millisecond)
		opened := 700 * time.Millisecond
		if c.Version == Hystrix1513 { // by itself
			opened = 500 * time.Millisecond
			d.want(policies.Open)
		} else {
			d.want(policies.Closed)
		}
		d.refused()
		d.want(policies.Open)
		total, errors, percent := d.b.(*Hystrix).Health()
		same(t, "health", [3]int{total, errors, percent}, [3]int{21, 11, 52})
		since, _ := d.b.(*Hystrix).Since()
		same(t, "since", since.Sub(drillStart), opened)
		d.at(opened + c.SleepWindow).refused()
		d.at(opened + c.SleepWindow + time.Millisecond)
		p := d.allow()
		d.refused()
		d.end(p, '+')
		d.want(policies.Closed)
		s := d.b.Stats()
		same(t, "stats", [4]uint64{s.Openings, s.Closings, s.Probes, s.Refused}, [4]uint64{1, 1, 1, 3})
	}
}

// A single test that never ends does not block 1.4 and 1.5.18, and any success
// closes. Half-open of 1.5.13 is one call, until something ends.
func TestHystrixRecovery(t *testing.T) {
	for _, c := range []HystrixConfig{Hystrix14Defaults(), Hystrix1513Defaults(), Hystrix1518Defaults()} {
		d := newDrill(t, c)
		late, later := d.allow(), d.allow()
		d.run("--------------------")
		d.at(time.Second)
		if c.Version == Hystrix1513 {
			d.want(policies.Open)
			d.at(6 * time.Second).allow()
			d.at(time.Hour).refused()
			d.end(late, 'i') // a call of before the opening decides
			d.want(policies.Open)
			d.at(2 * time.Hour).run("c")
			d.want(policies.Open)
			d.at(3 * time.Hour).run("-")
			d.want(policies.Open)
			d.end(later, '+') // not while open
			d.want(policies.Open)
			continue
		}
		d.refused()
		d.at(7 * time.Second).run("-")
		d.refused()
		d.at(13 * time.Second).allow()
		d.want(policies.Open)
		same(t, "probes", d.b.Stats().Probes, 2)
		d.end(late, 'i')
		d.want(policies.Open)
		d.end(later, '+')
		d.want(policies.Closed)
	}
}

// Old successes leave the window of 1.5.13 and let it open long after the last
// call. When nothing can open it any more, it has no deadline.
func TestHystrixDeadlines(t *testing.T) {
	c := Hystrix1513Defaults()
	c.VolumeThreshold = 10
	d := newDrill(t, c)
	deadline := func() time.Duration {
		at, ok := d.b.NextDeadline()
		if !ok {
			return -1
		}
		return at.Sub(drillStart)
	}
	d.run("++++++++++++++++++++")
	same(t, "deadline without a failure", deadline(), -1)
	d.at(time.Second).run("---------")
	same(t, "deadline", deadline(), 1500*time.Millisecond)
	d.run("-")
	d.at(10 * time.Second).want(policies.Closed)
	same(t, "last deadline", deadline(), 10500*time.Millisecond)
	d.at(1000 * time.Hour).want(policies.Open)
	since, _ := d.b.(*Hystrix).Since()
	same(t, "since", since.Sub(drillStart), 10500*time.Millisecond)

	c.VolumeThreshold = 1
	c.ErrorThreshold = 101
	d = newDrill(t, c)
	d.run("-")
	d.at(1000 * time.Hour).want(policies.Closed)
	same(t, "deadline of an empty window", deadline(), -1)
}

func TestHystrixPercent(t *testing.T) {
	for _, x := range [][3]int{{0, 0, 0}, {1, 3, 33}, {4999, 10000, 49}, {29, 100, 28}, {57, 100, 56}, {58, 100, 57}, {7, 100, 7}} {
		same(t, "percent", hystrixPercent(policies.Counts{Failures: x[0], Calls: x[1]}), x[2])
	}
}

func TestHystrixRollingNumber(t *testing.T) {
	d := newDrill(t, Hystrix14Defaults()) // for its clock
	n, err := NewHystrixRollingNumber(10*time.Second, 10, d)
	if err != nil {
		t.Fatal(err)
	}
	want := func(buckets, sum, latest, most int) {
		t.Helper()
		same(t, "sum, latest, most, buckets", [4]int{n.Sum(), n.Latest(), n.Max(), n.Buckets()}, [4]int{sum, latest, most, buckets})
	}
	d.at(300 * time.Millisecond)
	n.Add(5) // its bucket ends at 1.3 s
	d.at(1300 * time.Millisecond)
	n.Add(2)
	want(2, 7, 2, 5)
	d.at(10299 * time.Millisecond)
	want(10, 7, 0, 5)
	d.at(10300 * time.Millisecond)
	want(10, 2, 0, 2)
	d.at(21300 * time.Millisecond) // one window after the end of the last bucket
	n.Add(4)                       // to the bucket that ends now
	want(10, 4, 0, 4)              // the next one, to 22.3 s
	d.at(32301 * time.Millisecond) // more than a window
	n.Add(1)
	want(1, 1, 1, 1)
	d.at(33300 * time.Millisecond)
	want(1, 1, 1, 1)
	d.at(33301 * time.Millisecond)
	want(2, 1, 0, 1)
	n.Reset()
	same(t, "buckets after a reset", n.Buckets(), 0)
	same(t, "cumulative", n.Cumulative(), 12)
}

func TestHystrixAllocations(t *testing.T) {
	for _, c := range []HystrixConfig{Hystrix14Defaults(), Hystrix1513Defaults(), Hystrix1518Defaults()} {
		noAllocations(t, c)
	}
}
