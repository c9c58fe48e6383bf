package conformance

import "time"

// epoch is the time zero of all recordings: 946684800 s of Unix time, the
// beginning of a day.
var epoch = time.Unix(946684800, 0).UTC()

// A clock is set by hand.
type clock struct{ now time.Time }

// Now implements policies.Clock.
func (c *clock) Now() time.Time { return c.now }

// set sets the clock to a time since the epoch.
func (c *clock) set(t time.Duration) { c.now = epoch.Add(t) }
