-- +goose Up
-- Text compares by bytes, as on SQLite and in Go: it is the order of locks.
-- The tables are queues: they are vacuumed early.

-- What was put and not routed yet. Ids are never used twice: they are the order.
CREATE TABLE lane_outbox (
	id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue    TEXT COLLATE "C" NOT NULL,
	consumer TEXT COLLATE "C" NOT NULL, -- '': for the queue's Route to decide
	key      TEXT COLLATE "C" NOT NULL,
	subject  TEXT COLLATE "C" NOT NULL,
	note     TEXT COLLATE "C" NOT NULL, -- for the queue's Route
	at_us    BIGINT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_outbox_queue ON lane_outbox (queue, id);

-- One row per (consumer, key) that ever had work, and one per detached item.
CREATE TABLE lane_lane (
	id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue    TEXT COLLATE "C" NOT NULL,
	consumer TEXT COLLATE "C" NOT NULL,
	key      TEXT COLLATE "C" NOT NULL,
	detached BIGINT NOT NULL DEFAULT 0, -- seq of the one item that left its lane for this one
	tail     BIGINT NOT NULL DEFAULT 0, -- seq of the last item put
	head     BIGINT NOT NULL DEFAULT 0, -- seq of the last item finished
	ready_us BIGINT,                    -- when it may be claimed: the end of a retry's wait or of a lease; NULL: idle
	epoch    BIGINT NOT NULL DEFAULT 0, -- counts claims, and fences what a claim writes
	attempt  BIGINT NOT NULL DEFAULT 0, -- failed attempts of the head
	since_us BIGINT NOT NULL DEFAULT 0, -- first failure of the head; of an idle lane: since when it is idle
	holder   TEXT COLLATE "C" NOT NULL DEFAULT '', -- the node that claimed it; '': nobody
	UNIQUE (queue, consumer, key, detached)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_lane_ready ON lane_lane (queue, consumer, ready_us) WHERE ready_us IS NOT NULL;

CREATE TABLE lane_item (
	lane_id BIGINT NOT NULL,
	seq     BIGINT NOT NULL,
	subject TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (lane_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Consumers that are paused. When paused_us has passed one item is tried.
CREATE TABLE lane_consumer (
	queue     TEXT COLLATE "C" NOT NULL,
	consumer  TEXT COLLATE "C" NOT NULL,
	paused_us BIGINT NOT NULL,
	trial     TEXT COLLATE "C" NOT NULL, -- the node that tries one item, until paused_us at most; '': nobody
	trials    BIGINT NOT NULL DEFAULT 0, -- that failed since it is paused
	PRIMARY KEY (queue, consumer)
);

-- Running nodes. One that was not seen for 10 s is void.
CREATE TABLE lane_node (
	id      TEXT COLLATE "C" PRIMARY KEY,
	queue   TEXT COLLATE "C" NOT NULL,
	seen_us BIGINT NOT NULL
);
