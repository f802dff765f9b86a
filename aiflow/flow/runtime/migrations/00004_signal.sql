-- +goose Up
-- what runs were told by others than contacts, so that they can be replayed
CREATE TABLE flow_signal (
	id {identity},
	run BIGINT NOT NULL REFERENCES flow_run (seq) ON DELETE CASCADE,
	body TEXT NOT NULL, -- JSON
	at_us BIGINT NOT NULL
);
CREATE INDEX flow_signal_run ON flow_signal (run, id);
