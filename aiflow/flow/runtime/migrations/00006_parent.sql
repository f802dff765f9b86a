-- +goose Up
-- the id of the run that began a run, '' when none did; and the slug of the function that it runs, '' when it runs its flow
ALTER TABLE flow_run ADD COLUMN parent TEXT {bytewise} NOT NULL DEFAULT '';
ALTER TABLE flow_run ADD COLUMN function TEXT {bytewise} NOT NULL DEFAULT '';
CREATE INDEX flow_run_parent ON flow_run (parent, seq) WHERE parent <> '';
