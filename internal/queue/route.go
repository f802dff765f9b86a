package lane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/trunklinehq/trunkline/internal/database"
)

// routeLimit bounds the entries that one transaction routes. A backlog goes in
// larger steps, which write each lane fewer times: on SQLite it makes others
// wait, and on PostgreSQL only those who want the same lanes.
const routeLimit = 2000

// routable is how many entries to take when the batch before had so many.
func (n *node) routable(before int) int {
	switch {
	case before < routeLimit:
		return routeLimit
	case n.db.Dialect == database.Postgres:
		return 4 * routeLimit
	}
	return 2 * routeLimit
}

// errRouting says that another node routes at the moment.
var errRouting = errors.New("another node routes")

// routeAll moves what was put into lanes until ctx ends.
func (n *node) routeAll(ctx context.Context) {
	woken := n.db.Listen(ctx, n.topic())
	busy, routed := routePause, 0
	for {
		begun := time.Now()
		var err error
		routed, err = n.routeBatch(ctx, n.routable(routed))
		wait := pollEvery
		switch {
		case errors.Is(err, errRouting):
			// It may have looked before our entries were committed.
			busy = min(2*busy, pollEvery)
			wait = busy
		case err != nil && ctx.Err() == nil:
			n.log.WarnContext(ctx, "routing failed", "error", err)
			wait = failedWait
		case routed > 0:
			wait = 0
		}
		if err == nil {
			busy = routePause
		}
		poke(n.claim)
		if wait > 0 && !await(ctx, woken, wait) {
			return
		}
		if !await(ctx, nil, routePause-time.Since(begun)) {
			return
		}
	}
}

type boxed struct {
	ID int64
	Entry
}

// routeBatch moves the oldest entries, at most limit, and returns how many they were.
func (n *node) routeBatch(ctx context.Context, limit int) (routed int, err error) {
	const exists = `SELECT EXISTS (SELECT 1 FROM lane_outbox WHERE queue = $1)`
	var waiting bool
	if err := n.db.GetContext(ctx, &waiting, exists, n.o.Name); err != nil || !waiting {
		return 0, err
	}
	ctx = context.WithoutCancel(ctx)
	err = n.db.WriteLazy(ctx, func(tx *sqlx.Tx) error {
		if err := n.lockRouter(ctx, tx); err != nil {
			return err
		}
		es, known, err := n.take(ctx, tx, limit)
		if err != nil {
			return fmt.Errorf("taking entries: %w", err)
		}
		routed = len(es)
		if es, err = n.redirect(ctx, tx, es, known); err != nil {
			return fmt.Errorf("redirecting entries: %w", err)
		}
		if es, err = n.expand(ctx, tx, es); err != nil {
			return fmt.Errorf("finding consumers: %w", err)
		}
		return n.appendAll(ctx, tx, es)
	})
	return routed, err
}

// lockRouter makes this node the one that routes until the end of tx: two
// would race for the sequence numbers of a key. It guards tx as well.
func (n *node) lockRouter(ctx context.Context, tx *sqlx.Tx) error {
	if n.db.Dialect != database.Postgres {
		return nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(n.topic()))
	var ours bool
	row := tx.QueryRowContext(ctx, guardSQL+`, `+database.LazySQL+`, pg_try_advisory_xact_lock($1)`, int64(h.Sum64()))
	if err := row.Scan(new(string), new(string), new(string), &ours); err != nil {
		return err
	}
	if !ours {
		return errRouting
	}
	return nil
}

// take removes the oldest entries from the outbox. There is no cursor: a
// transaction that commits late has an older id than what is routed already.
// It returns the keys with which those of the entries have become one, too.
func (n *node) take(ctx context.Context, tx *sqlx.Tx, limit int) ([]Entry, redirects, error) {
	const take = `DELETE FROM lane_outbox WHERE id IN (SELECT id FROM lane_outbox WHERE queue = $1 ORDER BY id LIMIT $2)
		RETURNING id, consumer, key, subject, note, merged, traceparent,
			COALESCE((SELECT r.target FROM lane_redirect r WHERE r.queue = lane_outbox.queue AND r.key = lane_outbox.key), '')`
	rows, err := tx.QueryContext(ctx, take, n.o.Name, limit)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var bs []boxed
	known := redirects{}
	for rows.Next() {
		var b boxed
		var target string
		if err := rows.Scan(&b.ID, &b.Consumer, &b.Key, &b.Subject, &b.Note, &b.Merged, &b.Traceparent, &target); err != nil {
			return nil, nil, err
		}
		if target != "" {
			known[b.Key] = target
		}
		bs = append(bs, b)
	}
	slices.SortFunc(bs, func(a, b boxed) int { return cmp.Compare(a.ID, b.ID) })
	es := make([]Entry, len(bs))
	for i, b := range bs {
		es[i] = b.Entry
	}
	return es, known, rows.Err()
}

// expand asks Route for the consumers of the entries that name none, in runs,
// so that the order among all entries stays.
func (n *node) expand(ctx context.Context, tx *sqlx.Tx, es []Entry) ([]Entry, error) {
	if !slices.ContainsFunc(es, func(e Entry) bool { return e.Consumer == "" }) {
		return es, nil
	}
	if n.o.Route == nil {
		return nil, errors.New("entries without a consumer, and the queue has no Route")
	}
	var out []Entry
	for len(es) > 0 {
		open := es[0].Consumer == ""
		end := slices.IndexFunc(es, func(e Entry) bool { return (e.Consumer == "") != open })
		if end < 0 {
			end = len(es)
		}
		part := es[:end]
		if open {
			var err error
			if part, err = n.o.Route(ctx, tx, part); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(part, func(e Entry) bool { return e.Consumer == "" }) {
				return nil, errors.New("the queue's Route returned an entry without a consumer")
			}
		}
		out, es = append(out, part...), es[end:]
	}
	return out, nil
}

// laneKey names a lane within a queue.
type laneKey struct{ consumer, key string }

func (a laneKey) compare(b laneKey) int {
	return cmp.Or(cmp.Compare(a.consumer, b.consumer), cmp.Compare(a.key, b.key))
}

// appendLimit bounds the rows of one statement.
const appendLimit = 2000

// The items of lanes, to be inserted.
const insertItems = `INSERT INTO lane_item (lane_id, seq, seq_offset, subject, traceparent)`

var itemTypes = []string{"BIGINT", "BIGINT", "BIGINT", "TEXT", "TEXT"}

// append puts entries at the ends of their lanes.
func (n *node) append(ctx context.Context, tx *sqlx.Tx, es []Entry) error {
	groups := map[laneKey][]Entry{}
	var keys []laneKey
	for _, e := range es {
		k := laneKey{e.Consumer, e.Key}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], e)
	}
	slices.SortFunc(keys, laneKey.compare) // the order in which everybody locks lanes
	var items []any
	for part := range slices.Chunk(keys, appendLimit) {
		more, err := n.extend(ctx, tx, part, groups)
		if err != nil {
			return fmt.Errorf("extending lanes: %w", err)
		}
		items = append(items, more...)
	}
	if err := n.db.Insert(ctx, tx, insertItems, itemTypes, items); err != nil {
		return fmt.Errorf("adding items: %w", err)
	}
	return nil
}

// extend makes room in lanes, new ones among them, and returns the columns of
// the items that go there.
func (n *node) extend(ctx context.Context, tx *sqlx.Tx, keys []laneKey, groups map[laneKey][]Entry) ([]any, error) {
	const upsert = `INSERT INTO lane_lane AS l (queue, consumer, key, tail, ready_us)
		SELECT $1, column1, column2, column3, {now} FROM (%s) AS v WHERE true
		ON CONFLICT (queue, consumer, key, detached) DO UPDATE SET tail = l.tail + excluded.tail,
			since_us = CASE WHEN l.ready_us IS NULL THEN 0 ELSE l.since_us END,
			ready_us = COALESCE(l.ready_us, CASE WHEN l.blockers > 0 THEN {blocked} ELSE excluded.ready_us END)
		RETURNING id, consumer, key, tail, seq_offset`
	values := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		values = append(values, k.consumer, k.key, len(groups[k]))
	}
	list, args := n.db.Dialect.List(2, []string{"TEXT", "TEXT", "BIGINT"}, values)
	rows, err := tx.QueryContext(ctx, fmt.Sprintf(n.sql.text(upsert), list), append([]any{n.o.Name}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err reports it
	var items []any
	for rows.Next() {
		var id, tail, offset int64
		var k laneKey
		if err := rows.Scan(&id, &k.consumer, &k.key, &tail, &offset); err != nil {
			return nil, err
		}
		es := groups[k]
		for i, e := range es {
			items = append(items, id, tail-int64(len(es)-1-i), offset, e.Subject, e.Traceparent)
		}
	}
	return items, rows.Err()
}
