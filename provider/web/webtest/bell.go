package webtest

import "context"

// bell wakes those who wait for a change of what it stands for. The server's
// lock guards it.
type bell struct{ rung chan struct{} }

func (b *bell) ring() {
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

func (b *bell) wait() <-chan struct{} {
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// until waits, without polling, for ready to hold. Ready runs under the
// server's lock, again whenever b rings.
func (s *Server) until(ctx context.Context, b *bell, ready func() bool) error {
	for {
		s.mu.Lock()
		if ready() {
			s.mu.Unlock()
			return nil
		}
		rung := b.wait()
		s.mu.Unlock()
		select {
		case <-rung:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
