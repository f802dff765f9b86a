-- +goose Up
CREATE TABLE mcp_remote_server (
	number {identity}, -- the order of lists
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	name TEXT {bytewise} NOT NULL,
	url TEXT NOT NULL,
	credential TEXT NOT NULL, -- '' none
	enabled BOOLEAN NOT NULL,
	revision BIGINT NOT NULL, -- raised by every change of how it is reached
	checked_us BIGINT NOT NULL, -- when its tools were last asked for; 0: never
	problem TEXT NOT NULL, -- why that failed; '' it did not
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL,
	UNIQUE (account, name)
);
CREATE INDEX mcp_remote_server_account ON mcp_remote_server (account, number);

CREATE TABLE mcp_remote_tool (
	server TEXT {bytewise} NOT NULL REFERENCES mcp_remote_server (id) ON DELETE CASCADE,
	name TEXT {bytewise} NOT NULL,
	position BIGINT NOT NULL, -- in the server's list
	definition TEXT NOT NULL, -- JSON: description, schema and hints, as last seen
	hash TEXT NOT NULL, -- of name and definition
	approved TEXT NOT NULL, -- the hash that may be used; '' none
	PRIMARY KEY (server, name)
);
