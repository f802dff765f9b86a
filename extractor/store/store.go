package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/google/uuid"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/page"
)

const columns = `number, id, account, name, kind, reference, bot, flow, config, enabled, revision, training, training_error,
	claim, claim_us, created_us, updated_us`

// row is an extractor in the database.
type row struct {
	Number                  int64
	ID, Account, Name, Kind string
	Reference               int64
	Bot, Flow, Config       string
	Enabled                 bool
	Revision                int64
	Training                string
	TrainingError           string `db:"training_error"`
	Claim                   string
	ClaimUS                 int64 `db:"claim_us"`
	Created                 int64 `db:"created_us"`
	Updated                 int64 `db:"updated_us"`
}

func (r *row) insertTx(ctx context.Context, tx *database.Tx) error {
	return tx.GetContext(ctx, &r.Number, `INSERT INTO extractor_item (id, account, name, kind, reference, bot, flow, config, enabled, revision,
			training, training_error, claim, claim_us, created_us, updated_us)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', '', 0, $12, $13) RETURNING number`,
		r.ID, r.Account, r.Name, r.Kind, r.Reference, r.Bot, r.Flow, r.Config, r.Enabled, r.Revision, r.Training, r.Created, r.Updated)
}

func (r *row) updateTx(ctx context.Context, tx *database.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE extractor_item SET name = $1, reference = $2, bot = $3, flow = $4, config = $5, enabled = $6, revision = $7,
			training = $8, training_error = $9, claim = $10, claim_us = $11, updated_us = $12 WHERE id = $13`,
		r.Name, r.Reference, r.Bot, r.Flow, r.Config, r.Enabled, r.Revision, r.Training, r.TrainingError, r.Claim, r.ClaimUS, r.Updated, r.ID)
	return err
}

func (r *row) view() Extractor {
	return Extractor{
		ID: r.ID, Name: r.Name, Kind: r.Kind, Scope: Scope{Reference: r.Reference, Bot: r.Bot, Flow: r.Flow}, Config: json.RawMessage(r.Config),
		Enabled: r.Enabled, Training: r.Training, TrainingError: r.TrainingError,
		CreatedAt: database.Time(r.Created), UpdatedAt: database.Time(r.Updated),
	}
}

// row reads an extractor of the account. lock is appended to the statement.
func (a *Account) row(ctx context.Context, q database.Reader, id, lock string) (row, error) {
	var r row
	if uuid.Validate(id) != nil {
		return r, ErrNotFound
	}
	err := q.GetContext(ctx, &r, `SELECT `+columns+` FROM extractor_item WHERE id = $1 AND account = $2`+lock, id, a.id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reading an extractor: %w", err)
	}
	return r, nil
}

// List selects a page of a list.
type List struct {
	Limit  int     // maximum 200; 0: 50
	Cursor string  // Page.Next of the previous page; "": the first page
	Scope  Scope   // only of this reference, bot or flow; the zero value: of all
	Among  []int64 // only of these references and their bots; nil: of all
}

// Page is a page of a list.
type Page[T any] = page.Page[T]

// Extractors lists extractors, the oldest first. A page has fewer items where
// configs are large.
func (a *Account) Extractors(ctx context.Context, l List) (Page[Extractor], error) {
	which := ` FROM extractor_item WHERE account = $1 AND CAST($2 AS BIGINT) IN (0, reference) AND CAST($3 AS TEXT) IN ('', bot)
		AND CAST($4 AS TEXT) IN ('', flow)`
	args := []any{a.id, l.Scope.Reference, l.Scope.Bot, l.Scope.Flow}
	if l.Among != nil {
		in, more := a.s.db.Dialect.InNumbers("reference", len(args)+1, l.Among)
		which, args = which+` AND `+in, append(args, more...)
	}
	which += fmt.Sprintf(` AND number > $%d ORDER BY number LIMIT $%d`, len(args)+1, len(args)+2)
	return page.Read(ctx, a.s.db, page.List{Limit: l.Limit, Cursor: l.Cursor}, "extractors", func(r row) int64 { return r.Number },
		func(r row) Extractor { return r.view() }, columns, `OCTET_LENGTH(config)`, which, args...)
}

// ReadingQuery returns a SELECT that finds extractors of some references and
// accounts, at least one row of each kind that exists, with two columns: reference
// and account. In a row without an account the extractor belongs to the reference
// itself. In a row with an account it belongs to a bot of the reference, or, where
// the reference is 0, to a flow of the account; such extractors read only what
// their bots and flows answer. Parameters are numbered from first.
func (s *Service) ReadingQuery(first int, references []int64, accounts []string) (text string, args []any) {
	ofReference, args := s.db.Dialect.InNumbers("reference", first, references)
	values := make([]any, len(accounts))
	for i, a := range accounts {
		values[i] = a
	}
	ofAccount, more := s.db.Dialect.In("account", first+len(args), values)
	return `SELECT DISTINCT reference, CASE WHEN reference > 0 AND bot = '' THEN '' ELSE account END AS account FROM extractor_item
		WHERE enabled AND (reference > 0 AND ` + ofReference + ` OR flow <> '' AND ` + ofAccount + `)`, append(args, more...)
}

// changedTx increments the revision of the account's extractors, and locks out
// other changes until tx ends. An account begins at a random revision: an account
// that is created again under a deleted id must not reach a revision that a node
// has cached.
func (a *Account) changedTx(ctx context.Context, tx *database.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO extractor_account (account, revision) VALUES ($1, $2)
		ON CONFLICT (account) DO UPDATE SET revision = extractor_account.revision + 1`, a.id, 1+rand.Int64N(1<<53)) //nolint:gosec // it need not be hard to guess
	if err != nil {
		return fmt.Errorf("noting a change of extractors: %w", err)
	}
	return nil
}

// DeleteReference removes the extractors of a deleted reference. It works in small
// durable steps, and may be called again after an error or a crash.
func (a *Account) DeleteReference(ctx context.Context, reference int64) error {
	return a.deleteEach(ctx, `account = $1 AND reference = $2`, a.id, reference)
}

// atOnce is the number of extractors that one transaction deletes. Each may have a
// model.
const atOnce = 20

// deleteEach removes the extractors that match a condition.
func (a *Account) deleteEach(ctx context.Context, where string, args ...any) error {
	for {
		var ids []any
		err := a.s.db.SelectContext(ctx, &ids, fmt.Sprintf(`SELECT id FROM extractor_item WHERE %s LIMIT %d`, where, atOnce), args...)
		if err != nil {
			return fmt.Errorf("looking for extractors: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		err = a.s.db.InTx(ctx, func(tx *database.Tx) error {
			// Lock the account first, as all changes of its extractors do.
			if _, err := tx.ExecContext(ctx, `UPDATE extractor_account SET revision = revision + 1 WHERE account = $1`, a.id); err != nil {
				return fmt.Errorf("noting a change of extractors: %w", err)
			}
			in, values := a.s.db.Dialect.In("id", 1, ids)
			if _, err := tx.ExecContext(ctx, `DELETE FROM extractor_item WHERE `+in, values...); err != nil {
				return fmt.Errorf("deleting extractors: %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// DeleteBot removes the extractors of a deleted bot, as [Account.DeleteReference]
// does.
func (a *Account) DeleteBot(ctx context.Context, bot string) error {
	return a.deleteEach(ctx, `account = $1 AND bot = $2`, a.id, bot)
}

// DeleteFlow removes the extractors of a deleted flow, as [Account.DeleteReference]
// does.
func (a *Account) DeleteFlow(ctx context.Context, flow string) error {
	return a.deleteEach(ctx, `account = $1 AND flow = $2`, a.id, flow)
}

// DeleteAll removes everything of the account. It works in small durable steps, and
// may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	if err := a.deleteEach(ctx, `account = $1`, a.id); err != nil {
		return err
	}
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM extractor_account WHERE account = $1`, a.id)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting the changes of extractors: %w", err)
	}
	return nil
}

// Kinds returns the kinds of all extractors, by id.
func (a *Account) Kinds(ctx context.Context, q database.Reader) (map[string]string, error) {
	var rows []struct{ ID, Kind string }
	if err := q.SelectContext(ctx, &rows, `SELECT id, kind FROM extractor_item WHERE account = $1`, a.id); err != nil {
		return nil, fmt.Errorf("listing extractors: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Kind
	}
	return out, nil
}
