-- +goose Up
-- what an input or a timer follows from: a W3C traceparent, '' when nothing is traced
ALTER TABLE flow_input ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
ALTER TABLE flow_timer ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
