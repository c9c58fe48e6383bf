package importer

import (
	"slices"
	"strings"
)

// A spelling is how a family of settings compares the names of keys.
type spelling uint8

const (
	loose spelling = iota // case, dashes and underscores do not matter
	exact                 // as the name is written
	proto                 // as it is written, or in lowerCamelCase: JSON of protobuf
)

// relaxed makes names equal that differ by case, dashes and underscores alone.
func relaxed(name string) string { return separators.Replace(strings.ToLower(name)) }

var separators = strings.NewReplacer("-", "", "_", "")

// camel turns max_requests into maxRequests.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		if i > 0 && p != "" {
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return strings.Join(parts, "")
}

// forms returns the ways in which a name may be written.
func (s spelling) forms(name string) []string {
	switch s {
	case loose:
		return []string{relaxed(name)}
	case proto:
		return []string{name, camel(name)}
	}
	return []string{name}
}

// is reports whether a key has one of the names.
func (r *reader) is(key string, names ...string) bool {
	if r.spelling == loose {
		key = relaxed(key)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.spelling.forms(name), key) })
}

// ask notes names that are looked for, by their families.
func (r *reader) ask(names []string) {
	for _, name := range names {
		if k := (known{r.spelling, name}); !r.known[k] {
			r.known[k] = true
			r.asked = append(r.asked, name)
		}
	}
}

// A known is a name that was looked for.
type known struct {
	spelling
	name string
}

// hint returns the known key that a key almost is, or nothing. One in which the
// case alone is wrong comes before others.
func (r *reader) hint(key string) string {
	best := ""
	for _, name := range r.asked {
		forms := r.spelling.forms(name)
		switch {
		case !r.known[known{r.spelling, name}]:
		case r.is(key, name):
			return ""
		case relaxed(key) == relaxed(name):
			best = forms[len(forms)-1]
			if strings.Contains(key, "_") {
				best = forms[0]
			}
		case best == "" && near(relaxed(key), relaxed(name)):
			best = name
		}
	}
	return best
}

// near reports whether two names are the same but for two letters in a row.
func near(a, b string) bool {
	k := 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	same := k
	for j := 1; j <= min(len(a), len(b))-k && a[len(a)-j] == b[len(b)-j]; j++ {
		same++
	}
	return max(len(a), len(b))-same <= 2 && same >= 4
}
