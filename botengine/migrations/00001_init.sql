-- +goose Up
CREATE TABLE botengine_bot (
	number {identity}, -- the order of lists
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	name TEXT NOT NULL,
	draft TEXT NOT NULL, -- as it was given
	tests TEXT NOT NULL DEFAULT '[]', -- JSON list of simulations
	slug TEXT NOT NULL, -- of the published version: what flow nodes call it; '' none is
	active BOOLEAN NOT NULL, -- whether the published version answers
	version BIGINT NOT NULL, -- the published one, 0: none is
	versions BIGINT NOT NULL, -- how many there have been
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL
);
CREATE INDEX botengine_bot_account ON botengine_bot (account, reference, number);
CREATE UNIQUE INDEX botengine_bot_slug ON botengine_bot (account, slug) WHERE slug <> '';
CREATE INDEX botengine_bot_reference ON botengine_bot (reference) WHERE version > 0 AND active;

CREATE TABLE botengine_version (
	bot TEXT {bytewise} NOT NULL REFERENCES botengine_bot (id) ON DELETE CASCADE,
	version BIGINT NOT NULL,
	document TEXT NOT NULL, -- as it was published
	hash TEXT NOT NULL, -- of its content
	created_us BIGINT NOT NULL,
	PRIMARY KEY (bot, version)
);
