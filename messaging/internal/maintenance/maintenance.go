// Package maintenance does what a messaging service does by the clock: it writes
// signs of life, fails messages that were not confirmed, and deletes what is past
// its retention.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trunklinehq/trunkline/internal/clockstep"
	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/periodic"
	"github.com/trunklinehq/trunkline/messaging/internal/attachment"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/contact"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/session"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	earlyStatusTTL = 7 * 24 * time.Hour // of statuses whose message never came
	idempotencyTTL = 24 * time.Hour
	uploadTTL      = time.Hour // of uploads that a killed process has not finished
	pruneChunk     = 500
)

// Tasks are what a service does by the clock. Its fields are set before first
// use.
type Tasks struct {
	Store    *store.Store
	Files    *attachment.Files
	Liveness *session.Liveness
	Logger   *slog.Logger
	// Retention is how long messages are kept; 0: for ever.
	Retention time.Duration
	// MarkConnected notes that a starting reference is in touch with its network.
	MarkConnected func(ctx context.Context, id provider.ReferenceID)
}

// Run does the tasks until ctx ends. Every second it writes signs of life. As soon
// as there are some, it applies overtaken statuses, releases events whose file takes
// too long, fails unconfirmed messages, removes files, and continues with merges of
// chats. Every minute, or ten if nothing is written, it deletes expired rows.
func (t *Tasks) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	clockstep.Watch(ctx, t.Store.DB, t.Logger)
	g.Go(func() error {
		return periodic.RunActive(ctx, t.Store.DB, time.Minute, nil, t.Logger, "deleting expired rows of messages", t.DeleteExpired)
	})
	g.Go(func() error { return t.follow(ctx) })
	g.Go(func() error { return t.indexBacklog(ctx) })
	return g.Wait()
}

// healthInterval is how often signs of life are written, of all references with one
// statement.
const healthInterval = time.Second

// follow writes signs of life and does what is due until ctx ends.
func (t *Tasks) follow(ctx context.Context) error {
	tick := time.NewTicker(healthInterval)
	defer tick.Stop()
	due := t.Store.DB.Due(ctx, "", t.due)
	for {
		var err error
		select {
		case <-tick.C:
			err = t.WriteHealth(ctx)
		case <-due:
			err = errors.Join(ingest.ApplyOvertakenStatuses(ctx, t.Store), t.Store.ReleaseExpiredDeferred(ctx),
				t.Files.RemoveGone(ctx), t.Store.MergeChats(ctx), t.FailUnconfirmed(ctx))
		case <-ctx.Done():
			return nil
		}
		if err != nil && ctx.Err() == nil {
			t.Logger.WarnContext(ctx, "maintaining messages", slog.Any("error", err))
		}
	}
}

// backlogRetry is how long the indexing of old messages waits after an error.
const backlogRetry = time.Minute

// indexBacklog indexes the messages that were stored before there was an index, in small
// transactions.
func (t *Tasks) indexBacklog(ctx context.Context) error {
	for ctx.Err() == nil {
		done, err := t.Store.IndexBacklog(database.Chore(ctx))
		if done {
			return nil
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		t.Logger.WarnContext(ctx, "indexing old messages", slog.Any("error", err))
		select {
		case <-time.After(backlogRetry):
		case <-ctx.Done():
		}
	}
	return nil
}

// due finds what the tasks would work on.
func (t *Tasks) due(first int, ahead time.Duration) (text string, args []any) {
	now := t.Store.Now()
	text = fmt.Sprintf(`SELECT 1 FROM messaging_early_status e JOIN messaging_message m ON m.reference = e.reference AND m.id = e.message_id
			WHERE e.created_us > $%d
		UNION ALL SELECT 1 FROM messaging_deferred WHERE until_us > 0 AND until_us <= $%[2]d
		UNION ALL SELECT 1 FROM messaging_outbound WHERE give_up_us > 0 AND give_up_us <= $%[2]d
		UNION ALL SELECT 1 FROM messaging_merge`, first, first+1)
	if t.Files.Library != nil {
		text += ` UNION ALL SELECT 1 FROM messaging_media WHERE gone`
	}
	return text, []any{database.Micros(now.Add(-ingest.EarlyStatusRace)), database.Micros(now.Add(ahead))}
}

// WriteHealth stores the signs of life since the last call.
func (t *Tasks) WriteHealth(ctx context.Context) error {
	inbounds, acks, touched := t.Liveness.Take()
	for id := range touched {
		t.MarkConnected(ctx, id)
	}
	if len(inbounds)+len(acks) == 0 {
		return nil
	}
	ids := map[provider.ReferenceID]bool{}
	for _, signs := range []map[provider.ReferenceID]time.Time{inbounds, acks} {
		for id := range signs {
			ids[id] = true
		}
	}
	rows := healthRows(t.Store.DB.Dialect)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		rows.Values = append(rows.Values, int64(id), seenUS(inbounds, id), seenUS(acks, id))
	}
	err := t.Store.DB.WriteLazy(ctx, func(tx *database.Tx) error { return t.Store.DB.ExecRows(ctx, tx, rows) })
	if err != nil {
		return fmt.Errorf("noting signs of life: %w", err)
	}
	return nil
}

// healthRows writes when references were seen. All nodes lock them in one order.
func healthRows(dialect database.Dialect) database.Rows {
	lock, lazy := "", ""
	if dialect == database.Postgres {
		lock, lazy = ` FOR NO KEY UPDATE`, `(SELECT `+database.LazySQL+`) = 'off' AND `
	}
	return database.Rows{
		Before: `WITH v (id, inbound, ack) AS (`,
		After: `), k AS MATERIALIZED (SELECT id FROM messaging_reference WHERE ` + lazy + `id IN (SELECT id FROM v) ORDER BY id` + lock + `)
			UPDATE messaging_reference SET inbound_us = CASE WHEN v.inbound > 0 THEN v.inbound ELSE inbound_us END,
				ack_us = CASE WHEN v.ack > 0 THEN v.ack ELSE ack_us END
			FROM v WHERE messaging_reference.id = v.id AND v.id IN (SELECT id FROM k)`,
		Types: []string{"BIGINT", "BIGINT", "BIGINT"},
		Set:   true,
	}
}

// seenUS returns when a reference was seen, or 0.
func seenUS(at map[provider.ReferenceID]time.Time, id provider.ReferenceID) int64 {
	if when, ok := at[id]; ok {
		return database.Micros(when)
	}
	return 0
}

// FailUnconfirmed fails the messages that the network has not confirmed in time.
func (t *Tasks) FailUnconfirmed(ctx context.Context) error {
	var seqs []int64
	err := t.Store.DB.SelectContext(ctx, &seqs, `SELECT message FROM messaging_outbound WHERE give_up_us > 0 AND give_up_us <= $1
		ORDER BY give_up_us LIMIT 200`, database.Micros(t.Store.Now()))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return t.Store.InBatch(ctx, func(u *store.Batch) error {
		if err := u.LoadLocked(ctx, seqs); err != nil {
			return err
		}
		for _, seq := range seqs {
			m := u.Messages[seq]
			if m == nil || m.GiveUpUS == 0 {
				continue // settled meanwhile
			}
			ingest.RaiseStatus(u, u.References[m.Reference], m, provider.StatusFail, payload.Failure{Code: "unconfirmed", Message: "The network did not confirm the message within ten minutes."})
		}
		return nil
	})
}

// DeleteExpired deletes, in small steps, the rows that are past their retention.
func (t *Tasks) DeleteExpired(ctx context.Context) error {
	now := t.Store.Now()
	// Ids rise with time; what has none has an index of its own.
	rules := []struct {
		table, key, order string
		ttl               time.Duration
	}{
		{"messaging_early_status", "reference, message_id, status", "created_us", earlyStatusTTL},
		{"messaging_idempotency", "account, idempotency_key", "created_us", idempotencyTTL},
		{"messaging_number", "reference, number", "created_us", contact.NumberTTL},
		{"messaging_remote_call", "id", "created_us", connection.RemoteCallTTL},
		{"messaging_change", "id", "id", store.StreamRetention},
		{"messaging_raw", "id", "id", t.Retention},
		{"messaging_dead_letter", "id", "id", t.Retention},
	}
	for _, r := range rules {
		if r.ttl == 0 {
			continue
		}
		if err := t.deleteExpiredRows(ctx, now.Add(-r.ttl), `DELETE FROM `+r.table+` WHERE (`+r.key+`) IN (SELECT `+r.key+` FROM
			(SELECT `+r.key+`, created_us FROM `+r.table+` ORDER BY `+r.order+` LIMIT $1) AS old WHERE created_us < $2)`); err != nil {
			return err
		}
	}
	if err := t.deleteExpiredRows(ctx, now.Add(-uploadTTL), `UPDATE messaging_media SET gone = TRUE WHERE id IN (SELECT id FROM messaging_media
		WHERE message = 0 AND waiting AND NOT gone LIMIT $1) AND used_us < $2`); err != nil {
		return err
	}
	if t.Retention == 0 {
		return nil
	}
	const oldest = `(SELECT seq FROM (SELECT seq, created_us FROM messaging_message ORDER BY seq LIMIT $1) AS old WHERE created_us < $2)`
	if err := t.deleteExpiredRows(ctx, now.Add(-t.Retention), `UPDATE messaging_media SET gone = TRUE WHERE id IN (SELECT id FROM
		(SELECT id, used_us FROM messaging_media WHERE message = 0 AND NOT gone ORDER BY used_us LIMIT $1) AS old WHERE used_us < $2)`); err != nil {
		return err
	}
	return t.deleteExpiredRows(ctx, now.Add(-t.Retention),
		`UPDATE messaging_media SET gone = TRUE WHERE message IN `+oldest,
		`DELETE FROM messaging_outbound WHERE message IN `+oldest, `DELETE FROM messaging_message WHERE seq IN `+oldest)
}

// deleteExpiredRows runs queries until the last of them finds nothing to delete.
func (t *Tasks) deleteExpiredRows(ctx context.Context, until time.Time, queries ...string) error {
	for {
		var n int64
		err := t.Store.DB.Write(ctx, func(tx *database.Tx) error {
			for _, q := range queries {
				res, err := tx.ExecContext(ctx, q, pruneChunk, database.Micros(until))
				if err != nil {
					return err
				}
				if n, err = res.RowsAffected(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("deleting what is past its time: %w", err)
		}
		if n < pruneChunk || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
