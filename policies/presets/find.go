package presets

import (
	"fmt"

	"github.com/stormglass/stormglass/names"
)

// namesOf returns the names of presets.
func namesOf[P any](all []P, name func(P) string) []string {
	var list []string
	for _, p := range all {
		list = append(list, name(p))
	}
	return list
}

// find returns the preset of a name. The error of an unknown name lists the
// known ones.
func find[P any](what, want string, all []P, name func(P) string) (P, error) {
	for _, p := range all {
		if name(p) == want {
			return p, nil
		}
	}
	var none P
	return none, fmt.Errorf("presets: there is no %s %q; %s", what, want, names.Known(want, namesOf(all, name)))
}
