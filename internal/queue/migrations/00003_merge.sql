-- +goose Up
-- Keys that have become one with another: what comes under one of them later
-- goes to the partition of its target.
CREATE TABLE queue_redirect (
	queue  TEXT {bytewise} NOT NULL,
	key    TEXT {bytewise} NOT NULL,
	target TEXT {bytewise} NOT NULL,
	at_us  BIGINT NOT NULL,
	PRIMARY KEY (queue, key)
);
CREATE INDEX queue_redirect_target ON queue_redirect (queue, target);

-- The key that becomes one with the job's key; the job's own key: it is to
-- be looked whether the successor of its partition may go on. '': it is work.
ALTER TABLE queue_outbox ADD COLUMN merged TEXT NOT NULL DEFAULT '';

-- What a sequence number is shown as more than it is: a partition goes on behind the
-- numbers of those that were merged into it.
ALTER TABLE queue_partition ADD COLUMN seq_offset BIGINT NOT NULL DEFAULT 0;
ALTER TABLE queue_job ADD COLUMN seq_offset BIGINT NOT NULL DEFAULT 0;

ALTER TABLE queue_partition ADD COLUMN blockers BIGINT NOT NULL DEFAULT 0; -- partitions that must be empty before it is claimed
ALTER TABLE queue_partition ADD COLUMN successor BIGINT NOT NULL DEFAULT 0; -- id of the partition that it was merged into
ALTER TABLE queue_partition ADD COLUMN successor_seq BIGINT NOT NULL DEFAULT 0; -- last job of the successor from before
ALTER TABLE queue_partition ADD COLUMN blocking BIGINT NOT NULL DEFAULT 0; -- 1: it is among the blockers of its successor
