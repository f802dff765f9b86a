package groupcommit

import (
	"context"
	"fmt"
	"time"
)

// Reads combines concurrent reads of single values into reads of many. A read sees
// everything that was committed before it was asked for.
type Reads[K comparable, V any] struct {
	group Group[*read[K, V]]
}

type read[K comparable, V any] struct {
	key   K
	value V
	found bool
}

const (
	// readsAtOnce is how many combined reads are under way at a time.
	readsAtOnce = 2
	// readTimeout is the time that a combined read may take. It does not depend on a
	// caller, who may leave before its end.
	readTimeout = 15 * time.Second
)

// NewReads returns Reads that call all with different keys. It returns the values that
// exist.
func NewReads[K comparable, V any](all func(ctx context.Context, keys []K) (map[K]V, error)) *Reads[K, V] {
	r := &Reads[K, V]{}
	r.group.Gate = make(chan struct{}, readsAtOnce)
	r.group.Run = func(ctx context.Context, reads []*read[K, V]) []error {
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		var keys []K
		known := map[K]bool{}
		for _, one := range reads {
			if !known[one.key] {
				known[one.key] = true
				keys = append(keys, one.key)
			}
		}
		values, err := all(ctx, keys)
		errs := make([]error, len(reads))
		for i, one := range reads {
			one.value, one.found = values[one.key]
			errs[i] = err
		}
		return errs
	}
	return r
}

// Get returns the value of a key, and whether it exists.
func (r *Reads[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	one := &read[K, V]{key: key}
	if err := r.group.Do(ctx, one); err != nil {
		return value, false, fmt.Errorf("reading together: %w", err)
	}
	return one.value, one.found, nil
}
