-- +goose Up
-- Keys that have become one with another: what comes under one of them later
-- goes to the lane of its target.
CREATE TABLE lane_redirect (
	queue  TEXT {bytewise} NOT NULL,
	key    TEXT {bytewise} NOT NULL,
	target TEXT {bytewise} NOT NULL,
	at_us  BIGINT NOT NULL,
	PRIMARY KEY (queue, key)
);
CREATE INDEX lane_redirect_target ON lane_redirect (queue, target);

-- The key that becomes one with the entry's key; the entry's own key: it is to
-- be looked whether the successor of its lane may go on. '': it is work.
ALTER TABLE lane_outbox ADD COLUMN merged TEXT NOT NULL DEFAULT '';

-- What a sequence number is shown as more than it is: a lane goes on behind the
-- numbers of those that were merged into it.
ALTER TABLE lane_lane ADD COLUMN seq_offset BIGINT NOT NULL DEFAULT 0;
ALTER TABLE lane_item ADD COLUMN seq_offset BIGINT NOT NULL DEFAULT 0;

ALTER TABLE lane_lane ADD COLUMN blockers BIGINT NOT NULL DEFAULT 0; -- lanes that must be empty before it is claimed
ALTER TABLE lane_lane ADD COLUMN successor BIGINT NOT NULL DEFAULT 0; -- id of the lane that it was merged into
ALTER TABLE lane_lane ADD COLUMN successor_seq BIGINT NOT NULL DEFAULT 0; -- last item of the successor from before
ALTER TABLE lane_lane ADD COLUMN blocking BIGINT NOT NULL DEFAULT 0; -- 1: it is among the blockers of its successor
