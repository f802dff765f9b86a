-- +goose Up
CREATE TABLE webhook_endpoint (
	id TEXT {bytewise} PRIMARY KEY,
	account TEXT NOT NULL,
	scope TEXT NOT NULL,
	url TEXT NOT NULL,
	headers TEXT NOT NULL, -- sealed JSON
	secret TEXT NOT NULL, -- sealed
	old_secret TEXT NOT NULL, -- sealed; signs too until old_until_us
	old_until_us BIGINT NOT NULL,
	events TEXT NOT NULL, -- comma list
	include TEXT NOT NULL, -- comma list
	enabled BOOLEAN NOT NULL,
	revision BIGINT NOT NULL, -- raised by every change of what is above
	pauses BIGINT NOT NULL, -- failed in a row as a whole; 0: it is up
	down_us BIGINT NOT NULL, -- since when, 0: it is up
	last_error TEXT NOT NULL, -- '' after a success
	created_us BIGINT NOT NULL,
	updated_us BIGINT NOT NULL,
	UNIQUE (account, scope, url)
);

CREATE TABLE webhook_event (
	number {identity},
	id TEXT NOT NULL, -- what receivers know it by
	at_us BIGINT NOT NULL,
	account TEXT NOT NULL,
	scope TEXT NOT NULL,
	type TEXT NOT NULL,
	order_key TEXT NOT NULL,
	chat_id TEXT NOT NULL,
	message_id TEXT NOT NULL,
	headers TEXT NOT NULL, -- JSON object, or ''
	body TEXT NOT NULL -- the exact bytes
);
CREATE INDEX webhook_event_at ON webhook_event (at_us);

-- A delivery is an event on its way to an endpoint: its id is made of both.
-- It is pending while it is in a lane, and over with the attempt that has an
-- outcome; a replay adds another. What it says of the event is the event's.
CREATE TABLE webhook_attempt (
	id {identity},
	event BIGINT NOT NULL, -- webhook_event.number
	endpoint TEXT NOT NULL,
	scope TEXT NOT NULL,
	seq BIGINT NOT NULL,
	fence BIGINT NOT NULL, -- the claim under which it was made: no claim finishes twice
	at_us BIGINT NOT NULL,
	outcome TEXT NOT NULL, -- '' it goes on, delivered, failed, dead
	status BIGINT NOT NULL, -- 0: no response
	duration_us BIGINT NOT NULL,
	error TEXT NOT NULL,
	response TEXT NOT NULL -- its first KiB
);
CREATE INDEX webhook_attempt_event ON webhook_attempt (event);
CREATE INDEX webhook_attempt_final ON webhook_attempt (scope, id) WHERE outcome <> '';
