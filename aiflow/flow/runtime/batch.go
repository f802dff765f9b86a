package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/span"
)

const (
	// maxBatch is the maximum number of turns that share a transaction.
	maxBatch = 64
	// batchesAtOnce is how many such transactions a node has at a time.
	batchesAtOnce = 2
)

// turnErrors are the errors of turns of a batch. The others can be stored without
// them.
type turnErrors map[*work]error

func (e turnErrors) Error() string { return errors.Join(e.Unwrap()...).Error() }

func (e turnErrors) Unwrap() []error { return slices.Collect(maps.Values(e)) }

// commitAll stores turns and returns the error of each.
func (h *turnHandler) commitAll(ctx context.Context, all []*work) []error {
	failed := turnErrors{}
	for left := all; len(left) > 0; {
		var batch, rest []*work
		inboxes := map[string]bool{}
		for _, w := range left {
			if inboxes[w.after.Inbox] { // one statement must not write the same run twice
				rest = append(rest, w)
			} else {
				batch = append(batch, w)
			}
			inboxes[w.after.Inbox] = true
		}
		h.commitBatch(ctx, batch, failed)
		left = rest
	}
	errs := make([]error, len(all))
	for i, w := range all {
		errs[i] = failed[w]
	}
	return errs
}

// commitBatch stores turns of different inboxes, and adds those that it could not
// store to failed.
func (h *turnHandler) commitBatch(ctx context.Context, works []*work, failed turnErrors) {
	ctx = span.With(ctx, "") // it is that of one of them
	for len(works) > 0 {
		if len(works) == 1 {
			ctx = works[0].ctx
		}
		err := h.db.Write(ctx, func(tx *database.Tx) error {
			b := &turnBatch{h: h, tx: tx, works: works}
			return b.store(ctx)
		})
		some, known := errors.AsType[turnErrors](err)
		switch {
		case err == nil:
			return
		case known:
			maps.Copy(failed, some)
			works = slices.DeleteFunc(slices.Clone(works), func(w *work) bool { return some[w] != nil })
		case len(works) == 1, database.IsUnwritable(err): // the latter is the fault of none
			for _, w := range works {
				failed[w] = err
			}
			return
		default:
			h.commitEach(ctx, works, failed)
			return
		}
	}
}

// maxDatabaseFailures is the number of turns in a row for which the database must fail
// until it counts as down.
const maxDatabaseFailures = 3

// commitEach stores each turn alone, after a failure of all: whose it was shows then.
// While the database is down it does not try them all.
func (h *turnHandler) commitEach(ctx context.Context, works []*work, failed turnErrors) {
	inRow := 0
	for i, w := range works {
		h.commitBatch(ctx, []*work{w}, failed)
		if !database.Failed(failed[w]) {
			inRow = 0
			continue
		}
		if inRow++; inRow == maxDatabaseFailures {
			for _, left := range works[i+1:] {
				failed[left] = failed[w]
			}
			return
		}
	}
}

// turnBatch is a transaction that stores turns of different inboxes.
type turnBatch struct {
	h     *turnHandler
	tx    *database.Tx
	works []*work
}

// store writes everything. The share of the chat service comes first: it locks the
// chats, as all do who write to chats and runs; then come the inputs, then the runs,
// and then what belongs to the runs, as who erases them locks them.
func (b *turnBatch) store(ctx context.Context) error {
	slices.SortFunc(b.works, func(v, w *work) int { return cmp.Compare(v.after.Inbox, w.after.Inbox) })
	for _, w := range b.works {
		row := w.after
		w.tx, w.row, w.messages, w.enqueued = b.tx, &row, nil, 0
	}
	for _, step := range []func(context.Context) error{b.publish, b.keep, b.dequeue, b.insertRuns, b.updateRuns, b.journal} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, w := range b.works {
		if err := w.follow(w.ctx); err != nil {
			return err
		}
	}
	return nil
}

// publish has the chat service do its share of the turns.
func (b *turnBatch) publish(ctx context.Context) error {
	var chats []Chat
	for _, w := range b.works {
		chats = append(chats, w.row.chats()...)
	}
	service, flush, err := inTx(ctx, b.h.chats, b.tx, chats)
	if err != nil {
		return err
	}
	refused := turnErrors{}
	for _, w := range b.works {
		w.chats = service
		err := w.publish()
		var no *refusal
		if err != nil && !errors.As(err, &no) {
			return turnErrors{w: err} // the transaction may be lost
		}
		if err != nil {
			refused[w] = err
		}
	}
	if len(refused) > 0 {
		return refused
	}
	return flush(ctx)
}

// inTx is the chat service for a transaction in which turns of chats are stored. flush
// is to be called when it has done its share.
func inTx(ctx context.Context, s ChatService, tx *database.Tx, chats []Chat) (in ChatService, flush func(context.Context) error, err error) {
	host, is := s.(BatchService)
	if !is {
		return s, func(context.Context) error { return nil }, nil
	}
	if in, flush, err = host.BatchTx(ctx, tx, chats); err != nil {
		return nil, nil, fmt.Errorf("locking chats: %w", err)
	}
	return in, flush, nil
}

// keep prevents that the flows and documents of new runs are deleted.
func (b *turnBatch) keep(ctx context.Context) error {
	fresh := b.fresh()
	slices.SortStableFunc(fresh, func(v, w *work) int {
		return cmp.Or(cmp.Compare(v.row.Engine, w.row.Engine), cmp.Compare(v.row.Owner, w.row.Owner))
	})
	gone := turnErrors{}
	kept := map[*loaded]bool{}
	for i, w := range fresh {
		var err error
		if i > 0 && fresh[i-1].row.Engine == w.row.Engine && fresh[i-1].row.Owner == w.row.Owner {
			err = gone[fresh[i-1]]
		} else {
			err = b.h.runs.engines.keepTx(ctx, b.tx, w.row.Engine, w.row.Owner)
		}
		if errors.Is(err, ErrNotFound) {
			gone[w] = err
			continue
		}
		if l := w.t.loaded; err == nil && !kept[l] {
			kept[l] = true
			err = b.h.programs.keep(ctx, b.tx, l)
		}
		if err != nil {
			return turnErrors{w: err}
		}
	}
	if len(gone) > 0 {
		return gone
	}
	return nil
}

// fresh are the turns with which runs begin.
func (b *turnBatch) fresh() (fresh []*work) {
	for _, w := range b.works {
		if w.t.fresh {
			fresh = append(fresh, w)
		}
	}
	return fresh
}

// dequeue removes the inputs of the turns. No other node can take them then.
func (b *turnBatch) dequeue(ctx context.Context) error {
	var inputs []*inputRow
	for _, w := range b.works {
		if w.t.in != nil {
			w.t.in.inTurn(w.row.Turn)
			inputs = append(inputs, w.t.in)
		}
	}
	taken, err := b.h.inbox.takeTx(ctx, b.tx, inputs)
	if err != nil {
		return err
	}
	return b.taken(func(w *work) bool { return w.t.in == nil || taken[w.t.in.ID] })
}

// taken is the error of turns that another node has taken: those that are not stored.
func (b *turnBatch) taken(stored func(w *work) bool) error {
	late := turnErrors{}
	for _, w := range b.works {
		if !stored(w) {
			late[w] = errTaken
		}
	}
	if len(late) > 0 {
		return late
	}
	return nil
}

// insertRuns stores the runs that begin.
func (b *turnBatch) insertRuns(ctx context.Context) error {
	fresh := b.fresh()
	rows := make([]*runRow, len(fresh))
	for i, w := range fresh {
		rows[i] = w.row
	}
	return b.h.runs.insertRows(ctx, b.tx, rows)
}

// updateRuns writes the runs that continue, unless they have gone on, or moved to
// another chat, since they were read.
func (b *turnBatch) updateRuns(ctx context.Context) error {
	var values []any
	for _, w := range b.works {
		if r := w.row; !w.t.fresh {
			values = append(values, r.Seq, string(r.Status), r.Waits, r.Event, r.State, r.Turn, r.Output, r.Error, r.EndedUS, w.t.row.Turn, r.Inbox)
		}
	}
	seqs, err := database.SelectRows[int64](ctx, b.h.db, b.tx, database.Rows{
		Before: `UPDATE flow_run SET status = v.column2, waits = v.column3, event = v.column4, state = v.column5, turn = v.column6,
			output = v.column7, error = v.column8, ended_us = v.column9, cancelled = (v.column2 = 'cancelled') FROM (`,
		After: `) AS v WHERE flow_run.seq = v.column1 AND flow_run.turn = v.column10 AND flow_run.ended_us = 0 AND flow_run.inbox = v.column11
			RETURNING flow_run.seq`,
		Types:  []string{"BIGINT", "TEXT", "TEXT", "TEXT", "TEXT", "BIGINT", "TEXT", "TEXT", "BIGINT", "BIGINT", "TEXT"},
		Values: values,
	})
	if err != nil {
		return fmt.Errorf("storing the state of runs: %w", err)
	}
	return b.taken(func(w *work) bool { return w.t.fresh || slices.Contains(seqs, w.row.Seq) })
}

// journal writes what belongs to the runs, and where messages went.
func (b *turnBatch) journal(ctx context.Context) error {
	var seen, signals, sent, steps []any
	var inputs []*inputRow
	for _, w := range b.works {
		seq := w.row.Seq
		if w.t.in != nil {
			inputs = append(inputs, w.t.in)
		}
		seen = append(seen, w.t.in.seenRow(seq)...)
		signals = append(signals, b.h.inbox.signal(seq, w.t.in, w.t.input)...)
		for _, message := range w.messages {
			sent = append(sent, seq, message, w.row.Turn)
		}
		trace, err := w.trace()
		if err != nil {
			return turnErrors{w: err}
		}
		steps = append(steps, trace...)
	}
	routes, err := b.h.inbox.routes(inputs)
	if err != nil {
		return err
	}
	err = b.h.db.ExecTogether(ctx, b.tx,
		routes,
		database.Rows{
			Before: `INSERT INTO flow_seen (run, message) SELECT * FROM (`, After: `) AS v WHERE true ON CONFLICT DO NOTHING`,
			Types: []string{"BIGINT", "TEXT"}, Values: seen,
		},
		database.Rows{Before: `INSERT INTO flow_signal (run, body, at_us) `, Types: []string{"BIGINT", "TEXT", "BIGINT"}, Values: signals},
		database.Rows{Before: `INSERT INTO flow_sent (run, message, turn) `, Types: []string{"BIGINT", "TEXT", "BIGINT"}, Values: sent},
		database.Rows{Before: `INSERT INTO flow_step (run, body) `, Types: []string{"BIGINT", "TEXT"}, Values: steps},
	)
	if err != nil {
		return fmt.Errorf("writing the journal of runs: %w", err)
	}
	for _, w := range b.works {
		if err := w.note(); err != nil {
			return err
		}
	}
	return nil
}

// protected calls fn, and returns an error if it panics.
func protected(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a turn: %v\n%s", v, debug.Stack())
		}
	}()
	return fn()
}
