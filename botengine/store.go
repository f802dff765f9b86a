package botengine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/aiflow/flow/versions"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

const columns = `number, id, account, reference, name, draft, slug, active, version, versions, revision, created_us, updated_us`

// row is a bot as it is stored.
type row struct {
	versions.Row
	Reference int64
	Active    bool
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
	return versions.Find[row](ctx, a.s.store, q, columns, a.id, id, lock)
}

// List bounds a page of a list.
type List = versions.List

// Page is a page of a list.
type Page[T any] = versions.Page[T]

// Bots lists the bots of a reference, or of all references if reference is 0, the oldest
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
	last, size, err := a.s.store.Bounds(l)
	if err != nil {
		return Page[Bot]{}, err
	}
	which, args := ` FROM botengine_bot WHERE account = $1 AND NOT removed`, []any{a.id}
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
	return Page[Bot]{Items: bots, Next: next}, nil
}

// ListeningQuery is a SELECT of those of some references, at least one, on which
// a published bot is switched on: one column, reference. Its parameters are
// numbered from first. It is for a statement of the transaction that stores
// messages: a bot counts for all that is stored once its change is committed.
func (s *Service) ListeningQuery(first int, references []int64) (text string, args []any) {
	in, args := s.db.Dialect.InNumbers("reference", first, references)
	return `SELECT DISTINCT reference FROM botengine_bot WHERE version > 0 AND active AND ` + in, args
}

// Switch lets a bot of a reference answer, or not, and returns what was before.
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
