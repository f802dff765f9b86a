package text

import (
	"slices"
	"strings"
)

// Nearest returns the element of names whose spelling is closest to name, counting
// letters added, omitted, replaced or swapped with their neighbour. It returns ""
// if none is close.
func Nearest(name string, names []string) string {
	best, least := "", len(name)/3+2
	for _, known := range slices.Sorted(slices.Values(names)) {
		if d := distance(strings.ToLower(name), strings.ToLower(known)); d < least {
			best, least = known, d
		}
	}
	return best
}

// maxSuggestion limits the length of names that are compared: longer ones are not
// typing mistakes.
const maxSuggestion = 64

// distance counts the bytes to add, remove, replace or swap with their neighbour
// that turn one name into the other.
func distance(a, b string) int {
	if len(a) > maxSuggestion || len(b) > maxSuggestion {
		return maxSuggestion
	}
	return EditDistance([]byte(a), []byte(b))
}
