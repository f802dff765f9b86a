package messaging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/connection"
	"github.com/trunklinehq/trunkline/messaging/internal/ingest"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

const (
	earlyStatusTTL = 7 * 24 * time.Hour // of statuses whose message never came
	idempotencyTTL = 24 * time.Hour
	uploadTTL      = time.Hour // of uploads that a killed process has not finished
	pruneChunk     = 500
)

// maintain writes signs of life, applies overtaken statuses, lets go what waits
// for files, removes files and continues with merges of chats every second,
// ends doubts every five, and deletes what is past its time every minute.
func (s *Service) maintain(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		err := errors.Join(s.writeHealth(ctx), ingest.ApplyOvertakenStatuses(ctx, s.store), s.store.ReleaseExpiredDeferred(ctx), s.attachments.RemoveGone(ctx), s.store.MergeChats(ctx))
		if n%5 == 0 {
			err = errors.Join(err, s.failUnconfirmed(ctx))
		}
		if n%60 == 0 {
			err = errors.Join(err, s.deleteExpired(ctx))
		}
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.WarnContext(ctx, "maintaining messages", slog.Any("error", err))
		}
	}
}

func (s *Service) writeHealth(ctx context.Context) error {
	inbounds, acks, touched := s.liveness.Take()
	for id := range touched {
		s.markConnected(ctx, id)
	}
	if len(inbounds)+len(acks) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *sqlx.Tx) error {
		for column, signs := range map[string]map[provider.ReferenceID]time.Time{"inbound_us": inbounds, "ack_us": acks} {
			for id, at := range signs {
				if _, err := tx.Exec(`UPDATE messaging_reference SET `+column+` = $1 WHERE id = $2`, database.Micros(at), id); err != nil {
					return fmt.Errorf("noting signs of life: %w", err)
				}
			}
		}
		return nil
	})
}

// failUnconfirmed fails the messages that nothing has confirmed in time.
func (s *Service) failUnconfirmed(ctx context.Context) error {
	var seqs []int64
	err := s.db.SelectContext(ctx, &seqs, `SELECT message FROM messaging_outbound WHERE give_up_us > 0 AND give_up_us <= $1
		ORDER BY give_up_us LIMIT 200`, database.Micros(s.now()))
	if err != nil || len(seqs) == 0 {
		return err
	}
	return s.store.InBatch(ctx, func(u *store.Batch) error {
		if err := u.LoadLocked(ctx, seqs); err != nil {
			return err
		}
		for _, seq := range seqs {
			m := u.Messages[seq]
			if m == nil || m.GiveUpUS == 0 {
				continue // settled meanwhile
			}
			l, err := s.store.ReferenceInfo(ctx, u.Tx, m.Reference)
			if err != nil {
				return err
			}
			ingest.RaiseStatus(u, l, m, provider.StatusFail, Failure{Code: "unconfirmed", Message: "The network did not confirm the message within ten minutes."})
		}
		return nil
	})
}

// deleteExpired deletes, in small steps, what is past its time.
func (s *Service) deleteExpired(ctx context.Context) error {
	now := s.now()
	// Ids rise with time; what has none has an index of its own.
	rules := []struct {
		table, key, order string
		ttl               time.Duration
	}{
		{"messaging_early_status", "reference, message_id, status", "created_us", earlyStatusTTL},
		{"messaging_idempotency", "account, idempotency_key", "created_us", idempotencyTTL},
		{"messaging_number", "reference, number", "created_us", numberTTL},
		{"messaging_remote_call", "id", "created_us", connection.RemoteCallTTL},
		{"messaging_change", "id", "id", streamRetention},
		{"messaging_raw", "id", "id", s.opts.Retention},
		{"messaging_dead_letter", "id", "id", s.opts.Retention},
	}
	for _, r := range rules {
		if r.ttl == 0 {
			continue
		}
		if err := s.deleteExpiredRows(ctx, now.Add(-r.ttl), `DELETE FROM `+r.table+` WHERE (`+r.key+`) IN (SELECT `+r.key+` FROM
			(SELECT `+r.key+`, created_us FROM `+r.table+` ORDER BY `+r.order+` LIMIT $1) AS old WHERE created_us < $2)`); err != nil {
			return err
		}
	}
	if err := s.deleteExpiredRows(ctx, now.Add(-uploadTTL), `UPDATE messaging_media SET gone = TRUE WHERE id IN (SELECT id FROM messaging_media
		WHERE message = 0 AND waiting AND NOT gone LIMIT $1) AND used_us < $2`); err != nil {
		return err
	}
	if s.opts.Retention == 0 {
		return nil
	}
	const oldest = `(SELECT seq FROM (SELECT seq, created_us FROM messaging_message ORDER BY seq LIMIT $1) AS old WHERE created_us < $2)`
	if err := s.deleteExpiredRows(ctx, now.Add(-s.opts.Retention), `UPDATE messaging_media SET gone = TRUE WHERE id IN (SELECT id FROM
		(SELECT id, used_us FROM messaging_media WHERE message = 0 AND NOT gone ORDER BY used_us LIMIT $1) AS old WHERE used_us < $2)`); err != nil {
		return err
	}
	return s.deleteExpiredRows(ctx, now.Add(-s.opts.Retention),
		`UPDATE messaging_media SET gone = TRUE WHERE message IN `+oldest,
		`DELETE FROM messaging_outbound WHERE message IN `+oldest, `DELETE FROM messaging_message WHERE seq IN `+oldest)
}

// deleteExpiredRows runs queries, the last of which counts, until nothing is left.
func (s *Service) deleteExpiredRows(ctx context.Context, until time.Time, queries ...string) error {
	for {
		var n int64
		err := s.db.Write(ctx, func(tx *sqlx.Tx) error {
			for _, q := range queries {
				res, err := tx.Exec(q, pruneChunk, database.Micros(until))
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
