package expression

import (
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
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
	return text.EditDistance([]byte(a), []byte(b))
}
