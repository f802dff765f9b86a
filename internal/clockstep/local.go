package clockstep

import (
	"sync"
	"time"
)

// local compares the clock of this machine with the one that is never set.
type local struct {
	mu    sync.Mutex
	since time.Time // the time of both, at one moment; zero: not begun
}

// back returns how far the clock was set back since the last call that found no step.
func (l *local) back() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	by := now.Sub(l.since) - now.Round(0).Sub(l.since.Round(0))
	if l.since.IsZero() || by <= tolerance {
		l.since = now
		return 0
	}
	return by
}

// reset forgets a step.
func (l *local) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since = time.Now()
}
