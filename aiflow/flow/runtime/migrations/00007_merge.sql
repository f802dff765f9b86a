-- +goose Up
-- chats whose ended runs are still to be moved to the chat that they were merged with
CREATE TABLE flow_merge (
	gone TEXT {bytewise} PRIMARY KEY,
	keep TEXT {bytewise} NOT NULL,
	chat_id TEXT NOT NULL -- of keep
);
CREATE INDEX flow_merge_keep ON flow_merge (keep);
