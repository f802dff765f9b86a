package usage

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// Erase removes the ids of chats of a reference from the ledger, of all its chats
// if chatIDs is nil. Calls stay without their chat; budgets of the chats are
// deleted. Calls from before on keep their chat; zero: none do. Erase works in
// small durable steps, and may be called again after an error or a crash.
func (a *Account) Erase(ctx context.Context, reference int64, chatIDs []string, before time.Time) error {
	until := int64(math.MaxInt64)
	if !before.IsZero() {
		until = database.Micros(before)
	}
	if chatIDs == nil {
		return a.erase(ctx, reference, until, func(column string, _ int) (string, []any) { return column + ` <> ''`, nil })
	}
	for part := range slices.Chunk(chatIDs, chunk) {
		part = slices.DeleteFunc(slices.Clone(part), func(s string) bool { return s == "" })
		ids := make([]any, len(part))
		for i, id := range part {
			ids[i] = id
		}
		err := a.erase(ctx, reference, until, func(column string, first int) (string, []any) { return a.l.db.Dialect.In(column, first, ids) })
		if err != nil {
			return err
		}
	}
	return nil
}

// erase erases the chats of a reference whose id, in a column, matches a condition.
func (a *Account) erase(ctx context.Context, reference, until int64, which func(column string, first int) (string, []any)) error {
	const spent = `account, scope, reference, scope_id, starts_us, ends_us`
	for _, s := range []struct{ statement, column string }{
		{`UPDATE usage_call SET chat_id = '' WHERE seq IN (SELECT seq FROM usage_call WHERE account = $1 AND reference = $2 AND at_us <= $3 AND %s LIMIT %d)`, "chat_id"},
		{`DELETE FROM usage_budget WHERE seq IN (SELECT seq FROM usage_budget WHERE account = $1 AND reference = $2 AND CAST($3 AS BIGINT) > 0 AND scope = 'chat' AND %s LIMIT %d)`, "scope_id"},
		{`DELETE FROM usage_spent WHERE (` + spent + `) IN (SELECT ` + spent + ` FROM usage_spent
			WHERE account = $1 AND reference = $2 AND CAST($3 AS BIGINT) > 0 AND scope = 'chat' AND %s LIMIT %d)`, "scope_id"},
	} {
		in, args := which(s.column, 4)
		for n := int64(1); n > 0; {
			err := a.l.db.Write(ctx, func(tx *database.Tx) error {
				ctx := context.WithoutCancel(ctx)
				if _, err := lock(ctx, tx, a.id); err != nil {
					return err
				}
				res, err := tx.ExecContext(ctx, fmt.Sprintf(s.statement, in, chunk), append([]any{a.id, reference, until}, args...)...)
				if err == nil {
					n, err = res.RowsAffected()
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("erasing a chat from calls of models: %w", err)
			}
		}
	}
	return nil
}

// DeleteAll removes everything of the account. It works in small durable steps, and
// may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	err := a.l.db.InSteps(ctx, `DELETE FROM usage_call WHERE seq IN (SELECT seq FROM usage_call WHERE account = $1 LIMIT $2)`, a.id, chunk)
	if err == nil {
		err = a.deleteSlots(ctx)
	}
	if err != nil {
		return fmt.Errorf("erasing calls of models: %w", err)
	}
	for _, statement := range []string{
		`DELETE FROM usage_budget WHERE seq IN (SELECT seq FROM usage_budget WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_price WHERE (account, provider, model) IN (SELECT account, provider, model FROM usage_price WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_spent WHERE (account, scope, reference, scope_id, starts_us, ends_us) IN
			(SELECT account, scope, reference, scope_id, starts_us, ends_us FROM usage_spent WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_account WHERE account IN (SELECT account FROM usage_account WHERE account = $1 LIMIT $2)`,
	} {
		if err := a.l.db.InSteps(ctx, statement, a.id, chunk); err != nil {
			return fmt.Errorf("erasing calls of models: %w", err)
		}
	}
	return nil
}
