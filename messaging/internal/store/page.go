package store

import (
	"fmt"

	"github.com/trunklinehq/trunkline/internal/page"
)

// Params collects the parameters of a statement.
type Params []any

// Pair adds both keys of a position, to be compared with two columns.
func (p *Params) Pair(at page.Cursor) string {
	return `(CAST(` + p.Add(at[0]) + ` AS BIGINT), CAST(` + p.Add(at[1]) + ` AS BIGINT))`
}

// Add adds a value and returns its place in the statement.
func (p *Params) Add(v any) string {
	*p = append(*p, v)
	return fmt.Sprintf("$%d", len(*p))
}
