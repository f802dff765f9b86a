package auth

import (
	"errors"

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
	after, limit, err = page.Parse(l.Limit, l.Cursor)
	var bad *page.Error
	if errors.As(err, &bad) {
		err = &Invalid{bad.Field, bad.Message}
	}
	return after, limit, err
}
