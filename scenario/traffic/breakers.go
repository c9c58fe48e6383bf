package traffic

import (
	"fmt"

	"github.com/stormglass/stormglass/model"
	"github.com/stormglass/stormglass/policies"
	"github.com/stormglass/stormglass/policies/presets"
)

// A Breaker is one to be asked what it would have done.
type Breaker struct {
	Name  string
	Maker policies.BreakerMaker

	// Classify says what an outcome counts as; nil leaves it to the breaker. It
	// sees the code of each call, as well as the recording knows it, and can
	// forgive a failure or ignore a call. A call that did not fail by the
	// recording is never a failure. Several replays may ask it at a time.
	Classify func(policies.Outcome) policies.Class
}

// Presets returns breakers of libraries by name, with their defaults; without
// names all of them. The error of an unknown name lists the known ones.
func Presets(names ...string) ([]Breaker, error) {
	if len(names) == 0 {
		names = presets.BreakerNames()
	}
	var list []Breaker
	for _, name := range names {
		p, err := presets.FindBreaker(name)
		if err != nil {
			return nil, err
		}
		list = append(list, Breaker{Name: p.Name, Maker: p.Defaults()})
	}
	return list, nil
}

// Breakers returns the breakers of a system, each as if the recorded calls
// were those that reach it; none if the system has none. One is named after
// its link as in model.Config.Links, or after its share, and if there are several on a link after its place there:
// "web-shop stack 1", the outermost first, "web-shop sidecar 1".
//
// What stands around a breaker has no part in the replay: neither the timeouts
// inside it, nor the retries outside, nor the number of instances.
func Breakers(c model.Config) []Breaker {
	var list []Breaker
	shared := make(map[string]bool)
	for _, link := range c.Links() {
		list = append(list, ofLink(link, shared)...)
	}
	return list
}

// ofLink returns the breakers of a link, but for those shared ones that are
// known.
func ofLink(link model.Link, shared map[string]bool) []Breaker {
	var list []Breaker
	var places []string
	for _, stack := range []struct {
		name   string
		layers model.Stack
	}{{"stack", link.Stack}, {"sidecar", link.Sidecar}} {
		for i, l := range stack.layers {
			b := l.Breaker
			if b == nil || b.Share != "" && shared[b.Share] {
				continue
			}
			player := Breaker{Name: link.Name, Maker: b.BreakerConfig, Classify: b.Classify}
			if b.Preset != nil {
				player.Maker = b.Preset
			}
			place := fmt.Sprintf(" %s %d", stack.name, i+1)
			if b.Share != "" {
				shared[b.Share] = true
				player.Name, place = "share "+b.Share, ""
			}
			list, places = append(list, player), append(places, place)
		}
	}
	for i := range list {
		if len(list) > 1 {
			list[i].Name += places[i]
		}
		list[i].Name = printable(list[i].Name)
	}
	return list
}
