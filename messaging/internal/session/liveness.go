package session

import (
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/provider"
)

// Liveness collects signs of life; they are written once a second rather
// than with every message.
type Liveness struct {
	mu       sync.Mutex
	inbounds map[provider.ReferenceID]time.Time
	acks     map[provider.ReferenceID]time.Time
	touched  map[provider.ReferenceID]time.Time // starting references whose network has answered
}

// Inbound notes that a reference has received something.
func (h *Liveness) Inbound(id provider.ReferenceID, at time.Time) { h.note(&h.inbounds, id, at) }

// Ack notes that the network of a reference has taken a message.
func (h *Liveness) Ack(id provider.ReferenceID, at time.Time) { h.note(&h.acks, id, at) }

// Touch notes that the network of a starting reference has answered.
func (h *Liveness) Touch(id provider.ReferenceID, at time.Time) { h.note(&h.touched, id, at) }

func (h *Liveness) note(m *map[provider.ReferenceID]time.Time, id provider.ReferenceID, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if *m == nil {
		*m = map[provider.ReferenceID]time.Time{}
	}
	(*m)[id] = at
}

// Take hands out what was noted and begins again.
func (h *Liveness) Take() (inbounds, acks, touched map[provider.ReferenceID]time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	inbounds, acks, touched = h.inbounds, h.acks, h.touched
	h.inbounds, h.acks, h.touched = nil, nil, nil
	return inbounds, acks, touched
}
