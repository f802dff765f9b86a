package messaging

import (
	"github.com/trunklinehq/trunkline/internal/page"
)

// Page is a page of a list.
type Page[T any] = page.Page[T]

// List bounds a page of a list.
type List = page.List

// position parses the bounds of a page of a list that has n sort keys.
func position(l List, n int) (at page.Cursor, size int, err error) {
	if size, err = page.Size(l.Limit); err != nil {
		return nil, 0, err
	}
	at, err = page.ParseCursor("cursor", l.Cursor, n)
	return at, size, err
}
