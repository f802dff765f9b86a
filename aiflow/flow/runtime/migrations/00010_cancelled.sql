-- +goose Up
-- Runs that were cancelled are found among many that are over. The status would not do
-- for an index: it changes with every turn, and a row is updated in place until its run ends.
ALTER TABLE flow_run ADD COLUMN cancelled BOOLEAN NOT NULL DEFAULT FALSE;
