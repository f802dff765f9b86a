package queue

import (
	"fmt"
	"strings"
	"time"

	"github.com/trunklinehq/trunkline/internal/database"
)

// The statements that every batch runs. On PostgreSQL their texts do not depend
// on what they are about, and are prepared.

// scanText is what [claimer.scan] runs.
func (q *Queue) scanText() string {
	const scan = `
		SELECT c.subscriber AS subscriber,
			COALESCE((SELECT l.ready_us FROM queue_partition l WHERE l.queue = $1 AND l.subscriber = c.subscriber AND l.ready_us IS NOT NULL
				ORDER BY l.ready_us LIMIT 1), 0) AS due,
			COALESCE((SELECT l.ready_us FROM queue_partition l WHERE l.queue = $1 AND l.subscriber = c.subscriber AND l.ready_us > {now}
				ORDER BY l.ready_us LIMIT 1), 0) AS next,
			COALESCE((SELECT p.paused_us FROM queue_subscriber p WHERE p.queue = $1 AND p.subscriber = c.subscriber), 0) AS paused,
			{now} AS now,
			(SELECT r.id FROM queue_review r WHERE r.queue = $1 ORDER BY r.id LIMIT 1) IS NOT NULL AS review
		FROM c WHERE c.subscriber IS NOT NULL LIMIT $3`
	return q.sql.text(readySubscribers("$1", "l.subscriber > $2 AND ") + scan)
}

// readySubscribers begins a statement: c has the subscribers of a queue that have
// partitions with work, in order, and at last NULL. It takes a step in the index for each
// one, however many partitions they have. after is a condition for the first.
func readySubscribers(queue, after string) string {
	one := func(where string) string {
		return `(SELECT l.subscriber FROM queue_partition l WHERE l.queue = ` + queue + ` AND ` + where + `l.ready_us IS NOT NULL
				ORDER BY l.subscriber LIMIT 1)`
	}
	return `WITH RECURSIVE c (subscriber) AS (
			SELECT ` + one(after) + `
			UNION ALL
			SELECT ` + one("l.subscriber > c.subscriber AND ") + `
			FROM c WHERE c.subscriber IS NOT NULL)`
}

// dueQuery finds something if [claimer.scan] would find a subscriber with partitions
// that are ready, or something to review.
func (q *Queue) dueQuery(first int, ahead time.Duration) (text string, args []any) {
	const due = `SELECT 1 FROM (%[3]s
		SELECT 1 FROM c WHERE c.subscriber IS NOT NULL AND
			(SELECT l.ready_us FROM queue_partition l WHERE l.queue = $%[1]d AND l.subscriber = c.subscriber AND l.ready_us IS NOT NULL
				ORDER BY l.ready_us LIMIT 1) <= %[2]s LIMIT 1) AS ready
		UNION ALL SELECT 1 FROM (SELECT r.id FROM queue_review r WHERE r.queue = $%[1]d ORDER BY r.id LIMIT 1) AS review`
	until, subscribers := fmt.Sprintf("CAST($%d AS BIGINT)", first+1), readySubscribers(fmt.Sprintf("$%d", first), "")
	if q.o.Now == nil {
		return fmt.Sprintf(due, first, q.sql.text("{now}")+" + "+until, subscribers), []any{q.o.Name, ahead.Microseconds()}
	}
	return fmt.Sprintf(due, first, until, subscribers), []any{q.o.Name, q.sql.nowUS() + ahead.Microseconds()}
}

// claimText takes the oldest ready partitions of each chosen subscriber that is not
// paused meanwhile. A lease that has ended is not taken: see [claimer.freeOrphans]. The
// text is for 1, 2, 4 … subscribers, so that there are few: the rest name no node,
// which has no partitions. On PostgreSQL it reads the jobs, too.
func (c *claimer) claimText(chosen []candidate) (string, []any) {
	const (
		part = `SELECT id FROM (SELECT id FROM queue_partition WHERE queue = $1 AND subscriber = $%d AND ready_us <= {now} AND blockers = 0 AND holder = ''
			AND NOT EXISTS (SELECT 1 FROM queue_subscriber p WHERE p.queue = $1 AND p.subscriber = $%[1]d)
			ORDER BY ready_us LIMIT $%d {skip}) c%d`
		claim = `UPDATE queue_partition SET ready_us = {now} + $%d, epoch = epoch + 1, holder = $%d
			WHERE id IN (SELECT id FROM c) {lazy} RETURNING ` + leasedColumns
		// PostgreSQL would sooner read the whole table of jobs than visit 64 partitions.
		load = `WITH c AS MATERIALIZED (%s), l AS (%s) SELECT l.*, i.seq, i.seq_offset, i.subject, i.traceparent FROM l
			LEFT JOIN LATERAL (SELECT seq, seq_offset, subject, traceparent FROM queue_job
				WHERE partition_id = l.id AND seq > l.head AND seq <= LEAST(l.tail, l.head + $%d) OFFSET 0) i ON true`
	)
	size := 1
	for size < len(chosen) {
		size *= 2
	}
	args, parts := []any{c.o.Name}, make([]string, size)
	for i := range parts {
		var x candidate
		if i < len(chosen) {
			x = chosen[i]
		}
		args = append(args, x.Subscriber, x.partitions)
		parts[i] = fmt.Sprintf(c.sql.text(part), len(args)-1, len(args), i)
	}
	from, update := strings.Join(parts, " UNION ALL "), fmt.Sprintf(c.sql.text(claim), len(args)+1, len(args)+2)
	args = append(args, c.o.Lease.Microseconds(), c.id)
	if c.db.Dialect != database.Postgres {
		return "WITH c AS MATERIALIZED (" + from + ") " + update, args
	}
	return fmt.Sprintf(load, from, update, len(args)+1), append(args, c.o.Run)
}

// jobsText reads the jobs of partitions: rows of partition, head and how many at most.
func (q *Queue) jobsText(heads [][]int64) (string, []any) {
	const jobs = `WITH c (id, head, most) AS (%s) SELECT c.id, i.seq, i.seq_offset, i.subject, i.traceparent FROM c
		JOIN queue_job i ON i.partition_id = c.id AND i.seq > c.head AND i.seq <= c.head + c.most`
	list, args := q.sql.list(1, heads)
	return fmt.Sprintf(jobs, list), args
}

// advanceText finishes partitions that a node, $1, holds: rows of partition, epoch, new
// head, attempts, first failure, wait and the last finished job. On PostgreSQL it
// removes the finished jobs.
func (q *Queue) advanceText(us [][]int64) (string, []any) {
	const (
		done = `WITH k (partition, fence, up_to, tries, first, wait, passed) AS (%s)`
		// PostgreSQL locks the partitions in the order in which all do.
		locked = `WITH u (partition, fence, up_to, tries, first, wait, passed) AS (%s),
			k AS MATERIALIZED (SELECT u.*, l.head AS before FROM u JOIN queue_partition l ON l.id = u.partition AND l.epoch = u.fence AND l.holder = $1
				ORDER BY l.subscriber, l.key, l.parked FOR UPDATE),
			d AS (DELETE FROM queue_job j USING k WHERE j.partition_id = k.partition AND j.seq > k.before AND j.seq <= k.passed)`
		advance = ` UPDATE queue_partition SET head = k.up_to, attempt = k.tries, holder = '',
				since_us = CASE WHEN k.first < 0 OR tail = k.up_to THEN {now} ELSE k.first END,
				ready_us = CASE WHEN tail > k.up_to THEN CASE WHEN blockers > 0 THEN {blocked} ELSE {now} + k.wait END END
			FROM k WHERE id = k.partition AND epoch = k.fence AND holder = $1
			RETURNING id, epoch, ready_us IS NOT NULL AS more, successor`
	)
	text := done
	if q.db.Dialect == database.Postgres {
		text = locked
	}
	list, args := q.sql.list(2, us)
	return fmt.Sprintf(q.sql.text(text+advance), list), args
}

// removeOne deletes jobs of one partition. SQLite runs it many times sooner than it
// reads a list.
const removeOne = `DELETE FROM queue_job WHERE partition_id = $1 AND seq > $2 AND seq <= $3`
