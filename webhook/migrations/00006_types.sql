-- +goose Up
-- deliveries of a type of event and of an endpoint are found without reading the others
ALTER TABLE webhook_attempt ADD COLUMN type TEXT NOT NULL DEFAULT ''; -- of the event
UPDATE webhook_attempt SET type = COALESCE((SELECT type FROM webhook_event WHERE number = webhook_attempt.event), '');
CREATE INDEX webhook_attempt_type ON webhook_attempt (scope, type, id) WHERE outcome <> '';
CREATE INDEX webhook_attempt_endpoint ON webhook_attempt (endpoint, id) WHERE outcome <> '';
