package delivery

import "sync"

// Breakers count, per endpoint and in this process, the different events that
// failed in a row. A restart forgets them, which costs a few attempts.
type Breakers struct {
	mu     sync.Mutex
	events map[string]map[string]bool
}

// failed adds an event and returns how many there are.
func (b *Breakers) failed(endpoint, event string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.events == nil {
		b.events = map[string]map[string]bool{}
	}
	if b.events[endpoint] == nil {
		b.events[endpoint] = map[string]bool{}
	}
	b.events[endpoint][event] = true
	return len(b.events[endpoint])
}

// Clear forgets the failures of an endpoint.
func (b *Breakers) Clear(endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.events, endpoint)
}
