-- +goose Up
CREATE TABLE secondfactor_totp (
	user_id      TEXT PRIMARY KEY REFERENCES auth_user (id) ON DELETE CASCADE,
	secret       TEXT NOT NULL,             -- sealed
	confirmed_us BIGINT NOT NULL DEFAULT 0, -- log-ins need a code since then; 0: no code was shown yet
	last_step    BIGINT NOT NULL DEFAULT 0  -- of the newest code that was used: this and older ones are refused
);

-- Codes for a user whose device is lost, each of which works once.
CREATE TABLE secondfactor_recovery (
	user_id TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	hash    TEXT NOT NULL,
	PRIMARY KEY (user_id, hash)
);
