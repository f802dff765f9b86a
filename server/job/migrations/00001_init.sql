-- +goose Up
-- work that goes on behind the answer of a request
CREATE TABLE job_job (
	number {identity}, -- the order of their beginning
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	kind TEXT NOT NULL,
	args TEXT NOT NULL, -- JSON, of the kind's own; '' when it has ended
	reference BIGINT NOT NULL, -- that it is about; 0: none
	tries BIGINT NOT NULL, -- that failed
	due_us BIGINT NOT NULL, -- not to be taken before: the end of a lease or of a wait
	created_us BIGINT NOT NULL,
	ended_us BIGINT NOT NULL -- 0: it goes on
);
CREATE INDEX job_job_due ON job_job (due_us) WHERE ended_us = 0;
CREATE INDEX job_job_ended ON job_job (ended_us) WHERE ended_us > 0;
CREATE INDEX job_job_account ON job_job (account, number);
