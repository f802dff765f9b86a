package auth

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
	Next  string // the cursor of the next page; "": this is the last
}

// position is the last row of the page before, and how many rows to return.
func (l List) position() (after int64, limit int, err error) {
	return page.Parse(l.Limit, l.Cursor)
}
