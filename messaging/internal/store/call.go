package store

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/provider"
)

// CallKey identifies a call of a reference.
type CallKey struct {
	Reference provider.ReferenceID `db:"reference"`
	ID        string               `db:"call_id"`
}

// Call is how far a call has come.
type Call struct {
	CallKey
	Chat   int64               `db:"chat"`
	Status provider.CallStatus `db:"status"`

	Changed bool
}

func (u *Batch) writeCalls(ctx context.Context) error {
	var rows [][]any
	for _, r := range u.Calls {
		if r.Changed {
			rows = append(rows, []any{r.Reference, r.ID, r.Chat, string(r.Status), database.Micros(u.Now)})
		}
	}
	err := u.Insert(ctx, `INSERT INTO messaging_call (reference, call_id, chat, status, created_us)`,
		[]string{"BIGINT", "TEXT", "BIGINT", "TEXT", "BIGINT"}, rows,
		` ON CONFLICT (reference, call_id) DO UPDATE SET chat = excluded.chat, status = excluded.status`)
	if err != nil {
		return fmt.Errorf("storing calls: %w", err)
	}
	return nil
}
