package auth

import (
	"sync"
	"time"
)

const (
	cacheLife = 2 * time.Second
	cacheSize = 10_000
)

// cache keeps for two seconds what every request asks for, which saves it a
// query: so long may another node take to see a change.
type cache[T any] struct {
	mu      sync.Mutex
	entries map[string]cached[T]
}

type cached[T any] struct {
	value T
	until time.Time
}

func (c *cache[T]) get(key string, now time.Time) (T, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	return e.value, now.Before(e.until)
}

func (c *cache[T]) put(key string, v T, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= cacheSize {
		c.entries = map[string]cached[T]{} // most of it has expired
	}
	c.entries[key] = cached[T]{v, now.Add(cacheLife)}
}

// drop makes this node see a change at once.
func (c *cache[T]) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
