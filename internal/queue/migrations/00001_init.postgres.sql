-- +goose Up
-- Text compares by bytes, as on SQLite and in Go: it is the order of locks.
-- The tables are queues: they are vacuumed early.

-- What was put and not routed yet. Ids are never used twice: they are the order.
CREATE TABLE queue_outbox (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue      TEXT COLLATE "C" NOT NULL,
	subscriber TEXT COLLATE "C" NOT NULL, -- '': for the queue's Route to decide
	key        TEXT COLLATE "C" NOT NULL,
	subject    TEXT COLLATE "C" NOT NULL,
	metadata   TEXT COLLATE "C" NOT NULL, -- for the queue's Route
	at_us      BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_outbox_queue ON queue_outbox (queue, id);

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
	UNIQUE (queue, subscriber, key, parked)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX queue_partition_ready ON queue_partition (queue, subscriber, ready_us) WHERE ready_us IS NOT NULL;

CREATE TABLE queue_job (
	partition_id BIGINT NOT NULL,
	seq          BIGINT NOT NULL,
	subject      TEXT COLLATE "C" NOT NULL,
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
