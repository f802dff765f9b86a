package botengine

import (
	"context"
	"fmt"

	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// versionRows is how many versions, and bots, a transaction deletes: each has a
// document.
const versionRows = 20

// Delete removes a bot with its versions. Its conversations end. It is found no
// longer once a first, small transaction has committed. The rest goes in small
// ones, too: what of that is interrupted is finished by [Service.Clean].
func (a Bots) Delete(ctx context.Context, id string) error {
	err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
		r, err := a.row(ctx, tx, id, a.s.db.Dialect.ForUpdate())
		if err != nil {
			return err
		}
		// No run of it begins from now on.
		if _, err := tx.ExecContext(ctx, `UPDATE botengine_bot SET removed = TRUE, active = FALSE, slug = '' WHERE id = $1`, id); err != nil {
			return err
		}
		return recordTx(ctx, tx, audit.BotDelete, r, nil)
	})
	if err != nil {
		return fmt.Errorf("deleting a bot: %w", err)
	}
	if err := a.erase(ctx, id); err != nil {
		a.s.opts.Logger.WarnContext(ctx, "erasing a deleted bot; it is tried again", "bot", id, "error", err)
	}
	return nil
}

// erase removes what there is of a hidden bot, last its row: what is interrupted
// continues from there. Two nodes may erase the same one.
func (a scope) erase(ctx context.Context, id string) error {
	if err := a.s.runs.For(a.id).Forget(ctx, a.s.Name(), id, "the bot was deleted"); err != nil {
		return err
	}
	if err := a.s.opts.Deleted(ctx, a.id, id); err != nil {
		return err
	}
	return a.deleteBots(ctx, `id = $1`, id)
}

// Clean finishes deletions that were interrupted. [Service.Run] does so by
// itself.
func (s *Service) Clean(ctx context.Context) error {
	return s.store.EraseAll(ctx, `botengine_bot WHERE removed`, nil, func(ctx context.Context, account, id string) error {
		if err := s.For(account).erase(ctx, id); err != nil {
			return fmt.Errorf("erasing a bot: %w", err)
		}
		return nil
	})
}

// Run finishes deletions that were interrupted, until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.store.RunClean(ctx, s.Clean) }

// DeleteReference removes the bots of a reference, which is deleted. It works in
// small steps, each durable, and may be called again after an error or a crash.
func (a *Account) DeleteReference(ctx context.Context, reference int64) error {
	err := a.s.runs.For(a.id).Unschedule(ctx, reference)
	if err == nil {
		err = a.deleteBots(ctx, `account = $1 AND reference = $2`, a.id, reference)
	}
	if err != nil {
		return fmt.Errorf("deleting the bots of a reference: %w", err)
	}
	return nil
}

// deleteBots deletes the bots of a condition.
func (a scope) deleteBots(ctx context.Context, where string, args ...any) error {
	bots := fmt.Sprintf(`SELECT id FROM botengine_bot WHERE %s ORDER BY number LIMIT %d`, where, versionRows)
	for {
		var ids []any
		if err := a.s.db.SelectContext(ctx, &ids, bots, args...); err != nil || len(ids) == 0 {
			return err
		}
		in, values := a.s.db.Dialect.In("bot", 1, ids)
		if err := a.s.db.InSteps(ctx, fmt.Sprintf(`DELETE FROM botengine_version WHERE (bot, version) IN
			(SELECT bot, version FROM botengine_version WHERE %s LIMIT %d)`, in, versionRows), values...); err != nil {
			return err
		}
		err := a.s.db.InTx(ctx, func(tx *database.Tx) error {
			in, values := a.s.db.Dialect.In("id", 1, ids)
			_, err := tx.ExecContext(ctx, `DELETE FROM botengine_bot WHERE `+in, values...)
			return err
		})
		if err != nil {
			return err
		}
	}
}

// DeleteAll removes everything of the account. It works in small steps, each
// durable, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	if err := a.deleteBots(ctx, `account = $1`, a.id); err != nil {
		return fmt.Errorf("deleting bots: %w", err)
	}
	return nil
}
