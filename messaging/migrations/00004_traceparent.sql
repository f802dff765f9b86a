-- +goose Up
-- what an event follows from: a W3C traceparent, '' when nothing is traced
ALTER TABLE messaging_deferred ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
