-- +goose Up
-- Text compares by bytes, as on SQLite and in Go: it is the order of locks.
-- The tables are queues: they are vacuumed early.

-- One row per (subscriber, key) that ever had work, and one per parked job.
CREATE TABLE queue_partition (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue      TEXT COLLATE "C" NOT NULL,
	subscriber TEXT COLLATE "C" NOT NULL,
	key        TEXT COLLATE "C" NOT NULL,
	parked     BIGINT NOT NULL DEFAULT 0, -- seq of the one job that left its partition for this one
	tail       BIGINT NOT NULL DEFAULT 0, -- seq of the last job put
	head       BIGINT NOT NULL DEFAULT 0, -- seq of the last job finished
	ready_us   BIGINT,                    -- when it may be claimed: the end of a retry's wait or of a lease; NULL: idle
	epoch      BIGINT NOT NULL DEFAULT 0, -- counts claims, and fences what a claim writes
	attempt    BIGINT NOT NULL DEFAULT 0, -- failed attempts of the head
	since_us   BIGINT NOT NULL DEFAULT 0, -- first failure of the head; of an idle partition: since when it is idle
	holder     TEXT COLLATE "C" NOT NULL DEFAULT '', -- the node that claimed it; '': nobody
	seq_offset    BIGINT NOT NULL DEFAULT 0, -- what a seq is shown as more than it is: a partition goes on behind the numbers of those that were merged into it
	blockers      BIGINT NOT NULL DEFAULT 0, -- partitions that must be empty before it is claimed
	successor     BIGINT NOT NULL DEFAULT 0, -- id of the partition that it was merged into
	successor_seq BIGINT NOT NULL DEFAULT 0, -- last job of the successor from before
	blocking      BIGINT NOT NULL DEFAULT 0, -- 1: it is among the blockers of its successor
	UNIQUE (queue, subscriber, key, parked)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_partition_ready ON queue_partition (queue, subscriber, ready_us) WHERE ready_us IS NOT NULL;

CREATE TABLE queue_job (
	partition_id BIGINT NOT NULL,
	seq          BIGINT NOT NULL,
	seq_offset   BIGINT NOT NULL DEFAULT 0,
	subject      TEXT COLLATE "C" NOT NULL,
	traceparent  TEXT NOT NULL DEFAULT '', -- what the job follows from: a W3C traceparent
	PRIMARY KEY (partition_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Subscribers that are paused. When paused_us has passed one job is tried.
CREATE TABLE queue_subscriber (
	queue      TEXT COLLATE "C" NOT NULL,
	subscriber TEXT COLLATE "C" NOT NULL,
	paused_us  BIGINT NOT NULL,
	probe      TEXT COLLATE "C" NOT NULL, -- the node that tries one job, until paused_us at most; '': nobody
	probes     BIGINT NOT NULL DEFAULT 0, -- that failed since it is paused
	PRIMARY KEY (queue, subscriber)
);

-- Running nodes. One that was not seen for 10 s is void.
CREATE TABLE queue_node (
	id      TEXT COLLATE "C" PRIMARY KEY,
	queue   TEXT COLLATE "C" NOT NULL,
	seen_us BIGINT NOT NULL
);

-- Keys that have become one with another: what is put under one of them goes to the
-- partition of its target.
CREATE TABLE queue_redirect (
	queue  TEXT COLLATE "C" NOT NULL,
	key    TEXT COLLATE "C" NOT NULL,
	target TEXT COLLATE "C" NOT NULL,
	at_us  BIGINT NOT NULL,
	PRIMARY KEY (queue, key)
);
CREATE INDEX queue_redirect_target ON queue_redirect (queue, target);

-- Partitions whose successor may continue, or must wait again.
CREATE TABLE queue_review (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue      TEXT COLLATE "C" NOT NULL,
	subscriber TEXT COLLATE "C" NOT NULL,
	key        TEXT COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_review_queue ON queue_review (queue, id);
