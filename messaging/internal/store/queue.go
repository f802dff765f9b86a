package store

import (
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
)

// Subscriber is who works on the sends of a reference, in the queue.
func Subscriber(id provider.ReferenceID) string { return fmt.Sprintf("%d", id) }
