-- +goose Up
-- files that belong to projects of aiflow
CREATE TABLE knowledge_file (
	number {identity}, -- the order of lists
	id TEXT {bytewise} NOT NULL UNIQUE,
	account TEXT NOT NULL,
	project TEXT {bytewise} NOT NULL REFERENCES aiflow_project (id) ON DELETE CASCADE,
	name TEXT NOT NULL,
	type TEXT NOT NULL, -- media type
	bytes BIGINT NOT NULL, -- of the file as it was given
	passages BIGINT NOT NULL,
	words BIGINT NOT NULL, -- of all passages
	lengths BYTEA NOT NULL, -- words of each passage, as varints
	created_us BIGINT NOT NULL
);
CREATE INDEX knowledge_file_project ON knowledge_file (project, number);

CREATE TABLE knowledge_passage (
	file BIGINT NOT NULL REFERENCES knowledge_file (number) ON DELETE CASCADE,
	part BIGINT NOT NULL, -- from 1
	text TEXT NOT NULL,
	vector BYTEA, -- where it lies: float32, little-endian; NULL: unknown
	PRIMARY KEY (file, part)
);

-- in which passages of a file a word stands, and how often
CREATE TABLE knowledge_posting (
	project TEXT {bytewise} NOT NULL,
	term TEXT {bytewise} NOT NULL,
	file BIGINT NOT NULL REFERENCES knowledge_file (number) ON DELETE CASCADE,
	parts BYTEA NOT NULL, -- varints: how many parts on, how often; and so forth
	PRIMARY KEY (project, term, file)
);
CREATE INDEX knowledge_posting_file ON knowledge_posting (file);
