package messaging

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trunklinehq/trunkline/internal/page"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/provider"
)

// StreamEntry is something that happened in an account.
type StreamEntry struct {
	ID        string // position in the stream, opaque
	Reference provider.ReferenceID
	Kind      string          // message, status, session, chat, or one that [Service.PublishTx] was given
	Data      json.RawMessage // a [Message], [Session], [Chat] …
}

// ErrResync reports a position that is older than what is kept: what was
// shown must be fetched again.
var ErrResync = fmt.Errorf("messaging: the position is older than %s: fetch anew", store.StreamTTL)

// Change is an entry that another service adds to an account's stream.
type Change struct {
	Account   string
	Reference provider.ReferenceID
	Kind      string // "delivery", "run"
	Data      any    // of what encoding/json can encode
}

// PublishTx adds entries to the streams of their accounts when tx commits.
func (s *Service) PublishTx(ctx context.Context, on Tx, changes ...Change) error {
	b, err := s.BatchTx(on)
	if err != nil {
		return err
	}
	b.Publish(changes...)
	return b.Flush(ctx)
}

// ChangeStream is the account's stream from a position on.
type ChangeStream struct {
	db      *database.DB
	account string
	ref     provider.ReferenceID // 0: all
	only    []int64              // nil: all
	at      page.Cursor          // of the last entry that was read: txid, id, when
	now     func() time.Time
	wakeup  <-chan struct{}
}

// streamPollInterval is the longest pause between two looks at the stream, should a
// wake-up be lost.
const streamPollInterval = time.Second

// Changes returns the stream after a position; "" is now. ref 0 follows all
// references. It returns [ErrResync] when the position is too old, or that of a database from
// which this one was restored.
func (a *Account) Changes(ctx context.Context, ref provider.ReferenceID, after string) (*ChangeStream, error) {
	f := &ChangeStream{db: a.s.db, account: a.id, ref: ref, now: a.s.now, wakeup: a.s.db.Listen(ctx, store.StreamTopic)}
	if ref != 0 {
		if _, err := store.ReferenceOf(ctx, a.s.db, a.id, ref); err != nil {
			return nil, err
		}
	}
	var err error
	if f.at, err = page.ParseCursor("after", after, 3); err != nil {
		return nil, err
	}
	if f.at == nil {
		f.at, err = f.newest(ctx)
		return f, err
	}
	if f.at[2] < database.Micros(a.s.now().Add(-store.StreamTTL)) {
		return nil, ErrResync
	}
	unknown, err := f.unknown(ctx, f.at[0])
	switch {
	case err != nil:
		return nil, err
	case unknown:
		return nil, ErrResync
	}
	return f, nil
}

// unknown reports whether no transaction of this database can have had a number.
// A database that was restored from a backup continues with other numbers.
func (f *ChangeStream) unknown(ctx context.Context, txid int64) (bool, error) {
	if f.db.Dialect != database.Postgres {
		return txid != 0, nil
	}
	var next int64
	if err := f.db.GetContext(ctx, &next, `SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`); err != nil {
		return false, fmt.Errorf("reading the stream: %w", err)
	}
	return txid >= next, nil
}

// newest is the position of now.
func (f *ChangeStream) newest(ctx context.Context) (page.Cursor, error) {
	p := store.Params{f.account}
	q := `SELECT txid, id FROM messaging_change WHERE account = $1` + f.committedOnly(&p, "")
	var last []store.StreamRow
	if err := f.db.SelectContext(ctx, &last, q+` ORDER BY txid DESC, id DESC LIMIT 1`, p...); err != nil {
		return nil, fmt.Errorf("reading the stream: %w", err)
	}
	at := page.Cursor{0, 0, database.Micros(f.now())}
	if len(last) > 0 {
		at[0], at[1] = last[0].TxID, last[0].ID
	}
	return at, nil
}

// Only leaves the entries of other references out from now on; nil: of none.
func (f *ChangeStream) Only(references []int64) { f.only = references }

// Position is where the stream stands: what to give to [Account.Changes] later.
func (f *ChangeStream) Position() string { return f.at.String() }

// Next waits for the next entries, at most for wait; none is no error.
func (f *ChangeStream) Next(ctx context.Context, wait time.Duration) ([]StreamEntry, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	poll := time.NewTicker(streamPollInterval)
	defer poll.Stop()
	for {
		es, err := f.read(ctx)
		if err != nil || len(es) > 0 {
			return es, err
		}
		select {
		case <-f.wakeup:
		case <-poll.C:
		case <-deadline.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *ChangeStream) read(ctx context.Context) ([]StreamEntry, error) {
	p := store.Params{f.account, f.at[0], f.at[1]}
	q := `SELECT id, txid, reference, kind, data, created_us FROM messaging_change
		WHERE account = $1` + f.afterEntry() + f.committedOnly(&p, f.afterEntry())
	if f.ref != 0 {
		q += ` AND reference = ` + p.Add(f.ref)
	}
	if f.only != nil {
		in, args := f.db.Dialect.InNumbers("reference", len(p)+1, f.only)
		q, p = q+` AND `+in, append(p, args...)
	}
	var rows []store.StreamRow
	if err := f.db.SelectContext(ctx, &rows, q+` ORDER BY txid, id LIMIT 200`, p...); err != nil {
		return nil, fmt.Errorf("reading the stream: %w", err)
	}
	var out []StreamEntry
	for _, r := range rows {
		f.at = page.Cursor{r.TxID, r.ID, r.CreatedUS}
		out = append(out, StreamEntry{ID: f.at.String(), Reference: r.Reference, Kind: r.Kind, Data: json.RawMessage(r.Data)})
	}
	return out, nil
}

// afterEntry selects what comes after an entry, with its txid and id as $2 and
// $3. SQLite numbers no transactions, and would use the index for the first
// of the two only.
func (f *ChangeStream) afterEntry() string {
	if f.db.Dialect == database.Postgres {
		return ` AND (txid, id) > (CAST($2 AS BIGINT), CAST($3 AS BIGINT))`
	}
	return ` AND txid = $2 AND id > $3`
}

// committedOnly keeps entries back, on PostgreSQL, until every transaction before
// theirs has ended. No entry can then appear before one that was read. Transactions of
// other databases do not write entries. after selects those that may be read.
func (f *ChangeStream) committedOnly(p *store.Params, after string) string {
	if f.db.Dialect != database.Postgres {
		return ""
	}
	since := p.Add(database.Micros(f.now().Add(-deferredFor)))
	return ` AND txid < (SELECT CASE WHEN EXISTS (SELECT 1 FROM messaging_change WHERE account = $1` + after + `
			AND txid >= ` + oldestTx + ` AND created_us < ` + since + `) THEN ` + oldestTxHere + ` ELSE ` + oldestTx + ` END)`
}

// deferredFor is how long an entry waits for the transactions of all databases, until
// those of this one are looked for.
const deferredFor = time.Second

const (
	// oldestTx is the oldest transaction that has not ended, of all databases of the
	// server, as transactions of all have numbers of one series.
	oldestTx = `CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)`
	// oldestTxHere leaves out those of other databases: a transaction locks its own number,
	// in a session of one database, unless it is prepared.
	oldestTxHere = `(SELECT CAST(CAST(COALESCE(min(x), pg_snapshot_xmax(pg_current_snapshot())) AS TEXT) AS BIGINT)
			FROM pg_snapshot_xip(pg_current_snapshot()) AS x WHERE CAST(x AS xid) NOT IN (
				SELECT l.transactionid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
				WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' AND a.datname <> current_database()
				UNION ALL SELECT transaction FROM pg_prepared_xacts WHERE database <> current_database()))`
)
