package values

import (
	"slices"
)

// Names are the names of a map in their order.
func Names[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
