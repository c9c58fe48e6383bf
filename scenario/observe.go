package scenario

import (
	"time"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/sim"
)

// An observation is what is kept of a run, by breaker and then by subject: what
// is said of a link, and of a name that is shared, is said of their breakers.
type observation struct {
	system   *model.System
	world    *world
	breakers []observed // as in world.breakers
	openings []*opening // the first of each subject, nil if there is none; once spread
	closings []int      // of each subject
}

// An observed breaker is one, or all of a group, and its changes.
type observed struct {
	initial stateCount
	changes []observedChange
	first   *opening
	asked   bool // a claim is about what is before the first opening
}

type observedChange struct {
	at time.Duration
	policies.Change
}

// An opening is an instant, and the ledger of what was before it if a claim asks
// for that.
type opening struct {
	at     time.Duration
	ledger *model.Ledger
}

// start makes the system of a replication.
func (c *Case) start(replication uint64) (*observation, error) {
	o := &observation{world: c.world, breakers: make([]observed, len(c.world.breakers))}
	config, groups := c.breakers(o.watch)
	for i := range groups {
		o.breakers[i].initial = groups[i].initial
	}
	for i := range c.statements {
		if s := &c.statements[i]; s.opening >= 0 {
			for _, b := range c.world.subjects[s.opening].breakers {
				o.breakers[b].asked = true
			}
		}
	}
	var err error
	o.system, err = model.New(config, c.Seed, replication)
	return o, err
}

// watch notes a change of a breaker. Some tell of it later than it was. One at
// the horizon is not in the run.
func (o *observation) watch(breaker int, c policies.Change) {
	at := time.Duration(sim.TimeOf(c.At))
	if at >= o.world.horizon {
		return
	}
	b := &o.breakers[breaker]
	b.changes = append(b.changes, observedChange{at, c})
	if c.To == policies.Open && (b.first == nil || at < b.first.at) {
		first := &opening{at: at}
		b.first = first
		if b.asked {
			first.ledger = o.ledger(at) // others may tell of changes meanwhile
		}
	}
}

// until is how often the breakers opened and closed before an instant, and how
// long they were open.
func (b *observed) until(t time.Duration) (openings uint64, closings int, open time.Duration) {
	open = time.Duration(b.initial.open) * t
	for _, c := range b.changes {
		if c.at >= t {
			continue
		}
		var changed stateCount
		changed.change(c.Change)
		open += time.Duration(changed.open) * (t - c.at)
		switch c.To {
		case policies.Open:
			openings++
		case policies.Closed:
			closings++
		}
	}
	return openings, closings, open
}

// ledger is that of the system now, with an entry for each subject in place of
// links: a name that is shared adds up its links. Openings are those before an
// instant, each breaker's once.
func (o *observation) ledger(t time.Duration) *model.Ledger {
	l := o.system.Ledger() // it asks all breakers, which tell of their changes
	for i := range o.world.subjects {
		s := &o.world.subjects[i]
		if i == len(l.Calls) {
			l.Calls = append(l.Calls, l.Together(s.links...))
		}
		c := &l.Calls[i]
		c.Openings, c.OpenTime = 0, 0
		for _, b := range s.breakers {
			openings, _, open := o.breakers[b].until(t)
			c.Openings += openings
			c.OpenTime += open
		}
	}
	return l
}

// spread gives each subject what was observed of its breakers: the first of
// their openings, and all their closings.
func (o *observation) spread() {
	o.openings, o.closings = make([]*opening, len(o.world.subjects)), make([]int, len(o.world.subjects))
	for i := range o.world.subjects {
		for _, at := range o.world.subjects[i].breakers {
			b := &o.breakers[at]
			if first := &o.openings[i]; b.first != nil && (*first == nil || b.first.at < (*first).at) {
				*first = b.first
			}
			_, closings, _ := b.until(o.world.horizon)
			o.closings[i] += closings
		}
	}
}
