// Package names helps a user who has mistyped a name: it says which are known
// and which is nearest.
package names

import (
	"fmt"
	"strings"
)

// listed is how many names a message lists, and longest how long one may be, in
// characters, to be looked up.
const (
	listed  = 50
	longest = 200
)

// Known lists the known names, the first 50 if there are more, after the one
// that is nearest to the unknown name if one is near: at most half of its
// letters differ.
func Known(unknown string, known []string) string {
	if len(known) == 0 {
		return "none is known"
	}
	list := "known: " + strings.Join(known[:min(len(known), listed)], ", ")
	if more := len(known) - listed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if best := Nearest(unknown, known); best != "" {
		return fmt.Sprintf("did you mean %q? %s", best, list)
	}
	return list
}

// Nearest returns the known name with the smallest edit distance, the first of
// equals, or "" if more than half of the unknown name would have to change, or
// it is longer than any name that is looked up.
func Nearest(unknown string, known []string) string {
	letters := []rune(unknown)
	if len(letters) > longest {
		return ""
	}
	best, bestDistance := "", len(letters)/2+1
	for _, n := range known {
		other := []rune(n)
		if apart := len(other) - len(letters); apart >= bestDistance || -apart >= bestDistance {
			continue // at least so many are inserted or removed
		}
		if d := distance(letters, other); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	return best
}

// distance is the number of characters inserted, removed or replaced
// (Levenshtein 1966), by the method of Wagner and Fischer (1974).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			replace := diagonal
			if x != y {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
