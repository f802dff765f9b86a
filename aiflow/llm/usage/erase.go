package usage

import (
	"context"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"
)

// EraseTx forgets, when tx commits, in which chat calls were, and budgets of
// that chat alone. What the calls took, and cost, stays. The ids are all by
// which the chat is or was known; nil: all chats of the line.
func (a *Account) EraseTx(ctx context.Context, tx *sqlx.Tx, reference int64, chatIDs []string) error {
	if err := lock(ctx, tx, a.id); err != nil {
		return fmt.Errorf("erasing a chat from calls of models: %w", err)
	}
	if chatIDs == nil {
		return a.eraseTx(ctx, tx, reference, func(column string) (string, []any) { return column + ` <> ''`, nil })
	}
	for part := range slices.Chunk(chatIDs, chunk) {
		part = slices.DeleteFunc(slices.Clone(part), func(s string) bool { return s == "" })
		ids := make([]any, len(part))
		for i, id := range part {
			ids[i] = id
		}
		err := a.eraseTx(ctx, tx, reference, func(column string) (string, []any) { return a.l.db.Dialect.In(column, 3, ids) })
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseTx forgets chats of a line: those whose id, in a column, a condition
// chooses.
func (a *Account) eraseTx(ctx context.Context, tx *sqlx.Tx, reference int64, which func(column string) (string, []any)) error {
	for _, s := range []struct{ statement, column string }{
		{`UPDATE usage_call SET chat_id = '' WHERE account = $1 AND reference = $2 AND `, "chat_id"},
		{`DELETE FROM usage_budget WHERE account = $1 AND reference = $2 AND scope = 'chat' AND `, "scope_id"},
		{`DELETE FROM usage_spent WHERE account = $1 AND reference = $2 AND scope = 'chat' AND `, "scope_id"},
	} {
		in, args := which(s.column)
		if _, err := tx.ExecContext(ctx, s.statement+in, append([]any{a.id, reference}, args...)...); err != nil {
			return fmt.Errorf("erasing a chat from calls of models: %w", err)
		}
	}
	return nil
}

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	for _, statement := range []string{
		`DELETE FROM usage_call WHERE seq IN (SELECT seq FROM usage_call WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_budget WHERE seq IN (SELECT seq FROM usage_budget WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_price WHERE (account, provider, model) IN (SELECT account, provider, model FROM usage_price WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_spent WHERE (account, scope, reference, scope_id, starts_us, ends_us) IN
			(SELECT account, scope, reference, scope_id, starts_us, ends_us FROM usage_spent WHERE account = $1 LIMIT $2)`,
		`DELETE FROM usage_account WHERE account IN (SELECT account FROM usage_account WHERE account = $1 LIMIT $2)`,
	} {
		if err := a.l.deleteAll(ctx, statement, a.id, chunk); err != nil {
			return fmt.Errorf("erasing calls of models: %w", err)
		}
	}
	return nil
}
