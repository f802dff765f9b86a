-- +goose Up
-- What was put and not routed yet. Ids are never used twice: they are the order.
CREATE TABLE lane_outbox (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	queue    TEXT   NOT NULL,
	consumer TEXT   NOT NULL, -- '': for the queue's Route to decide
	key      TEXT   NOT NULL,
	subject  TEXT   NOT NULL,
	note     TEXT   NOT NULL, -- for the queue's Route
	at_us    BIGINT NOT NULL
);
CREATE INDEX lane_outbox_queue ON lane_outbox (queue, id);

-- One row per (consumer, key) that ever had work, and one per detached item.
CREATE TABLE lane_lane (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	queue    TEXT   NOT NULL,
	consumer TEXT   NOT NULL,
	key      TEXT   NOT NULL,
	detached BIGINT NOT NULL DEFAULT 0, -- seq of the one item that left its lane for this one
	tail     BIGINT NOT NULL DEFAULT 0, -- seq of the last item put
	head     BIGINT NOT NULL DEFAULT 0, -- seq of the last item finished
	ready_us BIGINT,                    -- when it may be claimed: the end of a retry's wait or of a lease; NULL: idle
	epoch    BIGINT NOT NULL DEFAULT 0, -- counts claims, and fences what a claim writes
	attempt  BIGINT NOT NULL DEFAULT 0, -- failed attempts of the head
	since_us BIGINT NOT NULL DEFAULT 0, -- first failure of the head; of an idle lane: since when it is idle
	holder   TEXT   NOT NULL DEFAULT '', -- the node that claimed it; '': nobody
	UNIQUE (queue, consumer, key, detached)
);
CREATE INDEX lane_lane_ready ON lane_lane (queue, consumer, ready_us) WHERE ready_us IS NOT NULL;

CREATE TABLE lane_item (
	lane_id BIGINT NOT NULL,
	seq     BIGINT NOT NULL,
	subject TEXT   NOT NULL,
	PRIMARY KEY (lane_id, seq)
) WITHOUT ROWID;

-- Consumers that are paused. When paused_us has passed one item is tried.
CREATE TABLE lane_consumer (
	queue     TEXT   NOT NULL,
	consumer  TEXT   NOT NULL,
	paused_us BIGINT NOT NULL,
	trial     TEXT   NOT NULL, -- the node that tries one item, until paused_us at most; '': nobody
	trials    BIGINT NOT NULL DEFAULT 0, -- that failed since it is paused
	PRIMARY KEY (queue, consumer)
);

-- Running nodes. One that was not seen for 10 s is void.
CREATE TABLE lane_node (
	id      TEXT   PRIMARY KEY,
	queue   TEXT   NOT NULL,
	seen_us BIGINT NOT NULL
);
