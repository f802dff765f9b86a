-- +goose Up
-- What the operator has set for an account instead of the server's default.
CREATE TABLE quota_limit (
	account TEXT NOT NULL,
	name    TEXT NOT NULL,
	value   BIGINT NOT NULL, -- 0: unlimited
	PRIMARY KEY (account, name)
);

-- One row for each account with something to be counted exactly: whoever
-- counts locks it.
CREATE TABLE quota_lock (
	account TEXT PRIMARY KEY
);
