package messaging

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// Stats is what an operator watches of all accounts, beside the queue: see
// [Service.QueueStats].
type Stats struct {
	Sessions    []SessionCount // kinds and states that no reference has are absent
	DeadLetters int64          // items of callbacks that could not be read
}

// SessionCount is how many references of a kind are in a state.
type SessionCount struct {
	Kind  provider.Kind `db:"kind"`
	State State         `db:"state"`
	N     int64         `db:"n"`
}

// Stats counts sessions and dead letters.
func (s *Service) Stats(ctx context.Context) (Stats, error) {
	var out Stats
	err := s.db.SelectContext(ctx, &out.Sessions, `SELECT kind, state, count(*) AS n FROM messaging_reference
		WHERE account NOT LIKE $1 GROUP BY kind, state ORDER BY kind, state`, store.DeletedPrefix+"%")
	if err != nil {
		return Stats{}, fmt.Errorf("counting sessions: %w", err)
	}
	if err := s.db.GetContext(ctx, &out.DeadLetters, `SELECT count(*) FROM messaging_dead_letter`); err != nil {
		return Stats{}, fmt.Errorf("counting dead letters: %w", err)
	}
	return out, nil
}
