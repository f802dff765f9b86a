package expression

import (
	"slices"
	"strings"
)

// Nearest returns the one of names that is written most like name, by letters
// added, left out, exchanged or swapped with their neighbour; "" when none is
// like it.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/3+2
	for _, known := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(name), strings.ToLower(known)); d < least {
			best, least = known, d
		}
	}
	return best
}

// suggest adds the name that was probably meant, or the names there are.
func suggest(err *Error, name string, names []string) *Error {
	best := Nearest(name, names)
	switch {
	case best != "":
		return err.hint("did you mean %s?", best)
	case len(names) > 0 && len(names) <= 20:
		return err.hint("there are %s", strings.Join(names, ", "))
	}
	return err
}

// maxSuggestion bounds the names that are compared: longer ones are no typing
// mistakes.
const maxSuggestion = 64

// distance counts the bytes that must be added, taken away, exchanged or
// swapped with their neighbour to make one name the other.
func distance(a, b string) int {
	if len(a) > maxSuggestion || len(b) > maxSuggestion {
		return maxSuggestion
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+order01(a[i-1] == b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
