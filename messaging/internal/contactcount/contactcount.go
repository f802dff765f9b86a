// Package contactcount counts the contacts of an account. Who makes a chat does nothing
// for it: a chat is counted when it is so old that no chat with a lower id can still
// appear, and newer ones are counted on demand. Who deletes a counted chat subtracts it,
// by a trigger.
package contactcount

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/periodic"
)

const (
	interval = time.Minute
	// visibleAfter is the time after which every transaction has ended.
	visibleAfter = time.Minute
)

// Counter counts contacts.
type Counter struct {
	DB     *database.DB
	Logger *slog.Logger
	Now    func() time.Time

	last    int64     // the newest chat at the last call of Count
	at      time.Time // of that call; zero: there was none
	waiting []int64   // references with chats up to last to count
}

// Run counts contacts until ctx ends. Any number of nodes may run it.
func (c *Counter) Run(ctx context.Context) error {
	return periodic.RunActive(ctx, c.DB, interval, nil, c.Logger, "counting contacts", c.Count)
}

// Count counts the chats that existed at its last call, if that was long enough ago. It
// must not be called concurrently.
func (c *Counter) Count(ctx context.Context) error {
	now := c.Now()
	if !c.at.IsZero() && now.Sub(c.at) < visibleAfter {
		return nil
	}
	for _, reference := range c.waiting {
		if err := c.count(ctx, reference); err != nil {
			return fmt.Errorf("counting contacts: %w", err)
		}
	}
	var newest int64
	if err := c.DB.GetContext(ctx, &newest, `SELECT COALESCE(MAX(id), 0) FROM messaging_chat`); err != nil {
		return fmt.Errorf("counting contacts: %w", err)
	}
	waiting, err := c.behind(ctx, newest)
	if err != nil {
		return fmt.Errorf("looking for contacts to count: %w", err)
	}
	c.last, c.at, c.waiting = newest, now, waiting
	return nil
}

// behind returns the references with new chats, the first time all that have chats to
// count. Each has a row from now on, which who deletes a chat finds.
func (c *Counter) behind(ctx context.Context, newest int64) (references []int64, err error) {
	if c.at.IsZero() {
		err = c.DB.SelectContext(database.Chore(ctx), &references, `SELECT r.id FROM messaging_reference AS r
			LEFT JOIN messaging_contact_count AS k ON k.reference = r.id
			WHERE (SELECT c.id FROM messaging_chat AS c WHERE c.reference = r.id AND NOT c.is_group AND c.id > COALESCE(k.counted, 0) LIMIT 1) > 0 ORDER BY r.id`)
	} else {
		err = c.DB.SelectContext(ctx, &references, `SELECT DISTINCT reference FROM messaging_chat WHERE id > $1 AND id <= $2 AND NOT is_group ORDER BY reference`,
			c.last, newest)
	}
	for _, reference := range references {
		if err != nil {
			break
		}
		err = c.DB.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(context.WithoutCancel(ctx), `INSERT INTO messaging_contact_count (reference, counted, n)
				SELECT id, 0, 0 FROM messaging_reference WHERE id = $1 ON CONFLICT (reference) DO NOTHING`, reference)
			return err
		})
	}
	return references, err
}

// count counts the chats of a reference.
func (c *Counter) count(ctx context.Context, reference int64) error {
	ctx = database.Chore(ctx)
	return c.DB.InTx(ctx, func(tx *database.Tx) error {
		if c.DB.Dialect == database.Postgres { // and then reads what others have deleted
			if _, err := tx.ExecContext(ctx, `SELECT 1 FROM messaging_contact_count WHERE reference = $1 FOR UPDATE`, reference); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE messaging_contact_count SET counted = $1, n = n + (SELECT count(*) FROM messaging_chat AS c
			WHERE c.reference = $2 AND NOT c.is_group AND c.id > messaging_contact_count.counted AND c.id <= $1) WHERE reference = $2 AND counted < $1`, c.last, reference)
		return err
	})
}

// Of returns the number of contacts of an account.
func Of(ctx context.Context, q database.Reader, account string) (n int64, err error) {
	err = q.GetContext(ctx, &n, `SELECT CAST(COALESCE(SUM(COALESCE(k.n, 0) + (SELECT count(*) FROM messaging_chat AS c
		WHERE c.reference = r.id AND NOT c.is_group AND c.id > COALESCE(k.counted, 0))), 0) AS BIGINT)
		FROM messaging_reference AS r LEFT JOIN messaging_contact_count AS k ON k.reference = r.id WHERE r.account = $1`, account)
	return n, err
}
