package expression

import (
	"strings"

	"github.com/trunklinehq/trunkline/internal/text"
)

// Nearest returns the element of names whose spelling is closest to name, counting
// letters added, omitted, replaced or swapped with their neighbour. It returns ""
// if none is close.
func Nearest(name string, names []string) string { return text.Nearest(name, names) }

// suggest adds the name that was probably meant, or all names.
func suggest(err *Error, name string, names []string) *Error {
	best := text.Nearest(name, names)
	switch {
	case best != "":
		return err.hint("did you mean %s?", best)
	case len(names) > 0 && len(names) <= 20:
		return err.hint("the names are %s", strings.Join(names, ", "))
	}
	return err
}
