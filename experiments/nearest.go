package experiments

import (
	"fmt"
	"strings"
)

// known lists the known names and, if one is close to the unknown name, says
// so first.
func known(name string, names []string) string {
	list := "known: " + strings.Join(names, ", ")
	best, bestDistance := "", len(name)/2+1
	for _, n := range names {
		if d := editDistance(name, n); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q? %s", best, list)
	}
	return list
}

// editDistance is Levenshtein's distance in bytes (Wagner and Fischer, 1974).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
