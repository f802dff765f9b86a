package runtime

import (
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
	"github.com/trunklinehq/trunkline/internal/apierr"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

// Filter chooses runs. What is empty does not choose.
type Filter struct {
	Engine    string
	Owner     string // without the runs of functions that runs of the flow called, unless Parent is set
	Parent    string // the id of the run that began them
	Status    Status
	Reference int64
	ChatID    string
	Limit     int    // at least 1, above 200 it is 200; 0: 50
	Cursor    string // Page.Next of the page before; "": the first page
}

// Page is a page of a list.
type Page[T any] = page.Page[T]

// Invalid reports a value that breaks a rule. It has the Field, a path in the
// request, and the Message, to be read after the field; never the value, which
// may be a secret.
type Invalid = apierr.Invalid

// Runs lists runs, the newest first. Wrong bounds are an [*Invalid].
func (a *Account) Runs(ctx context.Context, f Filter) (Page[Run], error) {
	before, limit, err := page.List{Limit: f.Limit, Cursor: f.Cursor}.Parse()
	if err != nil {
		return Page[Run]{}, err
	}
	where, args := f.where(a.id, before)
	args = append(args, limit+1)
	var rows []*runRow
	err = a.r.db.SelectContext(ctx, &rows, `SELECT `+runColumns+` FROM flow_run r WHERE `+where+` ORDER BY r.seq DESC LIMIT $`+strconv.Itoa(len(args)), args...)
	if err != nil {
		return Page[Run]{}, fmt.Errorf("listing runs: %w", err)
	}
	return page.Cut(rows, limit, func(r *runRow) int64 { return r.Seq }, (*runRow).view), nil
}

func (f Filter) where(account string, before int64) (string, []any) {
	terms, args := []string{`r.account = $1`}, []any{account}
	add := func(is bool, term string, value any) {
		if is {
			args = append(args, value)
			terms = append(terms, term+strconv.Itoa(len(args)))
		}
	}
	add(f.Engine != "", `r.engine = $`, f.Engine)
	add(f.Owner != "", `r.owner = $`, f.Owner)
	if f.Owner != "" && f.Parent == "" {
		terms = append(terms, `r.function = ''`)
	}
	add(f.Parent != "", `r.parent = $`, f.Parent)
	switch f.Status { // what indexes have
	case Running, Waiting:
		terms = append(terms, `r.ended_us = 0`)
	case Failed:
		terms = append(terms, `r.error <> ''`)
	case Cancelled:
		terms = append(terms, `r.cancelled`)
	}
	add(f.Status != "", `r.status = $`, f.Status)
	add(f.Reference != 0, `r.reference = $`, f.Reference)
	add(f.ChatID != "", `r.chat_id = $`, f.ChatID)
	add(before != 0, `r.seq < $`, before)
	return strings.Join(terms, ` AND `), args
}

// Run returns one run, or [ErrNotFound].
func (a *Account) Run(ctx context.Context, id string) (Run, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return row.view(), nil
}

// Detail is a run with what it did.
type Detail struct {
	Run
	Steps     []Step
	Sent      []string       // ids of the last 1,000 messages that it sent, in order
	Variables map[string]any // of the flow, as they are now or were last; secret ones are left out
}

// Step is a step of a run.
type Step struct {
	flow.TraceRow
	Duration time.Duration // how long it waited for what it waits for
}

// maxSteps bounds the steps of a [Detail]: the last ones are shown. A step has
// at most two rows.
const maxSteps = 1000

// maxSent bounds the messages of a [Detail].
const maxSent = 1000

// Detail returns one run with its last 1,000 steps, or [ErrNotFound].
func (a *Account) Detail(ctx context.Context, id string) (Detail, error) {
	row, err := a.row(ctx, id)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Run: row.view(), Steps: []Step{}, Sent: []string{}}
	if err := a.steps(ctx, row, &d); err != nil {
		return Detail{}, err
	}
	err = a.r.db.SelectContext(ctx, &d.Sent, `SELECT message FROM (SELECT id, message FROM flow_sent WHERE run = $1 ORDER BY id DESC LIMIT $2) s
		ORDER BY id`, row.Seq, maxSent)
	if err != nil {
		return Detail{}, fmt.Errorf("reading the messages of a run: %w", err)
	}
	return d, a.variables(ctx, row, &d)
}

func (a *Account) steps(ctx context.Context, row *runRow, d *Detail) error {
	var bodies []string
	err := a.r.db.SelectContext(ctx, &bodies, `SELECT body FROM (SELECT id, body FROM flow_step WHERE run = $1 ORDER BY id DESC LIMIT $2) s
		ORDER BY id`, row.Seq, maxSteps)
	if err != nil {
		return fmt.Errorf("reading the steps of a run: %w", err)
	}
	for _, b := range bodies {
		s, err := exactly[flow.TraceRow](b)
		if err != nil {
			return fmt.Errorf("reading a step: %w", err)
		}
		d.add(s)
	}
	return nil
}

// add appends a row of the trace. One that tells how a step continued that has
// waited becomes one with the row of the step.
func (d *Detail) add(row flow.TraceRow) {
	n := len(d.Steps)
	if n == 0 || !d.Steps[n-1].waits() || d.Steps[n-1].Node != row.Node || !slices.Equal(d.Steps[n-1].Path, row.Path) {
		d.Steps = append(d.Steps, Step{TraceRow: row})
		return
	}
	last := &d.Steps[n-1]
	first := last.TraceRow
	last.TraceRow, last.Duration = row, row.At.Sub(first.At)
	last.Seq, last.At, last.Retry = first.Seq, first.At, first.Retry
	if row.In == nil {
		last.In = first.In
	}
}

// waits says that the step has not been left by what is known of it.
func (s *Step) waits() bool { return s.Output == "" && s.Error == nil }

// variables reads those of the flow itself.
func (a *Account) variables(ctx context.Context, row *runRow, d *Detail) error {
	d.Variables = map[string]any{}
	if row.State == "" {
		return nil
	}
	var s flow.State
	if err := json.Unmarshal([]byte(row.State), &s); err != nil {
		return fmt.Errorf("reading the state of a run: %w", err)
	}
	if len(s.Frames) == 0 {
		return nil
	}
	l, err := a.r.programs.load(ctx, row.Document)
	if err != nil {
		return err
	}
	d.Variables = l.source.Document.Shown(s.Frames[0].Vars)
	return nil
}

// row reads one run of the account.
func (a *Account) row(ctx context.Context, id string) (*runRow, error) {
	row := &runRow{}
	err := a.r.db.GetContext(ctx, row, `SELECT `+runColumns+` FROM flow_run r WHERE r.id = $1 AND r.account = $2`, id, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	return row, nil
}

// runBySeq reads a run of any account.
func runBySeq(ctx context.Context, db *database.DB, seq int64) (*runRow, error) {
	row := &runRow{}
	err := db.GetContext(ctx, row, `SELECT `+runColumns+` FROM flow_run r WHERE r.seq = $1`, seq)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("reading a run: %w", err)
	}
	return row, nil
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

// ActiveQuery is a SELECT of those of some chats, by their keys, in which a run
// has not ended, or something waits to be taken by one: one column, inbox. Its
// parameters are numbered from first.
func (r *Runtime) ActiveQuery(first int, keys []string) (text string, args []any) {
	runs, args := r.db.Dialect.In("inbox", first, anyOf(keys))
	inputs, more := r.db.Dialect.In("inbox", first+len(args), anyOf(keys))
	return `SELECT inbox FROM flow_run WHERE ended_us = 0 AND ` + runs + ` UNION SELECT inbox FROM flow_input WHERE ` + inputs, append(args, more...)
}
