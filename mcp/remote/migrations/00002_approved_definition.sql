-- +goose Up
ALTER TABLE mcp_remote_tool ADD COLUMN approved_definition TEXT NOT NULL DEFAULT ''; -- definition that was approved; '' none, or not known
UPDATE mcp_remote_tool SET approved_definition = definition WHERE approved = hash AND hash <> '';
