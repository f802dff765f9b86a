package handler

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/refusal"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/internal/timeline"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// MaxAttempts is how often the function is called for a message. The pauses between
// the calls add up to about half an hour.
const MaxAttempts = 15

// maxReason is how many bytes of an error are kept with a message.
const maxReason = 500

// Outcomes of calls.
const (
	outcomeDone    = "done"
	outcomeRetried = "retried"
	outcomeFailed  = "failed"
)

// Inbound is a message of a contact.
type Inbound struct {
	Account string
	Seq     int64
	Message payload.Message
}

// Caller calls a function for the messages that are queued. Its fields are set before
// first use.
type Caller struct {
	Store  *store.Store
	Logger *slog.Logger
	Trace  span.Hook
	// Call is the function.
	Call func(ctx context.Context, in Inbound) error
	// Handled counts calls.
	Handled func(kind provider.Kind, outcome string)
}

// attempt is what came of a call.
type attempt struct {
	seq     int64
	kind    provider.Kind
	outcome string
	why     error
}

// Handle calls the function for one message.
func (c *Caller) Handle(ctx context.Context, it queue.Job) queue.Outcome {
	seq, err := strconv.ParseInt(it.Subject, 10, 64)
	if err != nil {
		return queue.Outcome{Result: queue.Done}
	}
	in, kind, err := c.load(ctx, seq)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return queue.Outcome{Result: queue.Done} // deleted meanwhile
	case err != nil:
		c.Logger.WarnContext(ctx, "loading a message to handle", slog.Any("error", err))
		return queue.Outcome{Result: queue.Retry, After: refusal.RetryDelay(it.Attempt, 0)}
	}
	handling, called := span.Begin(ctx, c.Trace, "messaging.handle")
	err = c.call(handling, in)
	called.Set(slog.Int64("reference", int64(in.Message.Reference)))
	called.Set(slog.String("kind", string(kind)))
	called.End(err != nil)
	return c.judge(ctx, it, attempt{seq: seq, kind: kind, outcome: outcomeDone, why: err}, in.Message.Reference)
}

// judge turns what the function returned into an outcome.
func (c *Caller) judge(ctx context.Context, it queue.Job, a attempt, ref provider.ReferenceID) queue.Outcome {
	out := queue.Outcome{Result: queue.Done, Data: a}
	if a.why == nil {
		return out
	}
	if ctx.Err() != nil { // the program stops, or another node has the message
		return queue.Outcome{Result: queue.Snooze}
	}
	log := c.Logger.With(slog.Int64("reference", int64(ref)), slog.Int64("message", a.seq), slog.Int("attempt", it.Attempt+1), slog.Any("error", a.why))
	if final(a.why) || it.Attempt+1 >= MaxAttempts {
		a.outcome = outcomeFailed
		log.ErrorContext(ctx, "a message was not handled")
	} else {
		a.outcome = outcomeRetried
		out.Result, out.After = queue.Retry, refusal.RetryDelay(it.Attempt, asked(a.why))
		log.WarnContext(ctx, "a message will be handled again")
	}
	out.Data = a
	return out
}

// final reports whether a repeat would fail as well: the function did what a rule
// forbids.
func final(err error) bool {
	var bad *payload.Invalid
	var missing *payload.Missing
	var refused *payload.Error
	switch {
	case errors.As(err, &bad), errors.As(err, &missing), errors.Is(err, payload.ErrNotFound):
		return true
	case errors.As(err, &refused):
		return refused.Code == payload.CodeUnsupported || refused.Code == payload.CodeWindowClosed
	}
	return false
}

// asked is the pause that an error asks for; 0: none.
func asked(err error) time.Duration {
	if refused, is := errors.AsType[*payload.Error](err); is {
		return refused.After
	}
	return 0
}

// call calls the function. A panic becomes an error.
func (c *Caller) call(ctx context.Context, in Inbound) (err error) {
	defer func() {
		if v := recover(); v != nil {
			c.Logger.ErrorContext(ctx, "the handler of messages panicked", slog.String("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return c.Call(ctx, in)
}

var selectInbound = `SELECT ` + store.MessageColumns + `, ` + store.Nested(store.ChatColumns, "c", "in") + `, ` +
	store.Nested(store.ReferenceColumns, "r", "of") + store.MessageFrom + `
	JOIN messaging_chat c ON c.id = m.chat JOIN messaging_reference r ON r.id = m.reference WHERE m.seq = $1`

// load reads a message. One that is deleted, or whose chat or reference is, is
// [sql.ErrNoRows].
func (c *Caller) load(ctx context.Context, seq int64) (Inbound, provider.Kind, error) {
	var row struct {
		store.Message
		In store.Chat      `db:"in"`
		Of store.Reference `db:"of"`
	}
	err := c.Store.DB.GetContext(ctx, &row, selectInbound, seq)
	if err == nil && (row.In.Deleted() || row.Of.Deleted()) {
		err = sql.ErrNoRows
	}
	if err != nil {
		return Inbound{}, "", err
	}
	return Inbound{row.Of.Account, seq, row.View(&row.In)}, row.Of.Kind, nil
}

// Complete notes with the messages that failed for good why they did, in the
// transaction that finishes their jobs.
func (c *Caller) Complete(ctx context.Context, tx *database.Tx, outs []queue.Outcome) error {
	failed := map[int64]error{}
	var seqs []int64
	for _, o := range outs {
		if a, ok := o.Data.(attempt); ok && a.outcome == outcomeFailed {
			failed[a.seq] = a.why
			seqs = append(seqs, a.seq)
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	u := c.Store.Begin(tx)
	if err := u.LoadLocked(ctx, seqs); err != nil {
		return err
	}
	for _, seq := range seqs {
		m := u.Messages[seq]
		if m == nil {
			continue // deleted meanwhile
		}
		step := timeline.Entry{Step: timeline.StepHandled, Outcome: timeline.Failed}
		step.Fail(payload.Failure{Code: "not_handled", Message: text.Truncate(text.Sanitize(failed[seq].Error()), maxReason)})
		timeline.RecordStep(u, m, step)
	}
	return u.Flush(ctx)
}

// Completed counts.
func (c *Caller) Completed(outs []queue.Outcome) {
	for _, o := range outs {
		if a, ok := o.Data.(attempt); ok {
			c.Handled(a.kind, a.outcome)
		}
	}
}
