-- +goose Up
-- flows that begin by themselves at certain times
CREATE TABLE flow_schedule (
	id {identity},
	account TEXT NOT NULL,
	engine TEXT NOT NULL,
	owner TEXT {bytewise} NOT NULL, -- the engine's id of the flow or bot
	version BIGINT NOT NULL,
	reference BIGINT NOT NULL, -- the line of its runs, 0: none
	times TEXT NOT NULL, -- JSON: list of {cron, timezone}
	next_us BIGINT NOT NULL, -- who begins a run moves it on
	UNIQUE (owner, engine, reference)
);
CREATE INDEX flow_schedule_next ON flow_schedule (next_us);
CREATE INDEX flow_schedule_account ON flow_schedule (account, reference);
