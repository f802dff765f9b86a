package webhook_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/webhook"
)

// BenchmarkStoring has 16 producers store a message each in a transaction, with
// the statements that messaging has for one: it finds the chat, and writes the
// message, the chat's activity and the feed. Beside them it publishes an event or
// none, in turns.
func BenchmarkStoring(b *testing.B) {
	durably(b, func(b *testing.B, db *sqlx.DB) {
		f := setup(b, db, webhook.Options{})
		f.listen(b, 1, "http://127.0.0.1:9")
		db.MustExec(`CREATE TABLE bench_message (id TEXT PRIMARY KEY, chat TEXT NOT NULL, at_us BIGINT NOT NULL, body TEXT NOT NULL)`)
		db.MustExec(`CREATE INDEX bench_message_chat ON bench_message (chat, at_us)`)
		db.MustExec(`CREATE TABLE bench_chat (id TEXT PRIMARY KEY, last_us BIGINT NOT NULL)`)
		db.MustExec(`CREATE TABLE bench_feed (seq BIGINT PRIMARY KEY, chat TEXT NOT NULL, message TEXT NOT NULL, at_us BIGINT NOT NULL)`)
		for _, text := range []string{findChat, storeChanges, storeChat, storeRecord} {
			require.NoError(b, f.db.Prepare(b.Context(), text))
		}
		const producers, each, turns = 16, 50, 4
		var id atomic.Int64
		var alone, with consumed
		store := func(event bool) consumed {
			began := time.Now()
			var wg sync.WaitGroup
			for p := range producers {
				wg.Go(func() {
					for range each {
						if err := f.store(b, fmt.Sprint("chat", p), id.Add(1), event); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			return consumed{events: producers * each, wall: time.Since(began)}
		}
		for b.Loop() {
			for range turns {
				alone.add(store(false))
				with.add(store(true))
			}
		}
		b.ReportMetric(with.rate()/alone.rate(), "ratio")
		b.ReportMetric(with.rate(), "messages/s")
		b.ReportMetric(alone.rate(), "alone/s")
		var n int
		require.NoError(b, db.Get(&n, `SELECT count(*) FROM webhook_event`))
		require.Equal(b, with.events, n)
	})
}

// The statements of a message, prepared as those of an event are.
const (
	findChat     = `SELECT last_us FROM bench_chat WHERE id = $1`
	storeChanges = `INSERT INTO bench_feed (seq, chat, message, at_us) VALUES ($1, $2, $3, $4)`
	storeChat    = `INSERT INTO bench_chat (id, last_us) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET last_us = excluded.last_us`
	storeRecord  = `INSERT INTO bench_message (id, chat, at_us, body) VALUES ($1, $2, $3, $4)`
)

func (f *fixture) store(b *testing.B, chat string, id int64, event bool) error {
	ctx := b.Context()
	return f.db.Write(ctx, func(tx *database.Tx) error {
		at, wamid := time.Now().UnixMicro(), fmt.Sprint("wamid.", id)
		var last []int64
		if err := tx.SelectContext(ctx, &last, findChat, chat); err != nil {
			return err
		}
		for _, s := range []struct {
			text string
			args []any
		}{
			{storeChanges, []any{id, chat, wamid, at}},
			{storeChat, []any{chat, at}},
			{storeRecord, []any{wamid, chat, at, string(payload)}},
		} {
			if _, err := tx.ExecContext(ctx, s.text, s.args...); err != nil {
				return err
			}
		}
		if !event {
			return nil
		}
		ev := benchEvent(int(id))
		ev.Scope, ev.Key, ev.ChatID = "s0", chat, chat
		return f.PublishTx(ctx, tx, ev)
	})
}
