package runtime

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/queue"
	"github.com/trunklinehq/trunkline/internal/span"
	"github.com/trunklinehq/trunkline/internal/text"
)

// kindMessage is the kind of an [Incoming]; the others are those of
// [flow.Input].
const kindMessage = "message"

// inputRow is something that came for an inbox.
type inputRow struct {
	ID        int64  `db:"id"`
	Inbox     string `db:"inbox"`
	Reference int64  `db:"reference"`
	ChatID    string `db:"chat_id"`
	Run       int64  `db:"run"`
	Kind      string `db:"kind"`
	Body      string `db:"body"`

	Traceparent string `db:"traceparent"`

	seen string // id of a message that a member of a group wrote
	more bool   // there is more in the inbox, or there may be once this is worked on

	routed *routing   // where it goes, of a message
	span   *span.Span // of its turn
}

// job is an input to be put into an inbox.
type job struct {
	inbox     string
	reference int64
	account   string
	chatID    string
	run       int64 // 0: any run that takes it
	after     int64 // the run that must have ended before
	input     flow.Input
	message   *Incoming // instead of input
}

// job is an input for the run.
func (r *runRow) job(input flow.Input) job {
	return job{inbox: r.Inbox, reference: r.Reference, account: r.Account, chatID: r.ChatID, run: r.Seq, input: input}
}

func (p job) encode() (kind, body string, err error) {
	if p.message != nil {
		raw, err := json.Marshal(p.message)
		return kindMessage, string(raw), err
	}
	raw, err := flow.EncodeInput(p.input)
	if err != nil {
		return "", "", err
	}
	kind, _, _ = strings.Cut(strings.TrimPrefix(string(raw), `{"`), `"`)
	return kind, string(raw), nil
}

// inbox keeps what runs are given, until their turns take it.
type inbox struct {
	db    *database.DB
	turns *queue.Queue
	now   func() time.Time
}

// enqueueTx puts an input into its inbox, and has that looked at. It returns the
// input's number.
func (i *inbox) enqueueTx(ctx context.Context, tx *database.Tx, p job) (int64, error) {
	kind, body, err := p.encode()
	if err != nil {
		return 0, fmt.Errorf("writing an input: %w", err)
	}
	var ids []int64
	err = tx.SelectContext(ctx, &ids, `INSERT INTO flow_input (inbox, reference, account, chat_id, run, after_run, kind, body, created_us, traceparent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`,
		p.inbox, p.reference, p.account, p.chatID, p.run, p.after, kind, body, database.Micros(i.now()), span.Of(ctx))
	if err != nil {
		return 0, fmt.Errorf("storing an input: %w", err)
	}
	return ids[0], i.notifyTx(ctx, tx, subscriber(p.account, p.reference), p.inbox, ids[0])
}

// notifyTx has its inbox looked at. Jobs of its partition say no more than that: what
// is to be done is what the inbox holds then.
func (i *inbox) notifyTx(ctx context.Context, tx *database.Tx, subscriber, inbox string, input int64) error {
	return i.turns.PutTx(ctx, tx, queue.JobArgs{Subscriber: subscriber, Key: inbox, Subject: strconv.FormatInt(input, 10)})
}

// next is the first input of an inbox that can be worked on; nil: there is
// none. While a run is busy only what it has to hear at once can, and what ends
// others.
func (i *inbox) next(ctx context.Context, inbox string) (*inputRow, error) {
	const busy = `SELECT b.seq FROM flow_run b WHERE b.inbox = $1 AND b.ended_us = 0 AND b.turn > 0 AND b.waits IN ('', 'effect')`
	var found []*inputRow
	err := i.db.SelectContext(ctx, &found, `SELECT i.id, i.inbox, i.reference, i.chat_id, i.run, i.kind, i.body, i.traceparent FROM flow_input i
		WHERE i.inbox = $1
		AND (i.kind = 'cancel' OR i.run IN (`+busy+`) AND i.kind IN ('effect', 'timer', 'continue', 'retry') OR NOT EXISTS (`+busy+`))
		AND (i.after_run = 0 OR NOT EXISTS (SELECT 1 FROM flow_run o WHERE o.seq = i.after_run AND o.ended_us = 0))
		ORDER BY i.id LIMIT 2`, inbox)
	if err != nil {
		return nil, fmt.Errorf("reading an inbox: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	found[0].more = len(found) > 1
	return found[0], nil
}

// strayed is the next input where that of a job is, if it is in another inbox: it was
// on its way when its chat became one with that of the job.
func (i *inbox) strayed(ctx context.Context, it queue.Job) (*inputRow, error) {
	input, err := strconv.ParseInt(it.Subject, 10, 64)
	if err != nil || input == 0 {
		return nil, nil
	}
	var at []string
	if err := i.db.SelectContext(ctx, &at, `SELECT inbox FROM flow_input WHERE id = $1 AND inbox <> $2`, input, it.Key); err != nil {
		return nil, fmt.Errorf("looking for an input: %w", err)
	}
	if len(at) == 0 {
		return nil, nil
	}
	return i.next(ctx, at[0])
}

// active are the runs of an inbox that have not ended, the oldest first.
func (i *inbox) active(ctx context.Context, inbox string) ([]*runRow, error) {
	var rows []*runRow
	err := i.db.SelectContext(ctx, &rows, `SELECT `+runColumns+` FROM flow_run r WHERE r.inbox = $1 AND r.ended_us = 0 ORDER BY r.seq`, inbox)
	if err != nil {
		return nil, fmt.Errorf("reading the runs of a chat: %w", err)
	}
	return rows, nil
}

// errTaken says that an input was worked on by another node meanwhile, or a
// run has gone on: what was found out is out of date.
var errTaken = errors.New("runtime: another node was faster")

// markSeenTx notes that a run has heard a message of a group.
func (i *inbox) markSeenTx(ctx context.Context, tx *database.Tx, run int64, in *inputRow) error {
	if in == nil || in.seen == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO flow_seen (run, message) VALUES ($1, $2) ON CONFLICT DO NOTHING`, run, text.Sanitize(in.seen))
	if err != nil {
		return fmt.Errorf("noting what a run has heard: %w", err)
	}
	return nil
}

// dequeueTx removes an input that is worked on. No other worker can then. One that has
// moved to another inbox is worked on there.
func (i *inbox) dequeueTx(ctx context.Context, tx *database.Tx, in *inputRow) error {
	res, err := tx.ExecContext(ctx, `DELETE FROM flow_input WHERE id = $1 AND inbox = $2`, in.ID, in.Inbox)
	if err != nil {
		return fmt.Errorf("taking an input: %w", err)
	}
	if err := one(res); err != nil {
		return err
	}
	return i.routeTx(ctx, tx, in)
}

// one is [errTaken] unless one row was changed.
func one(res sql.Result) error {
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		err = errTaken
	}
	return err
}

// giveAllTx gives the same to all runs of a condition, the newest first: one
// that is cancelled does not begin when that is cancelled behind which it
// waits.
func (i *inbox) giveAllTx(ctx context.Context, tx *database.Tx, input flow.Input, where string, args ...any) (int, error) {
	var rows []*runRow
	if err := tx.SelectContext(ctx, &rows, `SELECT `+inputColumns+` FROM flow_run r WHERE `+where+` ORDER BY r.seq DESC`, args...); err != nil {
		return 0, fmt.Errorf("finding the runs that wait: %w", err)
	}
	for _, row := range rows {
		if _, err := i.enqueueTx(ctx, tx, row.job(input)); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// historyTx keeps what a run takes that no contact wrote.
func (i *inbox) historyTx(ctx context.Context, tx *database.Tx, run int64, in *inputRow, input flow.Input) error {
	if in == nil {
		return nil
	}
	switch input.(type) {
	case flow.Event, flow.Approval, flow.Assigned, flow.HandoffClosed, flow.Cancel:
	default:
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO flow_signal (run, body, at_us) VALUES ($1, $2, $3)`, run, in.Body, database.Micros(i.now()))
	if err != nil {
		return fmt.Errorf("noting what a run was told: %w", err)
	}
	return nil
}
