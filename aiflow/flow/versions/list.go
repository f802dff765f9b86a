package versions

import (
	"github.com/trunklinehq/trunkline/internal/page"
)

// List bounds a page of a list.
type List struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Cursor string // Page.Next of the page before; "": the first page
}

// Page is a page of a list.
type Page[T any] struct {
	Items []T    // never nil
	Next  string // the cursor of the next page; "": it is the last
}

// Bounds reads the bounds of a page: the number of the last row of the page
// before, and how many rows the page has. Wrong ones are Options.Invalid.
func (s *Store) Bounds(l List) (last int64, rows int, err error) {
	return page.Parse(l.Limit, l.Cursor)
}
