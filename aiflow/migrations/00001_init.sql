-- +goose Up
CREATE TABLE aiflow_project (
	number {identity}, -- the order of lists
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	name TEXT NOT NULL,
	description TEXT NOT NULL,
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL
);
CREATE INDEX aiflow_project_account ON aiflow_project (account, number);

CREATE TABLE aiflow_flow (
	number {identity},
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	project TEXT {bytewise} NOT NULL REFERENCES aiflow_project (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	draft TEXT NOT NULL, -- as it was given
	tests TEXT NOT NULL DEFAULT '[]', -- JSON list of simulations
	revision BIGINT NOT NULL, -- raised by every change of name and draft
	slug TEXT NOT NULL, -- of the published version; '' none is
	kind TEXT NOT NULL, -- of the published version: flow or function
	version BIGINT NOT NULL, -- the published one, 0: none is
	versions BIGINT NOT NULL, -- how many there have been
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL
);
CREATE INDEX aiflow_flow_account ON aiflow_flow (account, project, number);
CREATE UNIQUE INDEX aiflow_flow_slug ON aiflow_flow (project, slug) WHERE slug <> '';

CREATE TABLE aiflow_version (
	flow TEXT {bytewise} NOT NULL REFERENCES aiflow_flow (id) ON DELETE CASCADE,
	version BIGINT NOT NULL,
	document TEXT NOT NULL, -- as it was published
	hash TEXT NOT NULL, -- of its content and its functions
	functions TEXT NOT NULL, -- JSON list of {slug, flow, version}: what it calls, pinned
	created_us BIGINT NOT NULL,
	PRIMARY KEY (flow, version)
);

-- on which lines a flow's trigger listens
CREATE TABLE aiflow_binding (
	flow TEXT {bytewise} NOT NULL REFERENCES aiflow_flow (id) ON DELETE CASCADE,
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	enabled BOOLEAN NOT NULL,
	priority BIGINT, -- NULL: that of the trigger node
	PRIMARY KEY (flow, reference)
);
CREATE INDEX aiflow_binding_reference ON aiflow_binding (reference) WHERE enabled;
