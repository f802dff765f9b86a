-- +goose Up
-- Limits, as the time at which what was taken is there again.
CREATE TABLE mcp_limit (
	account TEXT NOT NULL,
	caller TEXT NOT NULL, -- a user, '' for the whole account
	function TEXT NOT NULL, -- '' for the whole account
	full_us BIGINT NOT NULL,
	PRIMARY KEY (account, caller, function)
);

CREATE TABLE mcp_audit (
	id {identity},
	at_us BIGINT NOT NULL, -- when it was answered
	account TEXT NOT NULL,
	caller TEXT NOT NULL, -- a user
	token TEXT NOT NULL, -- that he used, or ''
	function TEXT NOT NULL,
	arguments TEXT NOT NULL, -- JSON object, masked
	dry_run BOOLEAN NOT NULL,
	outcome TEXT NOT NULL, -- ok, or the code of an error
	duration_us BIGINT NOT NULL
);
CREATE INDEX mcp_audit_account ON mcp_audit (account, id);
