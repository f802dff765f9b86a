-- +goose Up
-- events that endpoints which include a part hear of when that is known, and
-- what has happened since under their keys
CREATE TABLE webhook_deferred (
	id {identity},
	part TEXT NOT NULL,
	event_id TEXT NOT NULL,
	at_us BIGINT NOT NULL,
	account TEXT NOT NULL,
	scope TEXT NOT NULL,
	type TEXT NOT NULL,
	order_key TEXT {bytewise} NOT NULL,
	chat_id TEXT NOT NULL,
	message_id TEXT NOT NULL,
	headers TEXT NOT NULL, -- JSON object, or ''
	body TEXT NOT NULL, -- without the part
	awaits TEXT NOT NULL, -- '': nothing any more, it is in its place
	until_us BIGINT NOT NULL -- 0: it waits for nothing itself
);
CREATE INDEX webhook_deferred_key ON webhook_deferred (order_key, id);
CREATE INDEX webhook_deferred_scope ON webhook_deferred (scope);
CREATE INDEX webhook_deferred_until ON webhook_deferred (until_us);
