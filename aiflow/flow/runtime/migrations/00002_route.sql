-- +goose Up
-- why a message was answered, or not
CREATE TABLE flow_route (
	id {identity},
	account TEXT NOT NULL,
	reference BIGINT NOT NULL,
	chat_id TEXT NOT NULL,
	message TEXT {bytewise} NOT NULL,
	body TEXT NOT NULL, -- JSON
	at_us BIGINT NOT NULL
);
CREATE INDEX flow_route_message ON flow_route (reference, message);
CREATE INDEX flow_route_chat ON flow_route (reference, chat_id);

-- in which turn of its run a message was sent
ALTER TABLE flow_sent ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;
CREATE INDEX flow_sent_message ON flow_sent (message);
