package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// Cancel ends a run, whatever it waits for, and waits for that for a moment.
// One that has ended is [ErrEnded].
func (a *Account) Cancel(ctx context.Context, id, reason string) (Run, error) {
	return a.give(ctx, id, flow.Cancel{Reason: reason})
}

// Event gives a named event to a run that waits for it; to another one it does
// nothing.
func (a *Account) Event(ctx context.Context, id string, e flow.Event) (Run, error) {
	return a.give(ctx, id, e)
}

// Reply gives a message to a run that waits for one, as if the contact of its
// chat had written it; to another one it does nothing. It waits for the turn.
func (a *Account) Reply(ctx context.Context, id string, message map[string]any) (Run, error) {
	return a.give(ctx, id, flow.Reply{Message: message})
}

// ErrNoAsk reports an answer to a question that the run never asked.
var ErrNoAsk = apierr.New("runtime", apierr.NotFound, "the run has no step with this id that waits for approval")

// Approve answers a run that asks whether it may use a tool; ask is the id of
// the [flow.Ask]. One that was answered already, or waits no longer, stays as it
// is; one that the run never asked is [ErrNoAsk].
func (a *Account) Approve(ctx context.Context, id, ask string, approved bool) (Run, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Run{}, err
	}
	if row.EndedUS > 0 {
		return Run{}, ErrEnded
	}
	if asked, err := a.asked(ctx, row, ask); err != nil {
		return Run{}, err
	} else if !asked {
		return Run{}, ErrNoAsk
	}
	return a.give(ctx, id, flow.Approval{ID: ask, Approved: approved})
}

// asked says whether a run asks, or has asked, for the consent of that id.
func (a *Account) asked(ctx context.Context, row *runRow, ask string) (bool, error) {
	if _, err := strconv.ParseUint(ask, 10, 31); err != nil {
		return false, nil
	}
	var now flow.State
	if row.State != "" {
		if err := json.Unmarshal([]byte(row.State), &now); err != nil {
			return false, fmt.Errorf("reading the state of a run: %w", err)
		}
	}
	if w := now.Wait; w != nil && w.Kind == flow.WaitApproval && w.ID == ask {
		return true, nil
	}
	var bodies []string
	err := a.r.db.SelectContext(ctx, &bodies, `SELECT body FROM flow_step WHERE run = $1 AND body LIKE $2`, row.Seq, `%"stepId":"`+ask+`"%`)
	if err != nil {
		return false, fmt.Errorf("reading the steps of a run: %w", err)
	}
	for _, b := range bodies {
		s, err := exactly[flow.TraceRow](b)
		if err != nil {
			return false, fmt.Errorf("reading a step: %w", err)
		}
		if s.Out["stepId"] == ask {
			return true, nil
		}
	}
	return false, nil
}

// giveWait is how long a caller waits for the turn that follows from what it
// gives a run.
const giveWait = 10 * time.Second

func (a *Account) give(ctx context.Context, id string, input flow.Input) (Run, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Run{}, err
	}
	if row.EndedUS > 0 {
		return Run{}, ErrEnded
	}
	var given int64
	err = a.r.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if given, err = a.r.inbox.enqueueTx(ctx, tx, row.job(input)); err != nil {
			return err
		}
		return recordInputTx(ctx, tx, row, input)
	})
	if err != nil {
		return Run{}, fmt.Errorf("telling run %s: %w", id, err)
	}
	changed := a.r.waits.on(row.Seq)
	defer changed.leave()
	a.r.waits.awaitTaken(ctx, changed, row.Seq, given, giveWait)
	return a.Run(ctx, id)
}

// Publish gives a named event to every run of the account that waits for one
// of this name, and returns how many they are.
func (a *Account) Publish(ctx context.Context, e flow.Event) (int, error) {
	n := 0
	err := a.r.db.Write(ctx, func(tx *database.Tx) (err error) {
		n, err = a.PublishTx(context.WithoutCancel(ctx), tx, e)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// PublishTx is [Account.Publish] when tx commits.
func (a *Account) PublishTx(ctx context.Context, on Tx, e flow.Event) (int, error) {
	tx, err := a.r.db.Join(on)
	if err != nil {
		return 0, err
	}
	return a.r.inbox.giveAllTx(ctx, tx, e, `r.account = $1 AND r.event <> '' AND r.event = $2 AND r.ended_us = 0`, a.id, text.Sanitize(e.Name))
}

// HandoffTx tells the runs that wait for a person in a chat that one has taken
// it over, or that the person is done.
func (r *Runtime) HandoffTx(ctx context.Context, on Tx, chat Chat, closed bool) error {
	tx, err := r.db.Join(on)
	if err != nil {
		return err
	}
	var in flow.Input = flow.Assigned{}
	if closed {
		in = flow.HandoffClosed{}
	}
	_, err = r.inbox.giveAllTx(ctx, tx, in, `r.inbox = $1 AND r.ended_us = 0 AND r.waits = $2`, chat.Key, string(flow.WaitHandoff))
	return err
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
		err = a.r.db.Write(ctx, func(tx *database.Tx) error {
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
		last = rows[len(rows)-1].Seq
	}
}
