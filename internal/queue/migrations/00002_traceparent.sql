-- +goose Up
-- what a job follows from: a W3C traceparent, '' when nothing is traced
ALTER TABLE queue_outbox ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
ALTER TABLE queue_job ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
