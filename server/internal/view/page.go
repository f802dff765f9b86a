package view

import (
	"github.com/trunklinehq/trunkline/internal/page"
)

// Page is a page of a list, as the API shows it. Items is never nil.
type Page[T any] struct {
	Items []T     `json:"items" nullable:"false"`
	Next  *string `json:"next" doc:"Cursor of the next page; null on the last."`
}

// PageOf is a page of views of the items of p.
func PageOf[T, V any](p page.Page[T], view func(T) V) Page[V] {
	out := All(p.Items, view)
	if p.Next != "" {
		out.Next = &p.Next
	}
	return out
}

// All is a page of views of all items of a list.
func All[T, V any](items []T, view func(T) V) Page[V] {
	out := Page[V]{Items: make([]V, len(items))}
	for i, it := range items {
		out.Items[i] = view(it)
	}
	return out
}

// AsIs is the view of an item that the API shows as it is.
func AsIs[T any](v T) T { return v }
