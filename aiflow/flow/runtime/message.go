package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

// IncomingTx has messages of contacts answered when tx commits. Messages of one chat are
// answered in the order of their commits if the caller holds a lock of the chat. It is
// not for echoes and imported history.
func (r *Runtime) IncomingTx(ctx context.Context, on Tx, ins ...Incoming) error {
	tx, err := r.db.Join(on)
	if err != nil {
		return err
	}
	jobs := make([]job, len(ins))
	for i, in := range ins {
		jobs[i] = job{
			inbox: in.Chat.Key, reference: in.Chat.Reference, account: in.Chat.Account, chatID: in.Chat.ID, message: &in,
			traceparent: in.Traceparent,
		}
	}
	if err := r.inbox.enqueueAllTx(ctx, tx, jobs); err != nil {
		return fmt.Errorf("queueing messages: %w", err)
	}
	return nil
}

// message gives a contact's message to the run that waits for it, else to the
// flow whose trigger takes it.
func (h *turnHandler) message(ctx context.Context, in *inputRow, runs []*runRow) error {
	var m Incoming
	if err := json.Unmarshal([]byte(in.Body), &m); err != nil {
		return fmt.Errorf("reading a message: %w", err)
	}
	m.Chat.Key, m.Chat.ID = in.Inbox, in.ChatID // since it came, its chat may have become one with another
	if m.Inbound.Group {
		in.seen, _ = m.Message["id"].(string)
	}
	if err := h.prepare(ctx, m); err != nil {
		return err
	}
	in.route(m)
	view, err := h.snapshotOf(ctx, m.Chat)
	if err != nil {
		return err
	}
	if view.Silent {
		in.routeTo(RouteSilent, "", nil)
		return h.drop(ctx, in, "silent")
	}
	for _, run := range slices.Backward(runs) {
		taken, err := h.reply(ctx, run, in, m, view)
		if taken || err != nil {
			return err
		}
	}
	d, err := h.router.decide(ctx, m, runs)
	if err != nil {
		return err
	}
	return h.execute(ctx, d, in, view)
}

// prepare has the host look at a message that says so.
func (h *turnHandler) prepare(ctx context.Context, m Incoming) error {
	host, is := h.chats.(Preparer)
	if !is || !m.Prepare {
		return nil
	}
	ctx, preparing := span.Begin(ctx, h.opts.Trace, "flow.prepare")
	err := host.Prepare(ctx, m)
	preparing.End(err != nil)
	if err != nil {
		return fmt.Errorf("preparing a message: %w", err)
	}
	h.opts.AfterCommit("prepared")
	return nil
}

// reply offers a message to a run.
func (h *turnHandler) reply(ctx context.Context, run *runRow, in *inputRow, m Incoming, view Snapshot) (bool, error) {
	if run.Turn == 0 {
		return false, nil // it has not begun
	}
	if run.Waits == string(flow.WaitReply) {
		d, err := h.router.interrupts(ctx, m, run)
		if err != nil {
			return false, err
		}
		if d.start != nil {
			return true, h.execute(ctx, d, in, view)
		}
	}
	in.routeTo(RouteContinued, run.ID, nil)
	return h.turn(ctx, run, in, flow.Reply{Message: m.Message}, view)
}

// execute does what was decided on a message.
func (h *turnHandler) execute(ctx context.Context, d decision, in *inputRow, view Snapshot) error {
	if d.start == nil {
		in.routeTo(RouteNobody, "", d.asked)
		return h.drop(ctx, in, kindMessage)
	}
	if d.interrupt != nil {
		// The message stays where it is; it is looked at again after this.
		in.more = true
		taken, err := h.turn(ctx, d.interrupt, nil, flow.Cancel{Reason: "interrupted by another message"}, view)
		if err == nil && !taken {
			err = fmt.Errorf("cancelling run %s: %w", d.interrupt.ID, flow.ErrNotWaiting)
		}
		return err
	}
	l := d.program
	if d.after != nil {
		return h.queueRun(ctx, d, in, l)
	}
	row, err := h.runs.newRun(*d.start, l)
	if err != nil {
		return err
	}
	in.routeTo(RouteStarted, row.ID, d.asked)
	started := h.opts.Now()
	t := &turn{row: *row, loaded: l, in: in, input: d.start.begin(), startedAt: started, fresh: true}
	t.env = h.env(row, view, started)
	return h.finish(ctx, t)
}

// queueRun stores a run that begins when another one has ended.
func (h *turnHandler) queueRun(ctx context.Context, d decision, in *inputRow, l *loaded) error {
	row, err := h.runs.newRun(*d.start, l)
	if err != nil {
		return err
	}
	in.routeTo(RouteQueued, row.ID, d.asked)
	return h.db.Write(ctx, func(tx *database.Tx) error {
		ctx := context.WithoutCancel(ctx)
		if err := h.inbox.dequeueTx(ctx, tx, in); err != nil {
			return err
		}
		row := *row
		if err := h.runs.insertRun(ctx, tx, &row, l); err != nil {
			return err
		}
		if err := h.inbox.markSeenTx(ctx, tx, row.Seq, in); err != nil {
			return err
		}
		begin := row.job(d.start.begin())
		begin.after = d.after.Seq
		_, err := h.inbox.enqueueTx(ctx, tx, begin)
		return err
	})
}
