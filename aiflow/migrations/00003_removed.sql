-- +goose Up
-- what is deleted is hidden at once, and its rows go in small transactions
ALTER TABLE aiflow_project ADD COLUMN removed BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE aiflow_flow ADD COLUMN removed BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX aiflow_project_removed ON aiflow_project (number) WHERE removed;
CREATE INDEX aiflow_flow_removed ON aiflow_flow (number) WHERE removed;
