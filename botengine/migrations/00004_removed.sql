-- +goose Up
-- a bot that is deleted is hidden at once, and its rows go in small transactions
ALTER TABLE botengine_bot ADD COLUMN removed BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX botengine_bot_removed ON botengine_bot (number) WHERE removed;
