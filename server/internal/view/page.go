package view

import (
	"github.com/trunklinehq/trunkline/messaging"
)

// Page is a page of views; next is "" on the last.
func Page[T, V any](items []T, next string, view func(T) V) messaging.Page[V] {
	out := messaging.Page[V]{Items: make([]V, len(items))}
	for i, it := range items {
		out.Items[i] = view(it)
	}
	if next != "" {
		out.Next = &next
	}
	return out
}
