// Package testsignal lets tests wait until something has happened in a component, so
// that they do not look again and again. Components send; only tests wait.
package testsignal

import "sync/atomic"

// Signal says that something has happened. Its zero value can be used. A signal
// without a waiting test is lost: take the channel first, then look.
type Signal struct {
	next atomic.Pointer[chan struct{}]
}

// Send wakes all who wait. It costs an atomic load while no test waits.
func (s *Signal) Send() {
	if ch := s.next.Load(); ch != nil && s.next.CompareAndSwap(ch, nil) {
		close(*ch)
	}
}

// Next returns a channel that the next call of Send closes.
func (s *Signal) Next() <-chan struct{} {
	ch := make(chan struct{})
	for {
		if waited := s.next.Load(); waited != nil {
			return *waited
		}
		if s.next.CompareAndSwap(nil, &ch) {
			return ch
		}
	}
}
