-- +goose Up
-- who made a version the one that runs: what its agents do, they do with his rights
ALTER TABLE aiflow_version ADD COLUMN publisher TEXT NOT NULL DEFAULT ''; -- id of a user; '': nobody is known
ALTER TABLE aiflow_version ADD COLUMN permissions TEXT; -- JSON list that his rights are cut down to; NULL: they are not
