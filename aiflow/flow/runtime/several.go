package runtime

import (
	"context"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// Reply gives a message to a run that waits for one, as if the contact of its
// chat had written it; to another one it does nothing. It waits for the turn.
func (a *Account) Reply(ctx context.Context, id string, message map[string]any) (Run, error) {
	return a.give(ctx, id, flow.Reply{Message: message})
}

// ActiveQuery is a SELECT of those of some chats, by their keys, in which a run
// has not ended, or something waits to be taken by one: one column, mailbox. Its
// parameters are numbered from first.
func (r *Runtime) ActiveQuery(first int, keys []string) (text string, args []any) {
	runs, args := r.db.Dialect.In("mailbox", first, anyOf(keys))
	inputs, more := r.db.Dialect.In("mailbox", first+len(args), anyOf(keys))
	return `SELECT mailbox FROM flow_run WHERE ended_us = 0 AND ` + runs + ` UNION SELECT mailbox FROM flow_input WHERE ` + inputs, append(args, more...)
}

// CancelAllTx ends all runs of a flow; call [Runtime.Committed] after tx.
func (a *Account) CancelAllTx(ctx context.Context, tx *sqlx.Tx, engine, owner, reason string) error {
	_, err := a.r.giveAllTx(ctx, tx, flow.Cancel{Reason: reason}, `r.account = $1 AND r.engine = $2 AND r.owner = $3 AND r.ended_us = 0`,
		a.id, engine, owner)
	return err
}

// Active are the runs of a chat that have not ended, the oldest first.
func (a *Account) Active(ctx context.Context, c Chat) ([]Run, error) {
	rows, err := a.r.active(ctx, c.Key)
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
