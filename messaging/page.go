package messaging

import (
	"github.com/trunklinehq/trunkline/messaging/internal/store"
)

// Page is one page of a list. Items is never nil.
type Page[T any] struct {
	Items []T     `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Cursor of the next page; null on the last page."`
}

// List bounds a page.
type List struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Cursor string // Page.Next of the page before; "": the first page
}

func (l List) limit() (int, error) {
	switch {
	case l.Limit == 0:
		return 50, nil
	case l.Limit < 1:
		return 0, &Invalid{Field: "limit", Message: "must be at least 1"}
	}
	return min(l.Limit, 200), nil
}

// page cuts rows, of which one more than limit was asked for.
func page[R, T any](rows []R, limit int, key func(R) store.Cursor, view func(R) T) Page[T] {
	p := Page[T]{Items: []T{}}
	if len(rows) > limit {
		rows = rows[:limit]
		next := key(rows[limit-1]).String()
		p.Next = &next
	}
	for _, r := range rows {
		p.Items = append(p.Items, view(r))
	}
	return p
}
