package botengine

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

const columns = `number, id, account, reference, name, draft, slug, active, version, versions, revision, created_us, updated_us`

// row is a bot as it is stored.
type row struct {
	Number            int64
	ID, Account       string
	Reference         int64
	Name, Draft, Slug string
	Active            bool
	Version, Versions int64
	Revision          int64
	Created           int64 `db:"created_us"`
	Updated           int64 `db:"updated_us"`
}

func (r *row) insertTx(ctx context.Context, tx *sqlx.Tx) error {
	return tx.GetContext(ctx, &r.Number, `INSERT INTO botengine_bot (id, account, reference, name, draft, slug, active, version, versions, revision, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, '', $6, 0, 0, $7, $8, $9) RETURNING number`,
		r.ID, r.Account, r.Reference, r.Name, r.Draft, r.Active, r.Revision, r.Created, r.Updated)
}

// view is a bot with what is wrong with its draft.
func (s *Service) view(r row) Bot {
	b := Bot{
		ID: r.ID, Reference: r.Reference, Name: r.Name, Flow: json.RawMessage(r.Draft), Status: StatusDraft, Active: r.Active, Version: r.Version,
		Revision:  r.Revision,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}
	if r.Version > 0 {
		b.Status = StatusPublished
	}
	b.Trigger = triggerOf(b.Flow)
	_, b.Problems = s.compile(b.Flow)
	return b
}

// row finds a bot of the account. lock ends the statement.
func (a *Account) row(ctx context.Context, q sqlx.QueryerContext, id, lock string) (row, error) {
	var r row
	err := sqlx.GetContext(ctx, q, &r, `SELECT `+columns+` FROM botengine_bot WHERE id = $1 AND account = $2`+lock, id, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading a bot: %w", err)
	}
	return r, nil
}

// List bounds a page of a list.
type List struct {
	Limit  int    // at least 1, above 200 it is 200; 0: 50
	Cursor string // Page.Next of the page before; "": the first page
}

// Page is a page of a list.
type Page[T any] struct {
	Items []T    // never nil
	Next  string // the cursor of the next page; "": it is the last
}

func (l List) bounds() (last int64, rows int, err error) {
	last, rows, err = page.Parse(l.Limit, l.Cursor)
	var bad *page.Error
	if errors.As(err, &bad) {
		err = &Invalid{bad.Field, bad.Message}
	}
	return last, rows, err
}

// Bots lists the bots of a line, or of all lines if reference is 0, the oldest
// first. A page holds fewer where drafts are large.
func (a *Account) Bots(ctx context.Context, reference int64, l List) (Page[Bot], error) {
	var references []int64
	if reference != 0 {
		references = []int64{reference}
	}
	return a.BotsOf(ctx, references, l)
}

// BotsOf lists the bots of some references, the oldest first; nil: of all.
func (a *Account) BotsOf(ctx context.Context, references []int64, l List) (Page[Bot], error) {
	last, size, err := l.bounds()
	if err != nil {
		return Page[Bot]{}, err
	}
	which, args := ` FROM botengine_bot WHERE account = $1`, []any{a.id}
	if references != nil {
		in, more := a.s.db.Dialect.InNumbers("reference", 2, references)
		which, args = which+` AND `+in, append(args, more...)
	}
	which += fmt.Sprintf(` AND number > $%d ORDER BY number LIMIT $%d`, len(args)+1, len(args)+2)
	rows, size, err := page.Read[row](ctx, a.s.db, columns, `OCTET_LENGTH(draft)`, which, size, append(args, last)...)
	if err != nil {
		return Page[Bot]{}, fmt.Errorf("listing bots: %w", err)
	}
	bots, next := page.Cut(rows, size, func(r row) int64 { return r.Number }, a.s.view)
	return Page[Bot]{bots, next}, nil
}

// ListeningQuery is a SELECT of those of some references, at least one, on which
// a published bot is switched on: one column, reference. Its parameters are
// numbered from first. It is for a statement of the transaction that stores
// messages: a bot counts for all that is stored once its change is committed.
func (s *Service) ListeningQuery(first int, references []int64) (text string, args []any) {
	in, args := s.db.Dialect.InNumbers("reference", first, references)
	return `SELECT DISTINCT reference FROM botengine_bot WHERE version > 0 AND active AND ` + in, args
}

// DeleteReference removes the bots of a reference, which is deleted. It works in
// small steps, each durable, and may be called again after an error or a crash.
func (a *Account) DeleteReference(ctx context.Context, reference int64) error {
	err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error { return a.s.runs.For(a.id).UnscheduleTx(ctx, tx, reference) })
	if err == nil {
		err = a.deleteBots(ctx, `account = $1 AND reference = $2`, a.id, reference)
	}
	if err != nil {
		return fmt.Errorf("deleting the bots of a reference: %w", err)
	}
	return nil
}

// versionRows is how many versions, and bots, a transaction deletes: each has a
// document.
const versionRows = 20

// deleteBots deletes the bots of a condition.
func (a *Account) deleteBots(ctx context.Context, where string, args ...any) error {
	bots := fmt.Sprintf(`SELECT id FROM botengine_bot WHERE %s ORDER BY number LIMIT %d`, where, versionRows)
	for {
		var ids []any
		if err := a.s.db.SelectContext(ctx, &ids, bots, args...); err != nil || len(ids) == 0 {
			return err
		}
		in, values := a.s.db.Dialect.In("bot", 1, ids)
		if err := a.inSteps(ctx, fmt.Sprintf(`DELETE FROM botengine_version WHERE (bot, version) IN
			(SELECT bot, version FROM botengine_version WHERE %s LIMIT %d)`, in, versionRows), values...); err != nil {
			return err
		}
		err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
			in, values := a.s.db.Dialect.In("id", 1, ids)
			_, err := tx.ExecContext(ctx, `DELETE FROM botengine_bot WHERE `+in, values...)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// inSteps runs a statement, each time in a transaction of its own, until it
// changes nothing more.
func (a *Account) inSteps(ctx context.Context, statement string, args ...any) error {
	for n := int64(1); n > 0; {
		err := a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
			res, err := tx.ExecContext(ctx, statement, args...)
			if err == nil {
				n, err = res.RowsAffected()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	if err := a.deleteBots(ctx, `account = $1`, a.id); err != nil {
		return fmt.Errorf("deleting bots: %w", err)
	}
	return nil
}

// Switch lets a bot of a line answer, or not, and returns what was before.
func (a *Account) Switch(ctx context.Context, reference int64, id string, active bool) (before bool, err error) {
	err = a.s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		r, err := a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err == nil && r.Reference != reference {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		before = r.Active
		_, err = tx.ExecContext(ctx, `UPDATE botengine_bot SET active = $1, revision = revision + 1, updated_us = $2 WHERE id = $3`,
			active, database.Micros(a.s.opts.Now()), id)
		if err != nil {
			return err
		}
		r.Active = active
		if err := a.scheduleTx(ctx, tx, r); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotUpdate, r, audit.Changed("active"))
	})
	if err != nil {
		return false, fmt.Errorf("switching a bot: %w", err)
	}
	return before, nil
}
