-- +goose Up
-- What was done in accounts, in the transactions of those changes.
CREATE TABLE auditlog_entry (
	id           {identity}, -- the order of lists
	at_us        BIGINT NOT NULL,
	account      TEXT NOT NULL,
	action       TEXT NOT NULL,
	kind         TEXT NOT NULL, -- of actor
	user_id      TEXT NOT NULL, -- '': none
	email        TEXT NOT NULL, -- of the user, then
	token        TEXT NOT NULL, -- or session, '': none
	run          TEXT NOT NULL, -- '': none
	address      TEXT NOT NULL, -- of the client
	request      TEXT NOT NULL,
	object_type  TEXT NOT NULL,
	object_id    TEXT NOT NULL,
	object_name  TEXT NOT NULL,
	reference_id BIGINT NOT NULL, -- 0: none
	details      TEXT NOT NULL  -- JSON object
);
CREATE INDEX auditlog_entry_account ON auditlog_entry (account, id);
CREATE INDEX auditlog_entry_object ON auditlog_entry (account, object_id, id);
