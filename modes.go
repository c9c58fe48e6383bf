package main

import (
	"fmt"
	"slices"
	"strings"
)

// A mode is something the program does: the flag that asks for it, and the
// flags that it reads besides.
type mode struct {
	flag  string
	reads []string
}

// modes are all there are. The first that is asked for is meant.
var modes = []mode{
	{"version", nil},
	{"list", []string{"exp"}},
	{"verify", []string{"seed", "workers", "out"}},
	{"init", nil},
	{"import", nil},
	{"explain", nil},
	{"import-trace", []string{"save-trace", "record", "stamp", "skip-bad"}},
	{"replay", []string{"breakers", "scenario", "record", "stamp", "skip-bad", "seed", "reps", "workers", "out"}},
	{"scenario", []string{"junit", "timeline", "events", "seed", "reps", "workers", "out", "charts"}},
	{"exp", []string{"set", "hours", "rate", "arrivals", "trace", "save-trace", "log", "epoch", "log-sample", "seed", "reps", "workers", "out", "charts"}},
}

// modeOf finds what the flags ask for and refuses flags that it does not read.
func modeOf(given []string) (string, error) {
	i := slices.IndexFunc(modes, func(m mode) bool { return slices.Contains(given, m.flag) })
	if i < 0 {
		for _, f := range given {
			if f != "quiet" {
				return "", usagef("-%s alone does nothing, want it with %s", f, readers(f))
			}
		}
		return "", usagef("no -exp given, want -exp NAME, -scenario FILE, -list or -verify")
	}
	m := modes[i]
	for _, f := range given {
		if f == m.flag || f == "quiet" || slices.Contains(m.reads, f) {
			continue
		}
		if slices.ContainsFunc(modes, func(m mode) bool { return m.flag == f }) {
			return "", usagef("-%s and -%s, want one of them", m.flag, f)
		}
		return "", usagef("-%s has no effect with -%s, want it with %s", f, m.flag, readers(f))
	}
	if m.flag == "scenario" && !slices.Contains(given, "timeline") {
		for _, f := range []string{"out", "charts"} {
			if slices.Contains(given, f) {
				return "", usagef("-%s has no effect with -scenario alone, want it with -timeline", f)
			}
		}
	}
	return m.flag, nil
}

// readers names the modes that read a flag, such as "-replay or -scenario".
func readers(flag string) string {
	var list []string
	for _, m := range modes {
		if slices.Contains(m.reads, flag) {
			list = append(list, "-"+m.flag)
		}
	}
	if n := len(list); n > 1 {
		return fmt.Sprintf("%s or %s", strings.Join(list[:n-1], ", "), list[n-1])
	}
	return strings.Join(list, "")
}
