package runtime

import (
	"context"
	"fmt"
	"math"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Reply gives a message to a run that waits for one, as if the contact of its
// chat had written it; to another one it does nothing. It waits for the turn.
func (a *Account) Reply(ctx context.Context, id string, message map[string]any) (Run, error) {
	return a.give(ctx, id, flow.Reply{Message: message})
}

// ActiveQuery is a SELECT of those of some chats, by their keys, in which a run
// has not ended, or something waits to be taken by one: one column, inbox. Its
// parameters are numbered from first.
func (r *Runtime) ActiveQuery(first int, keys []string) (text string, args []any) {
	runs, args := r.db.Dialect.In("inbox", first, anyOf(keys))
	inputs, more := r.db.Dialect.In("inbox", first+len(args), anyOf(keys))
	return `SELECT inbox FROM flow_run WHERE ended_us = 0 AND ` + runs + ` UNION SELECT inbox FROM flow_input WHERE ` + inputs, append(args, more...)
}

// forgetRows bounds what a transaction of [Account.Forget] does: so many runs
// are told to end, or so many schedules are deleted.
const forgetRows = 50

// Forget ends what a flow does that is deleted: its runs are cancelled, the
// newest first, and it begins by itself no more. It works in small steps, each
// durable, and may be called again after an error or a crash. The engine must
// let none of its runs begin meanwhile: see [Keeper].
func (a *Account) Forget(ctx context.Context, engine, owner, reason string) error {
	err := a.r.eraser.inParts(ctx, forgetRows, `DELETE FROM flow_schedule WHERE id IN
		(SELECT id FROM flow_schedule WHERE account = $1 AND engine = $2 AND owner = $3 LIMIT %d)`, a.id, engine, owner)
	if err != nil {
		return fmt.Errorf("deleting the schedule of a flow: %w", err)
	}
	for last := int64(math.MaxInt64); ; {
		var rows []*runRow
		err := a.r.db.SelectContext(ctx, &rows, `SELECT `+inputColumns+` FROM flow_run r
			WHERE r.account = $1 AND r.engine = $2 AND r.owner = $3 AND r.ended_us = 0 AND r.seq < $4 ORDER BY r.seq DESC LIMIT $5`,
			a.id, engine, owner, last, forgetRows)
		if err != nil {
			return fmt.Errorf("looking for the runs of a flow: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		err = a.r.db.Write(ctx, func(tx *sqlx.Tx) error {
			for _, row := range rows {
				if _, err := a.r.inbox.enqueueTx(context.WithoutCancel(ctx), tx, row.job(flow.Cancel{Reason: reason})); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("cancelling the runs of a flow: %w", err)
		}
		a.r.Committed()
		last = rows[len(rows)-1].Seq
	}
}

// Active are the runs of a chat that have not ended, the oldest first.
func (a *Account) Active(ctx context.Context, c Chat) ([]Run, error) {
	rows, err := a.r.inbox.active(ctx, c.Key)
	if err != nil {
		return nil, err
	}
	out := []Run{}
	for _, row := range rows {
		if row.Account == a.id {
			out = append(out, row.view())
		}
	}
	return out, nil
}
