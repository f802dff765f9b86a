-- +goose Up
-- A timer for a time of day. Others move with the clock of the database when it is set.
ALTER TABLE flow_timer ADD COLUMN fixed BOOLEAN NOT NULL DEFAULT FALSE;
