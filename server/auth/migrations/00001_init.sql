-- +goose Up
CREATE TABLE auth_account (
	id         TEXT PRIMARY KEY,
	created_us BIGINT NOT NULL
);

-- The row that decides who was first when several sign up at once.
CREATE TABLE auth_first (
	id         BIGINT PRIMARY KEY CHECK (id = 1),
	account_id TEXT NOT NULL REFERENCES auth_account (id) ON DELETE CASCADE
);

CREATE TABLE auth_user (
	id          TEXT PRIMARY KEY,
	account_id  TEXT NOT NULL REFERENCES auth_account (id) ON DELETE CASCADE,
	email       TEXT NOT NULL UNIQUE,
	name        TEXT NOT NULL,
	password    TEXT NOT NULL,
	permissions TEXT NOT NULL,
	version     BIGINT NOT NULL,
	created_us  BIGINT NOT NULL
);
CREATE INDEX auth_user_account ON auth_user (account_id);

CREATE TABLE auth_limit (
	name    TEXT PRIMARY KEY,
	count   BIGINT NOT NULL,
	ends_us BIGINT NOT NULL
);
CREATE INDEX auth_limit_ends ON auth_limit (ends_us);

-- From where a user has logged in.
CREATE TABLE auth_origin (
	user_id TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	address TEXT NOT NULL,
	seen_us BIGINT NOT NULL,
	PRIMARY KEY (user_id, address)
);
