package cloud

import (
	"maps"
	"slices"
)

// Fields are those of callbacks that are understood.
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }
