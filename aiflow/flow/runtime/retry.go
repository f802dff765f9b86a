package runtime

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

var (
	// ErrNotFailed reports a run that cannot be retried: it did not fail, or
	// there is no step with which it could continue.
	ErrNotFailed = apierr.New("runtime", apierr.Conflict, "the run did not fail, or has no step at which it can be retried")
	// ErrBusy reports a run in whose chat another one is active.
	ErrBusy = apierr.New("runtime", apierr.Conflict, "another run is active in the chat: end it first")
	// ErrRepeat reports a run that failed with a call that must not be made
	// twice, and may have been made.
	ErrRepeat = apierr.New("runtime", apierr.Conflict,
		"the failed call may have been made and must not be made twice: to repeat it, set repeat to true")
)

// Retry has a failed run continue with the step that failed, and waits for its
// turn for a moment. What the run did before stays done. A call that must not
// be made twice, and may have been made, is made again only with repeat; it
// has the key of its first attempt. It returns [ErrNotFailed], [ErrBusy] or
// [ErrRepeat], having changed nothing.
func (a *Account) Retry(ctx context.Context, id string, repeat bool) (Run, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Run{}, err
	}
	if err := row.retries(repeat); err != nil {
		return Run{}, err
	}
	changed := a.r.waits.on(row.Seq)
	defer changed.leave()
	var given int64
	err = a.r.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if given, err = a.r.retryTx(ctx, tx, *row, repeat); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.RunRetry, row, nil)
	})
	if err != nil {
		return Run{}, fmt.Errorf("retrying run %s: %w", id, err)
	}
	a.r.waits.awaitTaken(ctx, changed, row.Seq, given, giveWait)
	return a.Run(ctx, id)
}

// retries says why a run cannot be retried.
func (r *runRow) retries(repeat bool) error {
	if r.Status != Failed || r.State == "" {
		return ErrNotFailed
	}
	var s flow.State
	if err := s.UnmarshalJSON([]byte(r.State)); err != nil {
		return err
	}
	switch {
	case s.Failed == nil:
		return ErrNotFailed
	case s.Failed.Once && !repeat:
		return ErrRepeat
	}
	return nil
}

// retryTx opens a run again. The host comes first, as with every turn: it
// locks the chat.
func (r *Runtime) retryTx(ctx context.Context, tx *database.Tx, row runRow, repeat bool) (input int64, err error) {
	ended := row.EndedUS
	row.Status, row.Output, row.Error, row.EndedUS = Running, "", "", 0
	chats, flush, err := inTx(ctx, r.chats, tx, row.chats())
	if err != nil {
		return 0, err
	}
	if watcher, is := chats.(Watcher); is {
		if err := watcher.RunTx(ctx, tx, row.view()); err != nil {
			return 0, fmt.Errorf("telling of a run: %w", err)
		}
	}
	if err := flush(ctx); err != nil {
		return 0, err
	}
	var others int
	if err := tx.GetContext(ctx, &others, `SELECT count(*) FROM flow_run WHERE inbox = $1 AND ended_us = 0 AND seq <> $2`, row.Inbox, row.Seq); err != nil {
		return 0, fmt.Errorf("looking for runs of a chat: %w", err)
	}
	if others > 0 {
		return 0, ErrBusy
	}
	res, err := tx.ExecContext(ctx, `UPDATE flow_run SET status = $1, output = '', error = '', ended_us = 0 WHERE seq = $2 AND ended_us = $3 AND turn = $4`,
		row.Status, row.Seq, ended, row.Turn)
	if err != nil {
		return 0, fmt.Errorf("opening a run again: %w", err)
	}
	if one(res) != nil {
		return 0, ErrNotFailed // another retry was faster
	}
	return r.inbox.enqueueTx(ctx, tx, row.job(flow.Retry{Repeat: repeat}))
}
