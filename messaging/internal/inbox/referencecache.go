package inbox

import (
	"context"
	"sync"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// referenceCache remembers what receiving needs to know of references, which
// never changes. Deleting a reference clears the whole cache.
type referenceCache struct {
	mu    sync.Mutex
	infos map[provider.ReferenceID]store.ReferenceInfo
	epoch int64 // counts calls of clear: what was read before one is not kept
}

// get returns what is known of a reference of any account, or
// [payload.ErrNotFound].
func (c *referenceCache) get(ctx context.Context, s *store.Store, id provider.ReferenceID) (store.ReferenceInfo, error) {
	c.mu.Lock()
	l, ok := c.infos[id]
	epoch := c.epoch
	c.mu.Unlock()
	if ok {
		return l, nil
	}
	l, err := s.ReferenceInfo(ctx, s.DB, id)
	if err != nil {
		return store.ReferenceInfo{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.infos == nil {
		c.infos = map[provider.ReferenceID]store.ReferenceInfo{}
	}
	if c.epoch == epoch {
		c.infos[id] = l
	}
	return l, nil
}

func (c *referenceCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.infos = nil
	c.epoch++
}
