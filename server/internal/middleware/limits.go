package middleware

import (
	"sync"
	"time"

	"github.com/trunklinehq/trunkline/server/auth"
)

// apiWindow is the window of Config.APILimit.
const apiWindow = time.Minute

// TokenLimits counts the requests of each token in memory: a write to the
// database for every request would cost more than what it limits.
type TokenLimits struct {
	mu      sync.Mutex
	windows map[string]window
	swept   time.Time
}

type window struct {
	count int
	ends  time.Time
}

// Take counts a request of a token that has limit of them in a minute.
func (l *TokenLimits) Take(token string, limit int, now time.Time) auth.Quota {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sweep(now)
	w := l.windows[token]
	if !now.Before(w.ends) {
		w = window{ends: now.Add(apiWindow)}
	}
	w.count++
	l.windows[token] = w
	return auth.Quota{Limit: limit, Remaining: max(0, limit-w.count), Reset: w.ends.Sub(now), Over: w.count > limit}
}

// sweep forgets windows that have ended, once a window.
func (l *TokenLimits) sweep(now time.Time) {
	if l.windows != nil && now.Sub(l.swept) < apiWindow {
		return
	}
	live := map[string]window{}
	for token, w := range l.windows {
		if now.Before(w.ends) {
			live[token] = w
		}
	}
	l.windows, l.swept = live, now
}
