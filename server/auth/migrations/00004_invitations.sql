-- +goose Up
-- Links by which a person becomes a user of an account.
CREATE TABLE auth_invitation (
	seq         {identity},
	id          TEXT NOT NULL UNIQUE,
	hash        TEXT UNIQUE, -- of the link's token; NULL: its mail was not sent yet
	account_id  TEXT NOT NULL REFERENCES auth_account (id) ON DELETE CASCADE,
	inviter     TEXT NOT NULL REFERENCES auth_user (id) ON DELETE CASCADE,
	email       TEXT NOT NULL,
	name        TEXT NOT NULL, -- "": the person gives it
	owner       BIGINT NOT NULL,
	permissions TEXT NOT NULL,
	expires_us  BIGINT NOT NULL,
	created_us  BIGINT NOT NULL
);
CREATE INDEX auth_invitation_account ON auth_invitation (account_id, seq);
CREATE INDEX auth_invitation_inviter ON auth_invitation (inviter);
CREATE INDEX auth_invitation_expires ON auth_invitation (expires_us);
