-- +goose Up
CREATE TABLE keyring_check (
	id    BIGINT PRIMARY KEY CHECK (id = 1),
	value TEXT NOT NULL
);
