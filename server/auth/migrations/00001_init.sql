-- +goose Up
CREATE TABLE auth_account (
	id         TEXT PRIMARY KEY,
	created_us BIGINT NOT NULL,
	closed_us  BIGINT NOT NULL DEFAULT 0, -- everything of it is to be erased since then; 0: it is not
	taken_us   BIGINT NOT NULL DEFAULT 0  -- a node is erasing it until then
);
CREATE INDEX auth_account_closed ON auth_account (taken_us) WHERE closed_us > 0;

-- The row that decides who was first when several sign up at once.
CREATE TABLE auth_first (
	id         BIGINT PRIMARY KEY CHECK (id = 1),
	account_id TEXT NOT NULL REFERENCES auth_account (id) ON DELETE CASCADE
);

CREATE TABLE auth_user (
	seq         {identity}, -- the order of lists
	id          TEXT NOT NULL UNIQUE,
	account_id  TEXT NOT NULL REFERENCES auth_account (id) ON DELETE CASCADE,
	email       TEXT NOT NULL UNIQUE,
	name        TEXT NOT NULL,
	password    TEXT NOT NULL,
	permissions TEXT NOT NULL,
	version     BIGINT NOT NULL, -- raised to end older tokens and sessions
	created_us  BIGINT NOT NULL
);
CREATE INDEX auth_user_account ON auth_user (account_id, seq);

-- Scoped tokens that are not revoked.
CREATE TABLE auth_token (
	seq         {identity},
	id          TEXT NOT NULL UNIQUE, -- the jti
	user_id     TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	name        TEXT NOT NULL,
	permissions TEXT NOT NULL,
	expires_us  BIGINT NOT NULL,
	created_us  BIGINT NOT NULL
);
CREATE INDEX auth_token_user ON auth_token (user_id, seq);
CREATE INDEX auth_token_expires ON auth_token (expires_us);

-- Cookie sessions.
CREATE TABLE auth_session (
	hash       TEXT PRIMARY KEY, -- of the cookie
	user_id    TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	version    BIGINT NOT NULL, -- of the user, when he logged in
	used_us    BIGINT NOT NULL,
	created_us BIGINT NOT NULL
);
CREATE INDEX auth_session_user ON auth_session (user_id);
CREATE INDEX auth_session_used ON auth_session (used_us);

-- Links by which a user may set a new password.
CREATE TABLE auth_reset (
	hash       TEXT PRIMARY KEY, -- of the link's token
	user_id    TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	expires_us BIGINT NOT NULL
);
CREATE INDEX auth_reset_user ON auth_reset (user_id);
CREATE INDEX auth_reset_expires ON auth_reset (expires_us);

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
