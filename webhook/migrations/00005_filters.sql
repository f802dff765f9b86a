-- +goose Up
-- deliveries of a chat and of a message, and those that were not delivered, are found
-- without reading the others
CREATE INDEX webhook_event_chat ON webhook_event (scope, chat_id, number) WHERE chat_id <> '';
CREATE INDEX webhook_event_message ON webhook_event (scope, message_id) WHERE message_id <> '';
CREATE INDEX webhook_attempt_undelivered ON webhook_attempt (scope, outcome, id) WHERE outcome IN ('failed', 'dead');
