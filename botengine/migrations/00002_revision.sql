-- +goose Up
ALTER TABLE botengine_bot ADD COLUMN revision BIGINT NOT NULL DEFAULT 1; -- of name, draft and active: raised by every change
