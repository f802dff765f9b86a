package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/span"
)

// IncomingTx has a contact's message answered when tx commits; call
// [Runtime.Committed] then. Messages of one chat are answered in the order of
// their commits if the caller holds a lock of the chat. It is not for echoes
// and imported history.
func (r *Runtime) IncomingTx(ctx context.Context, tx *sqlx.Tx, in Incoming) error {
	p := job{
		inbox: in.Chat.Key, reference: in.Chat.Reference, account: in.Chat.Account, chatID: in.Chat.ID, message: &in,
	}
	if in.Traceparent != "" {
		ctx = span.With(ctx, in.Traceparent)
	}
	if _, err := r.inbox.enqueueTx(ctx, tx, p); err != nil {
		return fmt.Errorf("queueing a message: %w", err)
	}
	return nil
}

// message gives a contact's message to the run that waits for it, else to the
// flow whose trigger takes it.
func (r *Runtime) message(ctx context.Context, in *inputRow, runs []*runRow) error {
	var m Incoming
	if err := json.Unmarshal([]byte(in.Body), &m); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	m.Chat.Key, m.Chat.ID = in.Inbox, in.ChatID // since it came, its chat may have become one with another
	if m.Inbound.Group {
		in.seen, _ = m.Message["id"].(string)
	}
	if err := r.prepare(ctx, m); err != nil {
		return err
	}
	in.route(m)
	view, err := r.snapshotOf(ctx, m.Chat)
	if err != nil {
		return err
	}
	if view.Silent {
		in.routeTo(RouteSilent, "", nil)
		return r.drop(ctx, in, "silent")
	}
	for _, run := range slices.Backward(runs) {
		taken, err := r.reply(ctx, run, in, m, view)
		if taken || err != nil {
			return err
		}
	}
	d, err := r.decide(ctx, m, runs)
	if err != nil {
		return err
	}
	return r.execute(ctx, d, in, view)
}

// prepare has the host look at a message that says so.
func (r *Runtime) prepare(ctx context.Context, m Incoming) error {
	host, is := r.chats.(Preparer)
	if !is || !m.Prepare {
		return nil
	}
	ctx, preparing := span.Begin(ctx, r.opts.Trace, "flow.prepare")
	err := host.Prepare(ctx, m)
	preparing.End(err != nil)
	if err != nil {
		return fmt.Errorf("preparing a message: %w", err)
	}
	r.opts.AfterCommit("prepared")
	return nil
}

// reply offers a message to a run.
func (r *Runtime) reply(ctx context.Context, run *runRow, in *inputRow, m Incoming, view Snapshot) (bool, error) {
	if run.Turn == 0 {
		return false, nil // it has not begun
	}
	if run.Waits == string(flow.WaitReply) {
		d, err := r.interrupts(ctx, m, run)
		if err != nil {
			return false, err
		}
		if d.start != nil {
			return true, r.execute(ctx, d, in, view)
		}
	}
	in.routeTo(RouteContinued, run.ID, nil)
	return r.turn(ctx, run, in, flow.Reply{Message: m.Message}, view)
}

// execute does what was decided on a message.
func (r *Runtime) execute(ctx context.Context, d decision, in *inputRow, view Snapshot) error {
	if d.start == nil {
		in.routeTo(RouteNobody, "", d.asked)
		return r.drop(ctx, in, kindMessage)
	}
	if d.interrupt != nil {
		// The message stays where it is; it is looked at again after this.
		in.more = true
		taken, err := r.turn(ctx, d.interrupt, nil, flow.Cancel{Reason: "interrupted by another message"}, view)
		if err == nil && !taken {
			err = fmt.Errorf("cancelling run %s: %w", d.interrupt.ID, flow.ErrNotWaiting)
		}
		return err
	}
	l, err := r.loaded.compile(d.start.Source)
	if err != nil {
		return fmt.Errorf("preparing flow %s: %w", d.start.Owner, err)
	}
	if d.after != nil {
		return r.queueRun(ctx, d, in, l)
	}
	row, err := r.newRun(*d.start, l)
	if err != nil {
		return err
	}
	in.routeTo(RouteStarted, row.ID, d.asked)
	started := r.now()
	t := &turn{row: *row, loaded: l, in: in, input: d.start.begin(), startedAt: started, fresh: true}
	t.env = r.env(row, view, started)
	return r.finish(ctx, t)
}

// queueRun stores a run that begins when another one has ended.
func (r *Runtime) queueRun(ctx context.Context, d decision, in *inputRow, l *loaded) error {
	row, err := r.newRun(*d.start, l)
	if err != nil {
		return err
	}
	in.routeTo(RouteQueued, row.ID, d.asked)
	return r.db.Write(ctx, func(tx *sqlx.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := r.inbox.dequeueTx(ctx, tx, in); err != nil {
			return err
		}
		row := *row
		if err := r.insertRun(ctx, tx, &row, l); err != nil {
			return err
		}
		if err := r.inbox.markSeenTx(ctx, tx, row.Seq, in); err != nil {
			return err
		}
		begin := row.job(d.start.begin())
		begin.after = d.after.Seq
		_, err := r.inbox.enqueueTx(ctx, tx, begin)
		return err
	})
}
