-- +goose Up
CREATE TABLE credential_secret (
	number {identity}, -- the order of lists
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	name TEXT NOT NULL,
	kind TEXT NOT NULL, -- bearer, basic, header or query
	field TEXT NOT NULL, -- the header or the parameter that carries it, '' for bearer and basic
	username TEXT NOT NULL, -- '' but for basic
	hosts TEXT NOT NULL, -- JSON list; [] is everywhere
	secret TEXT NOT NULL, -- sealed
	created_us BIGINT NOT NULL
);
CREATE INDEX credential_secret_account ON credential_secret (account, number);
