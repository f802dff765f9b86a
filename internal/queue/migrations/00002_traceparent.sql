-- +goose Up
-- what an entry follows from: a W3C traceparent, '' when nothing is traced
ALTER TABLE lane_outbox ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
ALTER TABLE lane_item ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
