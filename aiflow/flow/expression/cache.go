package expression

import (
	"crypto/sha256"
	"sync"
)

// Cache keeps programs and templates by the hash of their source and scope, so that
// compiling a document again costs little. It is safe for concurrent use. A nil
// Cache keeps nothing.
type Cache struct {
	size int

	mu          sync.Mutex
	young, aged map[[sha256.Size]byte]any // *Program or *Template
}

// NewCache returns a cache for at least size and at most twice as many entries. It
// drops entries that were not used during the last size additions.
func NewCache(size int) *Cache {
	return &Cache{size: max(1, size), young: map[[sha256.Size]byte]any{}}
}

// Compile is [Compile] through the cache. It does not cache errors.
func (c *Cache) Compile(src string, scope *Scope) (*Program, error) {
	if c == nil {
		return Compile(src, scope)
	}
	key := cacheKey('p', src, scope)
	if p, ok := c.get(key).(*Program); ok {
		return p, nil
	}
	p, err := Compile(src, scope)
	if err == nil {
		c.put(key, p)
	}
	return p, err
}

// ParseTemplate is [ParseTemplate] through the cache.
func (c *Cache) ParseTemplate(src string, scope *Scope) (*Template, error) {
	if c == nil {
		return ParseTemplate(src, scope)
	}
	key := cacheKey('t', src, scope)
	if t, ok := c.get(key).(*Template); ok {
		return t, nil
	}
	t, err := ParseTemplate(src, scope)
	if err == nil {
		c.put(key, t)
	}
	return t, err
}

func cacheKey(kind byte, src string, scope *Scope) [sha256.Size]byte {
	b := make([]byte, 0, 1+sha256.Size+len(src))
	b = append(b, kind)
	if scope != nil {
		b = append(b, scope.hash[:]...)
	}
	return sha256.Sum256(append(b, src...))
}

func (c *Cache) get(key [sha256.Size]byte) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[key]; ok {
		return v
	}
	v, ok := c.aged[key]
	if ok {
		c.add(key, v)
	}
	return v
}

func (c *Cache) put(key [sha256.Size]byte, v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, v)
}

func (c *Cache) add(key [sha256.Size]byte, v any) {
	if len(c.young) >= c.size {
		c.aged, c.young = c.young, make(map[[sha256.Size]byte]any, c.size)
	}
	c.young[key] = v
}
