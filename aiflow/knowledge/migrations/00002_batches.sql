-- +goose Up
-- Files are stored and removed in many small transactions.
ALTER TABLE knowledge_file ADD COLUMN ready BOOLEAN NOT NULL DEFAULT TRUE; -- all of it is stored: it is listed and searched
ALTER TABLE knowledge_file ADD COLUMN due_us BIGINT NOT NULL DEFAULT 0; -- one that is not ready is removed then
CREATE INDEX knowledge_file_due ON knowledge_file (due_us) WHERE NOT ready;

-- A project that is deleted must not take its files along in one transaction.
DROP INDEX knowledge_file_project;
ALTER TABLE knowledge_file ADD COLUMN belongs TEXT {bytewise} NOT NULL DEFAULT '';
UPDATE knowledge_file SET belongs = project;
ALTER TABLE knowledge_file DROP COLUMN project;
ALTER TABLE knowledge_file RENAME COLUMN belongs TO project;
CREATE INDEX knowledge_file_project ON knowledge_file (project, number);
