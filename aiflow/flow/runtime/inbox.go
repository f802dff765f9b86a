package runtime

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/groupcommit"
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

	traceparent string // "": that of the context
	id          int64  // of the input, when it is stored
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

	firsts *groupcommit.Reads[string, inputRow] // of inboxes without active runs
}

func newInbox(db *database.DB, turns *queue.Queue, now func() time.Time) *inbox {
	i := &inbox{db: db, turns: turns, now: now}
	i.firsts = groupcommit.NewReads(i.readFirsts)
	return i
}

// enqueueTx puts an input into its inbox, and has that looked at. It returns the
// input's number.
func (i *inbox) enqueueTx(ctx context.Context, tx *database.Tx, p job) (int64, error) {
	one := []job{p}
	err := i.enqueueAllTx(ctx, tx, one)
	return one[0].id, err
}

// enqueueAllTx puts inputs into their inboxes, as enqueueTx does, and sets their ids.
func (i *inbox) enqueueAllTx(ctx context.Context, tx *database.Tx, jobs []job) error {
	if len(jobs) == 0 {
		return nil
	}
	values := make([]any, 0, len(inputTypes)*len(jobs))
	byInbox := map[string][]*job{}
	for n := range jobs {
		p := &jobs[n]
		kind, body, err := p.encode()
		if err != nil {
			return fmt.Errorf("writing an input: %w", err)
		}
		p.traceparent = cmp.Or(p.traceparent, span.Of(ctx))
		values = append(values, p.inbox, p.reference, p.account, p.chatID, p.run, p.after, kind, body, database.Micros(i.now()), p.traceparent)
		byInbox[p.inbox] = append(byInbox[p.inbox], p)
	}
	type stored struct {
		ID    int64  `db:"id"`
		Inbox string `db:"inbox"`
	}
	rows, err := database.SelectRows[stored](ctx, i.db, tx, database.Rows{
		Before: `INSERT INTO flow_input (inbox, reference, account, chat_id, run, after_run, kind, body, created_us, traceparent) `,
		After:  ` RETURNING id, inbox`, Types: inputTypes, Values: values,
	})
	if err != nil {
		return fmt.Errorf("storing inputs: %w", err)
	}
	slices.SortFunc(rows, func(a, b stored) int { return cmp.Compare(a.ID, b.ID) })
	for _, row := range rows { // they are in the order of the inputs
		p := byInbox[row.Inbox][0]
		byInbox[row.Inbox] = byInbox[row.Inbox][1:]
		p.id = row.ID
	}
	args := make([]queue.JobArgs, len(jobs))
	for n, p := range jobs {
		args[n] = lookAt(subscriber(p.account, p.reference), p.inbox, p.id)
		args[n].Traceparent = p.traceparent
	}
	return i.turns.PutTx(ctx, tx, args...)
}

var inputTypes = []string{"TEXT", "BIGINT", "TEXT", "TEXT", "BIGINT", "BIGINT", "TEXT", "TEXT", "BIGINT", "TEXT"}

// notifyTx has its inbox looked at.
func (i *inbox) notifyTx(ctx context.Context, tx *database.Tx, subscriber, inbox string, input int64) error {
	return i.turns.PutTx(ctx, tx, lookAt(subscriber, inbox, input))
}

// lookAt is the job that has an inbox looked at. Jobs of its partition say no more than
// that: what is to be done is what the inbox holds then.
func lookAt(subscriber, inbox string, input int64) queue.JobArgs {
	return queue.JobArgs{Subscriber: subscriber, Key: inbox, Subject: strconv.FormatInt(input, 10)}
}

// work is the first input of an inbox that can be worked on, with the runs of the
// inbox that have not ended, the oldest first. nil: there is none.
func (i *inbox) work(ctx context.Context, inbox string) (*inputRow, []*runRow, error) {
	first, found, err := i.firsts.Get(ctx, inbox)
	if err != nil {
		return nil, nil, fmt.Errorf("reading an inbox: %w", err)
	}
	if found {
		return &first, nil, nil
	}
	in, err := i.next(ctx, inbox)
	if in == nil || err != nil {
		return nil, nil, err
	}
	runs, err := i.active(ctx, inbox)
	return in, runs, err
}

// readFirsts reads the first inputs of inboxes in which no run is active: nothing keeps
// such an input waiting.
func (i *inbox) readFirsts(ctx context.Context, inboxes []string) (map[string]inputRow, error) {
	values := make([]any, len(inboxes))
	for n, inbox := range inboxes {
		values[n] = inbox
	}
	type first struct {
		inputRow
		More bool `db:"more"`
	}
	rows, err := database.SelectRows[first](ctx, i.db, i.db, database.Rows{
		Before: `WITH k (inbox) AS (`,
		After: `), f (inbox, id) AS (SELECT k.inbox, (SELECT min(o.id) FROM flow_input o WHERE o.inbox = k.inbox) FROM k)
			SELECT ` + columnsOfInput + `, EXISTS (SELECT 1 FROM flow_input o WHERE o.inbox = f.inbox AND o.id > f.id) AS more
			FROM f JOIN flow_input i ON i.id = f.id
			WHERE NOT EXISTS (SELECT 1 FROM flow_run r WHERE r.inbox = f.inbox AND r.ended_us = 0)
			AND (i.after_run = 0 OR NOT EXISTS (SELECT 1 FROM flow_run o WHERE o.seq = i.after_run AND o.ended_us = 0))`,
		Types: []string{"TEXT"}, Values: values, Set: true,
	})
	out := make(map[string]inputRow, len(rows))
	for _, r := range rows {
		r.more = r.More
		out[r.Inbox] = r.inputRow
	}
	return out, err
}

const columnsOfInput = `i.id, i.inbox, i.reference, i.chat_id, i.run, i.kind, i.body, i.traceparent`

// next is the first input of an inbox that can be worked on; nil: there is
// none. While a run is busy only what it has to hear at once can, and what ends
// others.
func (i *inbox) next(ctx context.Context, inbox string) (*inputRow, error) {
	const busy = `SELECT b.seq FROM flow_run b WHERE b.inbox = $1 AND b.ended_us = 0 AND b.turn > 0 AND b.waits IN ('', 'effect')`
	var found []*inputRow
	err := i.db.SelectContext(ctx, &found, `SELECT `+columnsOfInput+` FROM flow_input i
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
func (i *inbox) strayed(ctx context.Context, it queue.Job) (*inputRow, []*runRow, error) {
	input, err := strconv.ParseInt(it.Subject, 10, 64)
	if err != nil || input == 0 {
		return nil, nil, nil
	}
	var at []string
	if err := i.db.SelectContext(ctx, &at, `SELECT inbox FROM flow_input WHERE id = $1 AND inbox <> $2`, input, it.Key); err != nil {
		return nil, nil, fmt.Errorf("looking for an input: %w", err)
	}
	if len(at) == 0 {
		return nil, nil, nil
	}
	return i.work(ctx, at[0])
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

// seenRow returns a row of flow_seen if the input is a message of a group that a run
// receives.
func (in *inputRow) seenRow(run int64) []any {
	if in == nil || in.seen == "" {
		return nil
	}
	return []any{run, text.Sanitize(in.seen)}
}

// markSeenTx notes that a run has heard a message of a group.
func (i *inbox) markSeenTx(ctx context.Context, tx *database.Tx, run int64, in *inputRow) error {
	row := in.seenRow(run)
	if row == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO flow_seen (run, message) VALUES ($1, $2) ON CONFLICT DO NOTHING`, row...)
	if err != nil {
		return fmt.Errorf("noting what a run has heard: %w", err)
	}
	return nil
}

// dequeueTx removes an input that is worked on. No other worker can then. One that has
// moved to another inbox is worked on there.
func (i *inbox) dequeueTx(ctx context.Context, tx *database.Tx, in *inputRow) error {
	taken, err := i.takeTx(ctx, tx, []*inputRow{in})
	if err == nil && !taken[in.ID] {
		err = errTaken
	}
	if err != nil {
		return err
	}
	return i.routeTx(ctx, tx, []*inputRow{in})
}

// takeTx removes inputs that are worked on, as dequeueTx does, and returns the ids of
// those that were there.
func (i *inbox) takeTx(ctx context.Context, tx *database.Tx, ins []*inputRow) (taken map[int64]bool, err error) {
	var values []any
	for _, in := range ins {
		values = append(values, in.ID, in.Inbox)
	}
	ids, err := database.SelectRows[int64](ctx, i.db, tx, database.Rows{
		Before: `DELETE FROM flow_input WHERE (id, inbox) IN (`, After: `) RETURNING id`, Types: []string{"BIGINT", "TEXT"}, Values: values, Set: true,
	})
	if err != nil {
		return nil, fmt.Errorf("taking inputs: %w", err)
	}
	taken = map[int64]bool{}
	for _, id := range ids {
		taken[id] = true
	}
	return taken, nil
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

// signal returns a row of flow_signal if an input is one that no contact wrote.
func (i *inbox) signal(run int64, in *inputRow, input flow.Input) []any {
	if in == nil {
		return nil
	}
	switch input.(type) {
	case flow.Event, flow.Approval, flow.Assigned, flow.HandoffClosed, flow.Cancel:
		return []any{run, in.Body, database.Micros(i.now())}
	}
	return nil
}
