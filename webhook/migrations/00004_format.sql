-- +goose Up
-- the form in which an endpoint gets its events
ALTER TABLE webhook_endpoint ADD COLUMN format TEXT NOT NULL DEFAULT 'trunkline';
