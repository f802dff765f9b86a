package lane

import (
	"fmt"

	"github.com/trunklinehq/trunkline/internal/database"
)

// The statements that every batch runs. On PostgreSQL their texts do not depend
// on what they are about, and are prepared.

// itemsText reads the items of lanes: rows of lane, head and how many at most.
func (q *Queue) itemsText(heads [][]int64) (string, []any) {
	const (
		items = `WITH c (id, head, most) AS (%s) SELECT c.id, i.seq, i.subject FROM c `
		join  = `JOIN lane_item i ON i.lane_id = c.id AND i.seq > c.head AND i.seq <= c.head + c.most ORDER BY c.id, i.seq`
		// PostgreSQL would sooner read the whole table than visit 64 lanes.
		lateral = `CROSS JOIN LATERAL (SELECT seq, subject FROM lane_item
			WHERE lane_id = c.id AND seq > c.head AND seq <= c.head + c.most OFFSET 0) i ORDER BY c.id, i.seq`
	)
	text := items + join
	if q.db.Dialect == database.Postgres {
		text = items + lateral
	}
	list, args := q.sql.list(1, heads)
	return fmt.Sprintf(text, list), args
}

// advanceText finishes lanes that a node, $1, holds: rows of lane, epoch, new
// head, attempts, first failure and wait.
func (q *Queue) advanceText(us [][]int64) (string, []any) {
	const (
		done = `WITH k (lane, fence, up_to, tries, first, wait) AS (%s)`
		// PostgreSQL locks the lanes in the order in which all do.
		locked = `WITH u (lane, fence, up_to, tries, first, wait) AS (%s),
			k AS MATERIALIZED (SELECT u.* FROM u JOIN lane_lane l ON l.id = u.lane AND l.epoch = u.fence AND l.holder = $1
				ORDER BY l.consumer, l.key, l.detached FOR UPDATE)`
		advance = ` UPDATE lane_lane SET head = k.up_to, attempt = k.tries, holder = '',
				since_us = CASE WHEN k.first < 0 OR tail = k.up_to THEN {now} ELSE k.first END,
				ready_us = CASE WHEN tail > k.up_to THEN {now} + k.wait END
			FROM k WHERE id = k.lane AND epoch = k.fence AND holder = $1
			RETURNING id, ready_us IS NOT NULL AS more`
	)
	text := done
	if q.db.Dialect == database.Postgres {
		text = locked
	}
	list, args := q.sql.list(2, us)
	return fmt.Sprintf(q.sql.text(text+advance), list), args
}

// removeText deletes items: rows of lane and sequence number.
func (q *Queue) removeText(passed [][]int64) (string, []any) {
	list, args := q.sql.list(1, passed)
	return `DELETE FROM lane_item WHERE (lane_id, seq) IN (` + list + `)`, args
}
