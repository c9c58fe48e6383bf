package presets

import (
	"fmt"
	"strings"
)

// namesOf returns the names of presets.
func namesOf[P any](all []P, name func(P) string) []string {
	var names []string
	for _, p := range all {
		names = append(names, name(p))
	}
	return names
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
	return none, fmt.Errorf("presets: %s %q, want one of %s", what, want, strings.Join(namesOf(all, name), ", "))
}
