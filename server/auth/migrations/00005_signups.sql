-- +goose Up
-- Sign-ups that wait until their e-mail is shown to be theirs.
CREATE TABLE auth_signup (
	id         TEXT NOT NULL PRIMARY KEY,
	hash       TEXT UNIQUE, -- of the link's token; NULL: its mail was not sent yet
	email      TEXT NOT NULL,
	name       TEXT NOT NULL,
	password   TEXT NOT NULL, -- its hash
	expires_us BIGINT NOT NULL
);
CREATE INDEX auth_signup_email ON auth_signup (email);
CREATE INDEX auth_signup_expires ON auth_signup (expires_us);
