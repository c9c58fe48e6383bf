package model

import (
	"time"
)

// A script deals out the services of a node's Script.
type script struct {
	answers []Scripted
	repeat  bool
	at      int // the answer that is next
	used    int // how often it has been given
}

// next fixes the service of a job, unless the script has ended.
func (c *script) next(j *job) (time.Duration, bool) {
	if c.at == len(c.answers) {
		return 0, false
	}
	a := &c.answers[c.at]
	if c.used++; c.used >= max(1, a.Times) {
		c.used = 0
		if c.at++; c.at == len(c.answers) && c.repeat {
			c.at = 0
		}
	}
	j.failed, j.code = a.Code != 0, a.Code
	return a.Service, true
}

func (k *check) script(thing string, n *Node) {
	for i := range n.Script {
		a := &n.Script[i]
		if a.Times < 0 {
			k.add(thing, "script %d: times %d, want at least 1, or 0 for 1", i+1, a.Times)
		}
		if a.Service < 0 {
			k.add(thing, "script %d: service %v, want at least 0s", i+1, a.Service)
		}
		if !validCode(a.Code) {
			k.add(thing, "script %d: code %d, want from 100 to 599 or a code without answer, or 0 for a good one", i+1, uint16(a.Code))
		}
	}
	if n.ScriptRepeat && len(n.Script) == 0 {
		k.add(thing, "script repeat, want a script")
	}
}
