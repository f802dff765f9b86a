-- +goose Up
-- Chats that turned out to be one contact while one of them has too much to be moved at once.
CREATE TABLE messaging_merge (
	gone BIGINT PRIMARY KEY REFERENCES messaging_chat (id) ON DELETE CASCADE,
	keep BIGINT NOT NULL -- which of them stays
);
CREATE INDEX messaging_merge_keep ON messaging_merge (keep);
